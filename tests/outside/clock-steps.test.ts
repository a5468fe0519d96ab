/**
 * A server whose wall clock is set an hour back or forward while it runs: limits keep their length, calls their
 * timeouts, users get in, and what was written by the clock that was ahead is found. And pauses that are stored.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret, TOTP } from "otpauth";
import { issueCode } from "../../src/server/features/auth/codes";
import { taskQueries } from "../../src/server/features/task/task-queries";
import { ENGINES } from "../kit/databases";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import { type Harness, HOOK_MS, openHarness } from "../kit/harness";
import { ROOT, startWeir, type Weir } from "../kit/weir";

const HOUR = 3600;
const LIMIT_MS = 30_000;
const MAIN = join(import.meta.dir, "../../src/server/main.ts");
const CLOCK = join(import.meta.dir, "../kit/shifted-clock.ts");

describe.each(ENGINES)("a clock that is set, on %s", (engine) => {
  const folder = mkdtempSync(join(tmpdir(), "weir-clock-"));
  const file = join(folder, "seconds");
  let upstream: FakeUpstream;
  let weir: Weir;

  /** So many seconds before or after the machine's; the server reads the file fifty times a second. */
  async function setClock(seconds: number): Promise<void> {
    writeFileSync(file, String(seconds));
    await Bun.sleep(100);
  }

  beforeAll(async () => {
    await setClock(0);
    upstream = startFakeUpstream();
    weir = await startWeir({
      engine,
      child: [process.execPath, "--preload", CLOCK, MAIN],
      env: { CLOCK_FILE: file },
    });
    const models = ["echo", "hang-in-frame:3"];
    const setting = JSON.stringify({ idle_timeout: 1 });
    await weir.newChannel({ base_url: upstream.url, models, setting });
    await weir.priceModels(Object.fromEntries(models.map((model) => [model, 1])));
  }, HOOK_MS);
  afterAll(async () => {
    await weir?.stop();
    upstream?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const chat = (key: string, model: string, stream = false) =>
    weir.call(key, { model, stream, messages: [{ role: "user", content: "hi" }] });

  test(
    "back: a limit of requests a minute is over after a minute, not after an hour",
    async () => {
      await setClock(HOUR);
      const { key } = await weir.newToken({ rpm: 2 });
      for (const _ of [1, 2]) expect((await chat(key, "echo")).status).toBe(200);
      await setClock(0);
      const refused = await chat(key, "echo");
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
      await setClock(2 * HOUR);
      expect((await chat(key, "echo")).status).toBe(429);
      await setClock(0);
    },
    LIMIT_MS,
  );

  test(
    "back: a stream that falls silent ends at its timeout, and its row has no negative time",
    async () => {
      await setClock(HOUR);
      const { key, id } = await weir.newToken();
      const answer = await chat(key, "hang-in-frame:3", true);
      await setClock(0);
      const began = performance.now();
      await answer.text().catch(() => "");
      expect(performance.now() - began).toBeLessThan(10_000);
      const row = await weir.waitForLog((one) => one.token_id === id);
      expect(row.end_reason).toBe("idle_timeout");
      expect(row.use_time).toBeGreaterThanOrEqual(0);
      const { frt, admin_info } = JSON.parse(row.other) as {
        frt: number;
        admin_info: { attempts: Record<"start_ms" | "duration_ms" | "first_content_ms", number>[] };
      };
      expect(frt).toBeGreaterThanOrEqual(0);
      for (const attempt of admin_info.attempts)
        for (const ms of [attempt.start_ms, attempt.duration_ms, attempt.first_content_ms])
          expect(ms).toBeWithin(0, HOUR * 1000);
    },
    LIMIT_MS,
  );

  test(
    "back: rows of the hour that has not come are in the lists, and count",
    async () => {
      await setClock(HOUR);
      const { key, id } = await weir.newToken({ name: "future" });
      expect((await chat(key, "echo")).status).toBe(200);
      await setClock(0);
      const row = await weir.waitForLog((one) => one.token_id === id);
      expect(row.created_at).toBeGreaterThan(Date.now() / 1000 + HOUR - 600);
      const listed = await weir.root.ok<{ request_id: string }[]>("GET", "/api/log/?p=0&token_name=future");
      expect(JSON.stringify(listed)).toContain(row.request_id);
      const stat = await weir.root.ok<{ quota: number }>("GET", "/api/log/stat?type=2&token_name=future");
      expect(stat.quota).toBe(row.quota);
      expect(await weir.audit()).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    "back: one-time codes are accepted at once, each once, and sessions go on",
    async () => {
      await setClock(HOUR);
      const user = await weir.newUser();
      const codeOf = (secret: string, ahead: number): string =>
        new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + ahead * 1000 });
      const { secret } = await user.ok<{ secret: string }>("POST", "/api/user/2fa/setup");
      await user.ok("POST", "/api/user/2fa/enable", { code: codeOf(secret, HOUR) });
      await setClock(0);
      const login = async (code: string) => {
        const first = await weir.anonymous("POST", "/api/user/login", { ...ROOT, username: user.username });
        const cookie = first.headers
          .getSetCookie()
          .map((line) => line.split(";")[0])
          .join("; ");
        return (await weir.anonymous("POST", "/api/user/login/2fa", { code }, { cookie })).body.success;
      };
      const code = codeOf(secret, 0);
      expect(await login(code)).toBe(true);
      expect(await login(code)).toBe(false);
      expect((await user.api("GET", "/api/user/self")).body.success).toBe(true);
      // The proof of an hour that has not come opens nothing.
      const { id } = await weir.newToken({}, user);
      await expect(user.trpc.token.reveal.mutate({ id })).rejects.toMatchObject({ data: { app: "step_up_required" } });
    },
    LIMIT_MS,
  );
});

describe.each(ENGINES)("a stored pause and a clock that is set back, on %s", (engine) => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness(engine);
  }, HOOK_MS);
  afterAll(() => harness?.close());

  test("ends at once where it would last for the size of the step, and not sooner where clocks differ a little", async () => {
    const { services } = harness;
    const issue = (code: string) =>
      issueCode(services, { purpose: "verify-email", target: "ann", code, lifetime: 600, pause: 60 });
    expect(await issue("1")).toBe(true);
    expect(await issue("2")).toBe(false);
    harness.advance(-30);
    expect(await issue("3")).toBe(false);
    harness.advance(-HOUR);
    expect(await issue("4")).toBe(true);
    expect(await issue("5")).toBe(false);
  });

  test("of a job lets it be asked about now", async () => {
    const { services } = harness;
    const { db } = services;
    const { due } = taskQueries(services);
    const job = (task_id: string, minutes: number) => ({
      task_id,
      platform: "suno" as const,
      action: "MUSIC",
      user_id: 1,
      channel_id: 1,
      status: "IN_PROGRESS" as const,
      submit_time_ms: services.now(),
      next_poll_at_ms: services.now() + minutes * 60_000,
    });
    await db.q.insert(db.t.tasks).values([job("past", -1), job("soon", 30), job("ahead", 120)]);
    const found = (await due(10)).map(({ task_id }) => task_id);
    expect(found).toEqual(["past", "ahead"]);
  });
});
