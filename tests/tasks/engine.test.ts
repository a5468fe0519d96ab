/** The task engine's guarantees for every vendor: price corrections, files, concurrent decisions. On both engines. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { sweepSilent } from "../../src/server/features/wallet/sweep";
import { AppError } from "../../src/shared/errors";
import { applyReport } from "../../src/server/relay/tasks/apply";
import type { TaskReport, TaskWatcher } from "../../src/server/relay/tasks/provider";
import { ENGINES } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { type Caller, openTaskBench, type TaskBench } from "./kit";
import { clip, FakeSuno } from "./suno-fake";

const SUNO = 36;
const MUSIC = 50_000;

/** A vendor whose jobs are priced by their result. */
const watcher: TaskWatcher = { platform: "suno", poll: async () => new Map(), hasResult: () => true };

/** Bytes that encode their own position. */
const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 256);

describe.each(ENGINES)("jobs on %s", (engine) => {
  let bench: TaskBench;
  let ann: Caller;
  let suno: FakeSuno;
  /** The responses of public addresses. */
  let answerAddress: (address: string, headers: Record<string, string>) => Response | Promise<Response>;
  const opened: string[] = [];
  /** Called when a submit is cut off before it records the cost of its hold, as if its process had ended. */
  let ends: (() => void) | undefined;
  beforeAll(async () => {
    bench = await openTaskBench(engine, ({ ledger }) => ({
      ledger: {
        settle: (...all) => ledger.settle(...all),
        release: (...all) => ledger.release(...all),
        later: (...all) => ledger.later(...all),
        extend: (...all) =>
          ends === undefined ? ledger.extend(...all) : (ends(), new Promise<never>(() => undefined)),
      },
      openAddress: async (address, { headers = {} }) => {
        opened.push(address);
        return answerAddress(address, headers);
      },
    }));
    await bench.channel(SUNO, ["suno_music"]);
  }, HOOK_MS);
  beforeEach(async () => {
    suno = new FakeSuno(bench.vendor);
    ann = await bench.caller();
    opened.length = 0;
  });
  afterAll(async () => {
    await bench?.balanced();
    await bench?.close();
  });

  async function running(who = ann): Promise<string> {
    const { body } = await who.ask("POST", "/suno/submit/music", { prompt: "x" });
    return body.data;
  }
  const seen = async (id: string, who = ann) => {
    const task = await bench.controlPlane.tasks.find(["suno"], id, who.user_id);
    if (!task) throw new Error(`no task ${id}`);
    return task;
  };
  const says = async (id: string, report: TaskReport, who = ann) =>
    applyReport(bench.controlPlane, watcher, await seen(id, who), report);

  test("a job that used less is refunded the difference, one that used more is charged it, each linked to its charge", async () => {
    const cheap = await running();
    expect(
      await says(cheap, { status: "SUCCESS", data: {}, final: { usage: {}, times: { factors: { seconds: 0.5 } } } }),
    ).toBe(true);
    expect(await bench.money(ann)).toMatchObject({
      quota: 1_000_000 - MUSIC / 2,
      used_quota: MUSIC / 2,
      token_used: MUSIC / 2,
    });
    expect(await bench.bills(cheap)).toMatchObject([
      { type: 2, quota: MUSIC },
      { type: 6, quota: MUSIC / 2 },
    ]);
    expect(await bench.task(cheap)).toMatchObject({
      status: "SUCCESS",
      quota: MUSIC / 2,
      refunded: MUSIC / 2,
      next_poll_at_ms: 0,
    });

    const dear = await running();
    expect(
      await says(dear, { status: "SUCCESS", data: {}, final: { usage: {}, times: { factors: { seconds: 3 } } } }),
    ).toBe(true);
    expect(await bench.bills(dear)).toMatchObject([
      { type: 2, quota: MUSIC },
      { type: 2, quota: 2 * MUSIC },
    ]);
    expect(await bench.task(dear)).toMatchObject({
      status: "SUCCESS",
      quota: 3 * MUSIC,
      refunded: 0,
      next_poll_at_ms: 0,
    });
    expect(await bench.money(ann)).toMatchObject({ used_quota: MUSIC / 2 + 3 * MUSIC });
    // Collecting again changes nothing: it is paid.
    await bench.round(3600);
    await bench.controlPlane.tasks.collect((await seen(dear)).id);
    expect(await bench.money(ann)).toMatchObject({ used_quota: MUSIC / 2 + 3 * MUSIC });
  });

  test("a job is corrected at the price at which it was accepted", async () => {
    const id = await running();
    await bench.setOption("ModelPrice", JSON.stringify({ suno_music: 9 }));
    try {
      await says(id, { status: "SUCCESS", data: {}, final: { usage: {}, times: { factors: { seconds: 2 } } } });
      expect(await bench.task(id)).toMatchObject({ quota: 2 * MUSIC });
    } finally {
      await bench.setOption("ModelPrice", JSON.stringify({ suno_music: 0.1, suno_lyrics: 0.01 }));
    }
  });

  test("the poller charges the rest of a finished job when the process ended before that", async () => {
    const id = await running();
    const task = await seen(id);
    expect(await bench.controlPlane.tasks.succeed(task, "SUBMITTED", 4 * MUSIC, {})).toBe(true);
    expect(await bench.task(id)).toMatchObject({ status: "SUCCESS", quota: MUSIC });
    await Promise.all([bench.round(1), bench.relay.tasks.poll(), bench.controlPlane.tasks.collect(task.id)]);
    expect(await bench.task(id)).toMatchObject({ quota: 4 * MUSIC, next_poll_at_ms: 0 });
    expect(await bench.money(ann)).toMatchObject({ used_quota: 4 * MUSIC });
  });

  test("a submit whose process ended before it called the vendor ends with its hold, not half an hour later", async () => {
    const { db, ledger } = bench.h.services;
    const ended = Promise.withResolvers<void>();
    ends = ended.resolve;
    const killed = await bench.caller();
    void killed.send("POST", "/suno/submit/music", { prompt: "x" });
    await ended.promise;
    ends = undefined;
    const job = async () => (await bench.tasks()).find(({ user_id }) => user_id === killed.user_id);
    await bench.round(90);
    expect(await job()).toMatchObject({ status: "NOT_START" });
    await db.q.update(db.t.holds).set({ created_at: 1 }).where(eq(db.t.holds.user_id, killed.user_id));
    expect(await sweepSilent(db, ledger, "sweeper")).toMatchObject({ settled: 0, released: 1 });
    await bench.round(90);
    expect(await job()).toMatchObject({
      status: "FAILURE",
      fail_reason: "the upstream never accepted the job",
      quota: 0,
      next_poll_at_ms: 0,
    });
    expect(await bench.money(killed)).toMatchObject({ quota: 1_000_000, used_quota: 0, held: 0 });
  });

  test("a job of a drained channel goes on past the deadline, and is paid back there where the operator wants that", async () => {
    const id = await running();
    const { channel_id } = await bench.task(id);
    await bench.root.call.channel.drain({ id: channel_id, seconds: 60 });
    await bench.round(70);
    expect(await bench.task(id)).toMatchObject({ status: "SUBMITTED" });
    await bench.setOption("DrainEndsJobs", true);
    await bench.round(70);
    expect(await bench.task(id)).toMatchObject({
      status: "FAILURE",
      fail_reason: "the channel of the job was taken out of service",
      quota: 0,
    });
    expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, used_quota: 0, held: 0 });
    await bench.setOption("DrainEndsJobs", false);
    await bench.root.call.channel.resume({ id: channel_id });
  });

  test("of twenty concurrent decisions, some for success and some for failure, one wins: one charge or one refund", async () => {
    for (let round = 0; round < 3; round++) {
      const id = await running();
      const task = await seen(id);
      const reports: TaskReport[] = Array.from({ length: 20 }, (_, i) =>
        i % 3 === 0
          ? { status: "FAILURE", fail_reason: "no" }
          : {
              status: "SUCCESS",
              data: {},
              final: { usage: {}, times: { factors: { seconds: i % 2 === 0 ? 0.5 : 2 } } },
            },
      );
      const won = await Promise.all(reports.map((report) => applyReport(bench.controlPlane, watcher, task, report)));
      expect(won.filter(Boolean)).toHaveLength(1);
      const { quota, status } = await bench.task(id);
      expect(status === "FAILURE" ? [0] : [MUSIC / 2, 2 * MUSIC]).toContain(quota);
    }
    await bench.balanced();
  });

  test.each([
    ["seconds taken for milliseconds", 1_800_000_000, 1_800_000_060],
    ["a clock that is a year ahead", Date.now() + 365 * 86_400_000, Date.now() + 366 * 86_400_000],
    ["an end before the beginning", Date.now() + 86_400_000, 5],
    ["nothing at all", 0, 0],
    ["no numbers", Number.NaN, Number.NaN],
  ])("a vendor's times stand between the submit and now, in order: %s", async (_, start_time_ms, finish_time_ms) => {
    const id = await running();
    await says(id, { status: "SUCCESS", data: {}, start_time_ms, finish_time_ms });
    const task = await bench.task(id);
    expect(task.start_time_ms).toBeGreaterThanOrEqual(task.submit_time_ms);
    expect(task.finish_time_ms).toBeGreaterThanOrEqual(task.start_time_ms);
    expect(task.finish_time_ms).toBeLessThanOrEqual(bench.controlPlane.now());
  });

  test("a file in a data URL is served, whole or a range, without a fetch; HTML is still not served as an image", async () => {
    const id = await running();
    const said = (type: string) => `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
    suno.set((await bench.task(id)).upstream_id, {
      status: "SUCCESS",
      data: [{ ...clip, audio_url: said("audio/wav"), image_url: said("text/html") }],
    });
    await bench.round();
    const ask = (index: number, headers: Record<string, string> = {}) =>
      bench.relay.tasks.file(
        { platform: "suno", task_id: id, user_id: ann.user_id, index },
        new Request("http://weir.test/f", { headers }),
        "r1",
        "en",
      );
    const whole = await ask(0);
    expect([whole.status, whole.headers.get("content-type")]).toEqual([200, "audio/wav"]);
    expect(new Uint8Array(await whole.arrayBuffer())).toEqual(bytes);
    const part = await ask(0, { range: "bytes=10-19" });
    expect([part.status, part.headers.get("content-range"), [...new Uint8Array(await part.arrayBuffer())]]).toEqual([
      206,
      "bytes 10-19/1000",
      [...bytes.slice(10, 20)],
    ]);
    expect((await ask(1)).headers.get("content-type")).toBe("image/png");
    expect(opened).toEqual([]);
  });

  test("a finished job's file is streamed through, whole or a range, with the media type of its kind", async () => {
    const id = await running();
    const ask = (headers: Record<string, string> = {}, index = 0) =>
      bench.relay.tasks.file(
        { platform: "suno", task_id: id, user_id: ann.user_id, index },
        new Request("http://weir.test/f", { headers }),
        "r1",
        "en",
      );
    expect((await ask()).status).toBe(400);
    suno.set((await bench.task(id)).upstream_id, { status: "SUCCESS", data: [clip] });
    await bench.round();
    expect(await bench.relay.tasks.files({ platform: "suno", task_id: id, user_id: ann.user_id })).toEqual([
      "audio",
      "image",
      "video",
    ]);

    answerAddress = (_, { range }) => {
      const [, from = "0", to = "999"] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
      const part = bytes.slice(Number(from), Number(to) + 1);
      return new Response(part, {
        status: range ? 206 : 200,
        headers: {
          "content-type": "audio/mpeg",
          "content-length": String(part.length),
          "set-cookie": "a=b",
          ...(range && { "content-range": `bytes ${from}-${to}/1000` }),
        },
      });
    };
    const whole = await ask();
    expect([
      whole.status,
      whole.headers.get("content-type"),
      whole.headers.get("x-content-type-options"),
      whole.headers.get("set-cookie"),
    ]).toEqual([200, "audio/mpeg", "nosniff", null]);
    expect(new Uint8Array(await whole.arrayBuffer())).toEqual(bytes);
    const part = await ask({ range: "bytes=10-19" });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, "bytes 10-19/1000"]);
    expect([...new Uint8Array(await part.arrayBuffer())]).toEqual([...bytes.slice(10, 20)]);
    // Several ranges, or an invalid range, return the whole file.
    expect((await ask({ range: "bytes=0-1,5-6" })).status).toBe(200);
    // Only the job's own files were fetched.
    expect(new Set(opened)).toEqual(new Set([clip.audio_url]));

    // HTML is not an image, and is not served as HTML.
    answerAddress = () => new Response("<script>", { headers: { "content-type": "text/html" } });
    const page = await ask({}, 1);
    expect([page.headers.get("content-type"), page.headers.get("content-security-policy")]).toEqual([
      "image/png",
      "default-src 'none'; sandbox",
    ]);
    await page.text();
    for (const [status, seenAs] of [
      [404, 404],
      [403, 404],
      [500, 500],
      [302, 502],
    ] as const) {
      answerAddress = () => new Response("", { status });
      expect([status, (await ask()).status]).toEqual([status, seenAs]);
    }
    answerAddress = () => new Response("x", { headers: { "content-length": String(2 ** 31 + 1) } });
    expect((await ask()).status).toBe(404);
    answerAddress = () => {
      throw new AppError("address_forbidden");
    };
    expect((await ask()).status).toBeGreaterThanOrEqual(400);
    expect((await ask({}, 3)).status).toBe(404);
    expect((await ask({}, -1)).status).toBe(404);
  });

  test("a vendor's webhook makes the job due at once, and its content is not trusted", async () => {
    const id = await running();
    const { upstream_id, channel_id } = await bench.task(id);
    suno.set(upstream_id, { status: "SUCCESS", data: [clip] });
    await bench.round(1);
    await bench.controlPlane.tasks.nudge([channel_id + 1], upstream_id);
    await bench.controlPlane.tasks.nudge([], upstream_id);
    await bench.round(0);
    expect(await bench.task(id)).toMatchObject({ status: "SUBMITTED" });
    await bench.controlPlane.tasks.nudge([channel_id], upstream_id);
    await bench.round(0);
    expect(await bench.task(id)).toMatchObject({ status: "SUCCESS" });
    await bench.controlPlane.tasks.nudge([channel_id], upstream_id);
    expect(await bench.task(id)).toMatchObject({ next_poll_at_ms: 0 });
  });

  test("a user's own jobs are listed by page in both orders, and only a finished one can be deleted", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.push(await running());
      bench.h.advance(1);
    }
    const { tasks: taskStore } = bench.controlPlane;
    const page = async (after: string | undefined, order: "asc" | "desc") =>
      (await taskStore.list(["suno"], ann.user_id, { order, limit: 2, ...(after !== undefined && { after }) })).map(
        ({ task_id }) => task_id,
      );
    expect(await page(undefined, "asc")).toEqual(ids.slice(0, 2));
    expect(await page(ids[1], "asc")).toEqual(ids.slice(2, 4));
    expect(await page(ids[3], "desc")).toEqual([ids[2] ?? "", ids[1] ?? ""]);
    expect(await page("nothing", "asc")).toEqual([]);
    const bob = await bench.caller();
    expect(await taskStore.list(["suno"], bob.user_id, { order: "asc", limit: 2, after: ids[0] ?? "" })).toEqual([]);
    expect(await taskStore.remove(["suno"], ids[0] ?? "", ann.user_id)).toBe(false);
    suno.set((await bench.task(ids[0] ?? "")).upstream_id, { status: "FAILURE", fail_reason: "x" });
    await bench.round();
    expect(await taskStore.remove(["suno"], ids[0] ?? "", bob.user_id)).toBe(false);
    expect(await taskStore.remove(["suno"], ids[0] ?? "", ann.user_id)).toBe(true);
    expect(await bench.controlPlane.tasks.find(["suno"], ids[0] ?? "", ann.user_id)).toBeUndefined();
  });
});
