/**
 * From each release to this program: its executable (scripts/build-release.ts) fills a fresh installation and is killed
 * in the middle of a stream; this program then serves the same data, and the last release once more after it
 * (docs/deploy.md, "Upgrades").
 */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { buildRelease, commitOf } from "../../scripts/build-release";
import releases from "../../scripts/releases.json" with { type: "json" };
import { SCHEMA_RELEASE } from "../../src/server/db/migrate";
import { ROOT as PROJECT, runCommand } from "../../scripts/run-command";
import { emptyPostgres, ENGINES } from "../kit/databases";
import { HURRIED, startProcess, type WeirProcess } from "../kit/weir-process";

/** `schema`: the one that it knows; a release serves its own schema and the next. */
const RELEASES = [
  { version: "0.1.0", schema: 2 },
  { version: "0.1.1", schema: 3 },
];
const commits = await Promise.all(RELEASES.map(({ version }) => commitOf(version)));
const available = commits.every((commit) => commit !== undefined);
/** A shallow clone does not contain old commits: nothing can be tested there. */
const shallow =
  (await runCommand(["git", "rev-parse", "--is-shallow-repository"], { timeoutMs: 10_000 })).output.trim() === "true";
if (!available)
  console.warn(
    `SKIPPED: upgrades from ${RELEASES.map(({ version }) => version).join(", ")}. This clone's history has no such commit; fetch it whole: git fetch --unshallow --tags`,
  );

const ROOT_ACCOUNT = { username: "keeper", password: "correct-horse-9" };
const USER_ACCOUNT = { username: "linda", password: "battery-staple-7" };
const CREDIT = 5_000_000;
const MODEL = "old-model";
/** A unit per token. */
const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const CHANNEL_KEY = "sk-channel-key-of-the-old-days";
const MAIN = join(PROJECT, "src/server/main.ts");

interface Account {
  id: number;
  /** Cookie and user id, as a browser sends them. */
  headers: Record<string, string>;
}

interface Answer<T> {
  success: boolean;
  message: string;
  data: T;
}

/** Executables by version. */
const built = new Map<string, string>();
/** The requests to the upstream; streams begin and never end. */
const keys: string[] = [];
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch: async (request) => {
    // The list of models, which the watch over upstream accounts reads.
    if (request.method === "GET") return Response.json({ object: "list", data: [] });
    keys.push(request.headers.get("authorization") ?? "");
    const { stream, model } = (await request.json()) as { stream?: boolean; model: string };
    const base = { id: "c1", created: 1_790_000_000, model };
    if (!stream) {
      const choices = [
        { index: 0, finish_reason: "stop", message: { role: "assistant", content: "word ".repeat(20) } },
      ];
      return Response.json({ ...base, object: "chat.completion", choices, usage: USAGE });
    }
    const chunk = {
      ...base,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { role: "assistant", content: "half an answer" }, finish_reason: null }],
    };
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`)),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  },
});

beforeAll(async () => {
  if (available) for (const { version } of RELEASES) built.set(version, await buildRelease(version));
}, 360_000);
afterAll(() => upstream.stop(true));

async function ask<T>(
  server: WeirProcess,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<T> {
  const response = await fetch(server.url + path, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = (await response.json()) as Answer<T>;
  if (!answer.success) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer.data;
}

async function signIn(server: WeirProcess, account: typeof ROOT_ACCOUNT): Promise<Account> {
  const response = await fetch(`${server.url}/api/user/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(account),
  });
  const { success, data, message } = (await response.json()) as Answer<{ id: number }>;
  if (!success) throw new Error(`${account.username} cannot sign in: ${response.status} ${message}`);
  const cookie = response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  return { id: data.id, headers: { cookie, "new-api-user": String(data.id) } };
}

/** A sweep may wait for half a minute of its own heartbeat first. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 50_000; !(await holds()); await Bun.sleep(50)) {
    if (performance.now() > end) throw new Error(`not within 50 s: ${what}`);
  }
}

const call = (server: WeirProcess, key: string, more: object = {}): Promise<Response> =>
  fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer sk-${key}` },
    body: JSON.stringify({ model: MODEL, max_tokens: 500, messages: [{ role: "user", content: "hello" }], ...more }),
  });

/** One call of 120 units, charged when this resolves. */
async function paidCall(server: WeirProcess, key: string, user: Account): Promise<void> {
  const { quota } = await ask<{ quota: number }>(server, "GET", "/api/user/self", undefined, user.headers);
  const answer = await call(server, key);
  expect([answer.status, await answer.json()]).toEqual([
    200,
    expect.objectContaining({ usage: expect.objectContaining(USAGE) }),
  ]);
  await until(
    "the call is charged",
    async () =>
      (await ask<{ quota: number }>(server, "GET", "/api/user/self", undefined, user.headers)).quota ===
      quota - USAGE.total_tokens,
  );
}

interface Installation {
  root: Account;
  user: Account;
  token: { id: number; key: string };
  channel: number;
}

/** The data that the operator and a user of an earlier release leave. */
async function fill(server: WeirProcess): Promise<Installation> {
  const root = await signIn(server, ROOT_ACCOUNT);
  const asRoot = <T>(method: string, path: string, body?: unknown): Promise<T> =>
    ask(server, method, path, body, root.headers);
  for (const [key, value] of [
    ["SystemName", "The old house"],
    ["ModelRatio", JSON.stringify({ [MODEL]: 1 })],
    ["CompletionRatio", JSON.stringify({ [MODEL]: 1 })],
  ]) {
    await asRoot("PUT", "/api/option/", { key, value });
  }
  await asRoot("POST", "/api/channel/", {
    type: 1,
    name: "old channel",
    key: CHANNEL_KEY,
    group: "default",
    models: MODEL,
    base_url: `http://127.0.0.1:${upstream.port}`,
    priority: 7,
  });
  const [channel] = await asRoot<{ id: number }[]>("GET", "/api/channel/");
  await asRoot("POST", "/api/user/", { ...USER_ACCOUNT, display_name: "Linda" });
  const user = await signIn(server, USER_ACCOUNT);
  const stored = await asRoot<{ quota: number }>("GET", `/api/user/${user.id}`);
  await asRoot("PUT", "/api/user/", { ...stored, quota: CREDIT });
  const token = await ask<{ id: number; key: string }>(
    server,
    "POST",
    "/api/token/",
    { name: "old token", remain_quota: 1_000_000, expired_time: -1 },
    user.headers,
  );
  return { root, user, token, channel: channel?.id ?? 0 };
}

/** Everything that an upgrade must not change, as the routes return it. */
async function look(server: WeirProcess, { root, user, token, channel }: Installation) {
  const of = <T>(path: string, who: Account): Promise<T> => ask(server, "GET", path, undefined, who.headers);
  const { quota, used_quota, request_count, display_name, group } = await of<Record<string, unknown>>(
    "/api/user/self",
    user,
  );
  const { name, models, priority, base_url } = await of<Record<string, unknown>>(`/api/channel/${channel}`, root);
  const { remain_quota, key, status } = await of<Record<string, unknown>>(`/api/token/${token.id}`, user);
  const options = await of<{ key: string; value: string }[]>("/api/option/", root);
  const { items: rows } = await of<{ items: { id: number; type: number; model_name: string; quota: number }[] }>(
    "/api/log/self?p=1&page_size=100",
    user,
  );
  return {
    user: { quota, used_quota, request_count, display_name, group },
    channel: { name, models, priority, base_url },
    token: { remain_quota, key, status },
    options: Object.fromEntries(
      options
        .filter(({ key: option }) => ["SystemName", "ModelRatio", "CompletionRatio"].includes(option))
        .map((option) => [option.key, option.value]),
    ),
    logs: rows.map(({ id, type, model_name, quota: charged }) => ({ id, type, model_name, charged })),
  };
}

const cases = ENGINES.flatMap((engine) => RELEASES.map((of) => ({ engine, ...of })));
for (const { engine, version, schema } of cases) {
  if (!available && shallow) break;
  describe.skipIf(!available)(`an installation of ${version} on ${engine}`, () => {
    let release = "";
    let home = "";
    let postgres: Awaited<ReturnType<typeof emptyPostgres>> | undefined;
    let environment: Record<string, string> = {};
    let old: WeirProcess | undefined;
    let now: WeirProcess | undefined;
    let left: Installation;
    let before: Awaited<ReturnType<typeof look>>;

    const serve = (command: readonly string[]): Promise<WeirProcess> => startProcess(command, environment);
    const running = (): WeirProcess => {
      if (!now) throw new Error("today's server does not run");
      return now;
    };
    /** `weir audit` of this program. */
    const audit = async (): Promise<string> =>
      (
        await runCommand([process.execPath, MAIN, "audit"], { timeoutMs: 30_000, env: environment, cwd: home })
      ).output.trim();
    async function run(statement: string): Promise<void> {
      if (postgres) {
        const sql = new SQL(postgres.url, { max: 1 });
        await sql.unsafe(statement);
        await sql.close();
      } else {
        const db = new Database(join(home, "weir.db"));
        db.run("PRAGMA busy_timeout = 5000");
        db.run(statement);
        db.close();
      }
    }

    beforeAll(async () => {
      home = mkdtempSync(join(tmpdir(), "weir-upgrade-"));
      if (engine === "postgres") postgres = await emptyPostgres();
      environment = {
        PORT: "0",
        WEIR_HOST: "127.0.0.1",
        WEIR_DATA_DIR: home,
        WEIR_API_RATE_LIMIT: "0",
        WEIR_CRITICAL_RATE_LIMIT: "0",
        WEIR_ROOT_USERNAME: ROOT_ACCOUNT.username,
        WEIR_ROOT_PASSWORD: ROOT_ACCOUNT.password,
        ...(postgres ? { DATABASE_URL: postgres.url, WEIR_PG_POOL: "5" } : {}),
      };
      release = built.get(version) ?? "";
      old = await serve([release]);
      left = await fill(old);
      await paidCall(old, left.token.key, left.user);
      // A stream has begun, its hold exists, and the process is killed.
      const stream = await call(old, left.token.key, { stream: true });
      const reader = stream.body?.getReader();
      expect(new TextDecoder().decode((await reader?.read())?.value)).toContain("half an answer");
      before = await look(old, left);
      old.kill("SIGKILL");
      await old.exited;
      await reader?.cancel().catch(() => undefined);
      // Makes its last heartbeat old, so that the test need not wait half a minute for its hold.
      await run("UPDATE instances SET heartbeat_at = 0");
      await run("UPDATE holds SET created_at = 0");
      await run("UPDATE leases SET expires_at = 0");
      // What releases before schema 4 kept in `other` alone. Rows of no one, which nothing counts.
      const row = (id: string, type: number, other: object): string =>
        `INSERT INTO logs (request_id, created_at, type, user_id, folded, content, other) VALUES ('${id}', 1790000000, ${type}, 0, 2, 'as written', '${JSON.stringify(other)}')`;
      await run(row("counted", 5, { end_reason: "refused", repeated: 7, repeated_until: 1790000009 }));
      await run(row("charge/refund", 6, { task_id: "t", refund_of: "charge" }));
      now = await serve(HURRIED);
    }, 120_000);
    afterAll(async () => {
      await old?.stop();
      await now?.stop();
      await postgres?.close();
      rmSync(home, { recursive: true, force: true });
    });

    test("the hold of the killed call existed when it was killed, and ends once: the unused part is returned to the user", async () => {
      // A held amount is neither in the balance nor spent.
      expect(Number(before.user.quota) + Number(before.user.used_quota)).toBeLessThan(CREDIT);
      await until("the hold has ended", async () => {
        const { user } = await look(running(), left);
        return Number(user.quota) + Number(user.used_quota) === CREDIT;
      });
      expect(await audit()).toBe("The books balance.");
    }, 60_000);

    test("everything is still there: the account and its old session, the channel with its key, the token, the options, the log", async () => {
      const after = await look(running(), left);
      expect(after.user).toMatchObject({ display_name: before.user.display_name, group: before.user.group });
      expect(after.channel).toEqual(before.channel);
      expect(after.token).toMatchObject({ key: before.token.key, status: 1 });
      expect(after.options).toEqual(before.options);
      expect(after.logs).toEqual(expect.arrayContaining(before.logs));
      expect(await signIn(running(), USER_ACCOUNT)).toMatchObject({ id: left.user.id });
      expect(await signIn(running(), ROOT_ACCOUNT)).toMatchObject({ id: left.root.id });
    });

    test("counts of refusals and a refund's charge are in their columns, and the texts of old rows read as they were written", async () => {
      const byId = (id: string) =>
        ask<{ items: object[] }>(running(), "GET", `/api/log/?request_id=${id}`, undefined, left.root.headers);
      const counted = { repeated: 7, repeated_until: 1_790_000_009, code: "", content: "as written" };
      expect((await byId("counted")).items).toMatchObject([counted]);
      expect((await byId("charge/refund")).items).toMatchObject([{ refund_of: "charge", content: "as written" }]);
    });

    test("the old token pays for a call at the old price, through the old channel's key", async () => {
      keys.length = 0;
      await paidCall(running(), left.token.key, left.user);
      expect(keys).toEqual([`Bearer ${CHANNEL_KEY}`]);
      expect(await audit()).toBe("The books balance.");
    });

    if (version === "0.1.0") {
      test("RetryTimes stays 0: an upgrade does not change how often calls are tried", async () => {
        const options = await ask<{ key: string; value: string }[]>(
          running(),
          "GET",
          "/api/option/",
          undefined,
          left.root.headers,
        );
        expect(options.find(({ key }) => key === "RetryTimes")?.value).toBe("0");
      });
    }

    if (schema + 1 >= SCHEMA_RELEASE) {
      test(`${version} serves the upgraded data${engine === "postgres" ? " beside this program" : ""}: one step back needs no restore`, async () => {
        if (engine === "sqlite") await now?.stop();
        old = await serve([release]);
        expect((await fetch(`${old.url}/readyz`)).status).toBe(200);
        await paidCall(old, left.token.key, left.user);
        if (engine === "postgres") await paidCall(running(), left.token.key, left.user);
        await old.stop();
        await now?.stop();
        expect(await audit()).toBe("The books balance.");
      }, 60_000);
    }

    test(`a schema two releases ahead is refused by ${version}, with the reason`, async () => {
      await now?.stop();
      await run(`UPDATE meta SET value = '${Math.max(schema + 2, SCHEMA_RELEASE)}' WHERE name = 'schema_release'`);
      const { code, output } = await runCommand([release], { timeoutMs: 20_000, env: environment, cwd: home });
      expect([code, output]).toEqual([1, expect.stringContaining("migrated by a later release")]);
    }, 60_000);
  });
}

test("every release is listed with its whole commit", () => {
  expect(releases.length).toBeGreaterThan(0);
  for (const { version, commit } of releases) expect(`${version} ${commit}`).toMatch(/^\d+\.\d+\.\d+ [0-9a-f]{40}$/);
});
