/**
 * Suno, and through it the engine: submit, poll, settle, refund, on both engines. Responses follow
 * openxs.apifox.cn/api-222048807 and the Suno-API project's swagger.yaml (November 2026), shortened.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { cleanLogs } from "../../src/server/features/log/clean";
import { sweepSilent } from "../../src/server/features/wallet/sweep";
import { ENGINES } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { type Caller, openTaskBench, type TaskBench } from "./kit";
import { clip, FakeSuno, lyrics, type SunoTask } from "./suno-fake";

const SUNO = 36;
/** 0.1 USD. */
const MUSIC = 50_000;
const LYRICS = 5_000;

const failed = {
  status: "FAILURE",
  fail_reason: "Song was rejected at https://studio-api.suno.ai/x",
  progress: "100%",
  finish_time: 1_730_776_576,
};
const done = {
  status: "SUCCESS",
  progress: "100%",
  start_time: 1_730_776_481,
  finish_time: 1_730_776_576,
  data: [clip],
};

describe.each(ENGINES)("Suno on %s", (engine) => {
  let bench: TaskBench;
  let suno: FakeSuno;
  let channel: number;
  let ann: Caller;
  let bob: Caller;
  beforeAll(async () => {
    bench = await openTaskBench(engine);
    channel = await bench.channel(SUNO, ["suno_music", "suno_lyrics"]);
  }, HOOK_MS);
  beforeEach(async () => {
    suno = new FakeSuno(bench.vendor);
    bench.vendor.asked.length = 0;
    ann = await bench.caller();
    bob = await bench.caller();
  });
  afterAll(async () => {
    await bench?.balanced();
    await bench?.close();
  });

  const submit = async (
    who = ann,
    body: object = { prompt: "city lights", tags: "electronic", title: "City Lights" },
    headers = {},
  ): Promise<string> => {
    const answer = await who.ask("POST", "/suno/submit/music", body, headers);
    expect(answer).toMatchObject({ status: 200, body: { code: "success", message: "" } });
    return answer.body.data;
  };
  const upstreamOf = async (id: string): Promise<string> => (await bench.task(id)).upstream_id;

  test("a song is charged when it is accepted, polled, and shown with the vendor's clips under Weir's own id", async () => {
    const id = await submit();
    // spec: C-004
    expect(id).toMatch(/^task_[0-9a-f]{32}$/);
    expect(bench.vendor.asked[0]).toMatchObject({
      method: "POST",
      path: "/suno/submit/MUSIC",
      headers: { authorization: "Bearer vendor-key" },
      body: { prompt: "city lights", tags: "electronic", title: "City Lights", mv: "chirp-v3-0" },
    });
    // spec: C-393
    expect(await bench.money(ann)).toEqual({
      quota: 1_000_000 - MUSIC,
      used_quota: MUSIC,
      request_count: 1,
      token_used: MUSIC,
      held: 0,
    });
    const first = await ann.ask("GET", `/suno/fetch/${id}`);
    expect(first.body).toEqual({
      code: "success",
      message: "",
      data: {
        task_id: id,
        action: "MUSIC",
        status: "SUBMITTED",
        fail_reason: "",
        submit_time: expect.any(Number),
        start_time: 0,
        finish_time: 0,
        progress: "0%",
        data: null,
      },
    });

    suno.set(await upstreamOf(id), { status: "IN_PROGRESS", progress: "45%" });
    await bench.round();
    expect((await ann.ask("GET", `/suno/fetch/${id}`)).body.data).toMatchObject({
      status: "IN_PROGRESS",
      progress: "45%",
      finish_time: 0,
    });

    // The vendor's own times, in whole seconds, as far as they are plausible.
    const at = Math.ceil((await bench.task(id)).submit_time_ms / 1000);
    suno.set(await upstreamOf(id), { ...done, start_time: at + 16, finish_time: at + 20 });
    await bench.round();
    // spec: C-004
    expect((await ann.ask("GET", `/suno/fetch/${id}`)).body.data).toEqual({
      task_id: id,
      action: "MUSIC",
      status: "SUCCESS",
      fail_reason: "",
      submit_time: expect.any(Number),
      start_time: expect.any(Number),
      finish_time: at + 20,
      progress: "100%",
      data: [clip],
    });
    // spec: C-004
    expect(await bench.bills(id)).toMatchObject([{ type: 2, quota: MUSIC }]);
    const polls = bench.vendor.count("POST", "/suno/fetch");
    await bench.round(3600);
    expect(bench.vendor.count("POST", "/suno/fetch")).toBe(polls);
  });

  test("lyrics cost their own price, need a prompt, and are shown as the vendor's object", async () => {
    expect(await ann.ask("POST", "/suno/submit/lyrics", { prompt: "" })).toMatchObject({
      status: 400,
      body: { code: "invalid_request", data: null },
    });
    const answer = await ann.ask("POST", "/suno/submit/lyrics", { prompt: "dance" });
    const id = answer.body.data;
    expect(bench.vendor.asked[0]).toMatchObject({ path: "/suno/submit/LYRICS", body: { prompt: "dance" } });
    suno.set(await upstreamOf(id), { ...done, data: lyrics });
    await bench.round();
    // spec: C-005
    expect((await ann.ask("GET", `/suno/fetch/${id}`)).body.data).toMatchObject({
      action: "LYRICS",
      status: "SUCCESS",
      data: lyrics,
    });
    // spec: C-394
    // spec: C-005
    expect(await bench.money(ann)).toMatchObject({ used_quota: LYRICS });
  });

  test("a failed job is refunded once to user, token and totals, and its row says why without the vendor's address", async () => {
    const id = await submit();
    suno.set(await upstreamOf(id), failed);
    await Promise.all([bench.round(), bench.relay.tasks.poll(), bench.relay.tasks.poll()]);
    await bench.round();
    expect(await bench.money(ann)).toEqual({
      quota: 1_000_000,
      used_quota: 0,
      request_count: 1,
      token_used: 0,
      held: 0,
    });
    expect(await bench.bills(id)).toMatchObject([
      { type: 2, quota: MUSIC },
      { type: 6, quota: MUSIC, code: "job_failed", params: JSON.stringify({ task_id: id }) },
    ]);
    expect((await ann.ask("GET", `/suno/fetch/${id}`)).body.data).toMatchObject({
      status: "FAILURE",
      fail_reason: "Song was rejected at [address]",
      progress: "100%",
    });
    expect(await bench.task(id)).toMatchObject({ quota: 0, refunded: MUSIC, next_poll_at_ms: 0 });
  });

  test("success without a song is a failure, and progress never goes back", async () => {
    const id = await submit();
    const upstream = await upstreamOf(id);
    suno.set(upstream, { status: "IN_PROGRESS", progress: "60%" });
    await bench.round();
    suno.set(upstream, { status: "QUEUED", progress: "10%" });
    await bench.round();
    expect(await bench.task(id)).toMatchObject({ status: "IN_PROGRESS", progress: "60%" });
    suno.set(upstream, { ...done, data: [{ ...clip, audio_url: "" }] });
    await bench.round();
    expect(await bench.task(id)).toMatchObject({
      status: "FAILURE",
      fail_reason: "the upstream reported success without a result",
    });
    expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, used_quota: 0 });
    // A later report of the vendor changes nothing.
    suno.set(upstream, done);
    await bench.round(3600);
    expect(await bench.task(id)).toMatchObject({ status: "FAILURE" });
  });

  test("a refused submit returns the vendor's message, is not charged, and leaves a row that says so", async () => {
    bench.vendor.on(
      "POST /suno/submit/{action}",
      Response.json({ code: "invalid_request", message: "prompt too long", data: null }, { status: 400 }),
    );
    const answer = await ann.ask("POST", "/suno/submit/music", { prompt: "x" });
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request", data: null } });
    expect(answer.body.message).toContain("prompt too long");
    expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, used_quota: 0, held: 0 });
    const [row] = (await bench.tasks()).filter(({ user_id }) => user_id === ann.user_id);
    expect(row).toMatchObject({ status: "FAILURE", upstream_id: "", fail_reason: "prompt too long", quota: 0 });
    // The same with status 200.
    bench.vendor.on("POST /suno/submit/{action}", { code: "error", message: "no credits", data: null });
    expect((await ann.ask("POST", "/suno/submit/music", { prompt: "x" })).status).toBeGreaterThanOrEqual(400);
    // A response without an id is invalid.
    bench.vendor.on("POST /suno/submit/{action}", { code: "success", message: "", data: "" });
    expect((await ann.ask("POST", "/suno/submit/music", { prompt: "x" })).status).toBe(502);
    expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, used_quota: 0, held: 0 });
  });

  test("a caller without balance is refused before the vendor is called", async () => {
    const poor = await bench.caller(MUSIC - 1);
    expect(await poor.ask("POST", "/suno/submit/music", { prompt: "x" })).toMatchObject({
      status: 429,
      body: { code: "insufficient_quota" },
    });
    const limited = await bench.caller(1_000_000, { unlimited_quota: false, remain_quota: MUSIC - 1 });
    expect((await limited.ask("POST", "/suno/submit/music", { prompt: "x" })).body.code).toBe("insufficient_quota");
    expect(bench.vendor.asked).toEqual([]);
    // Ten at once and balance for three: three are accepted.
    const some = await bench.caller(3 * MUSIC);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => some.ask("POST", "/suno/submit/music", { prompt: "x" })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(await bench.money(some)).toMatchObject({ quota: 0, used_quota: 3 * MUSIC });
  });

  test("another user finds nothing on any route", async () => {
    const id = await submit();
    expect(await bob.ask("GET", `/suno/fetch/${id}`)).toMatchObject({
      status: 404,
      body: { code: "task_not_found", data: null },
    });
    expect((await bob.ask("POST", "/suno/fetch", { ids: [id] })).body).toEqual({
      code: "success",
      message: "",
      data: [],
    });
    expect(
      await bob.ask("POST", "/suno/submit/music", { prompt: "x", continue_clip_id: clip.id, task_id: id }),
    ).toMatchObject({ status: 404 });
    const file = await bench.relay.tasks.file(
      { platform: "suno", task_id: id, user_id: bob.user_id, index: 0 },
      new Request("http://weir.test/"),
      "r",
      "en",
    );
    expect(file.status).toBe(404);
    await expect(
      bench.relay.tasks.cancel({ platform: "suno", task_id: id, user_id: bob.user_id }),
    ).rejects.toMatchObject({ code: "task_not_found" });
  });

  test("several are queried together: the caller's own, of one action if it is named", async () => {
    const [one, two] = [await submit(), await submit()];
    const theirs = await submit(bob);
    const answer = await ann.ask("POST", "/suno/fetch", { ids: [two, theirs, one, "nothing"], action: "MUSIC" });
    expect(answer.body.data.map((task: SunoTask) => task.task_id)).toEqual([one, two]);
    expect((await ann.ask("POST", "/suno/fetch", { ids: [one], action: "LYRICS" })).body.data).toEqual([]);
    for (const ids of [undefined, null, "x", [1], Array.from({ length: 501 }, () => one)]) {
      expect((await ann.ask("POST", "/suno/fetch", { ids })).status).toBe(400);
    }
    await bench.round();
    // One query for the whole channel.
    expect(bench.vendor.count("POST", "/suno/fetch")).toBe(1);
  });

  test("a continued song goes to the channel of the first, with the vendor's own id of it", async () => {
    const id = await submit();
    const second = await bench.channel(SUNO, ["suno_music"], { priority: 10 });
    const next = await submit(ann, { prompt: "more", continue_clip_id: clip.id, continue_at: 90, task_id: id });
    expect(await bench.task(next)).toMatchObject({ channel_id: channel, parent_id: id });
    expect(bench.vendor.asked.at(-1)?.body).toMatchObject({
      continue_clip_id: clip.id,
      continue_at: 90,
      task_id: await upstreamOf(id),
    });
    expect((await ann.ask("POST", "/suno/submit/music", { prompt: "more", continue_clip_id: clip.id })).status).toBe(
      400,
    );
    await bench.root.call.channel.delete({ id: second });
  });

  test("an Idempotency-Key submits once: the same job is returned again, another body with it is refused", async () => {
    const headers = { "idempotency-key": "order-1" };
    const id = await submit(ann, { prompt: "once" }, headers);
    expect(await submit(ann, { prompt: "once" }, headers)).toBe(id);
    expect(await ann.ask("POST", "/suno/submit/music", { prompt: "twice" }, headers)).toMatchObject({
      status: 422,
      body: { code: "idempotency_key_reused" },
    });
    // Another user's keys are separate.
    expect(await submit(bob, { prompt: "once" }, headers)).not.toBe(id);
    const twins = await Promise.all(
      Array.from({ length: 6 }, () =>
        ann.ask("POST", "/suno/submit/music", { prompt: "twin" }, { "idempotency-key": "twins" }),
      ),
    );
    const made = new Set(twins.filter(({ status }) => status === 200).map(({ body }) => body.data));
    expect(made.size).toBe(1);
    expect(twins.filter(({ status }) => status !== 200).every(({ status }) => status === 409)).toBe(true);
    expect(bench.vendor.count("POST", "/suno/submit/MUSIC")).toBe(3);
    expect(await bench.money(ann)).toMatchObject({ used_quota: 2 * MUSIC, held: 0 });
    // A failed submit may be repeated.
    bench.vendor.on(
      "POST /suno/submit/{action}",
      Response.json({ code: "busy", message: "busy", data: null }, { status: 400 }),
    );
    expect(
      (await ann.ask("POST", "/suno/submit/music", { prompt: "again" }, { "idempotency-key": "again" })).status,
    ).toBe(400);
    suno = new FakeSuno(bench.vendor);
    await submit(ann, { prompt: "again" }, { "idempotency-key": "again" });
  });

  test("invalid input is refused in the route's own format and reaches no vendor", async () => {
    const bodies = [
      "",
      "null",
      "[]",
      "{",
      JSON.stringify({ prompt: 5 }),
      JSON.stringify({ prompt: "x", make_instrumental: "yes" }),
      JSON.stringify({ prompt: "x", continue_at: "9" }),
      JSON.stringify({ mv: {} }),
    ];
    for (const body of bodies) {
      const answer = await ann.ask("POST", "/suno/submit/music", body);
      expect([body, answer.status, Object.keys(answer.body)]).toEqual([body, 400, ["code", "message", "data"]]);
    }
    expect((await ann.ask("POST", "/suno/submit/film", { prompt: "x" })).status).toBe(404);
    expect(
      (await ann.ask("POST", "/suno/submit/music", { prompt: "x" }, { "idempotency-key": "k".repeat(256) })).status,
    ).toBe(400);
    expect((await ann.ask("GET", "/suno/fetch/%00%ff")).status).toBe(404);
    expect(
      (await ann.ask("POST", "/suno/submit/music", { prompt: "x" }, { authorization: "Bearer sk-nobody" })).body,
    ).toMatchObject({ code: "token_invalid", data: null });
    expect(bench.vendor.asked).toEqual([]);
    // Weir sets the webhook itself: the vendor does not get the caller's.
    await submit(ann, { prompt: "a\u0000b", notify_hook: "http://10.0.0.1/", extra: { kept: true } });
    expect(bench.vendor.asked[0]?.body).toEqual({ prompt: "a\u0000b", mv: "chirp-v3-0", extra: { kept: true } });
  });

  test("the operator can switch such jobs off", async () => {
    await bench.setOption("TaskEnabled", false);
    expect(await ann.ask("POST", "/suno/submit/music", { prompt: "x" })).toMatchObject({
      status: 403,
      body: { code: "tasks_disabled" },
    });
    await bench.setOption("TaskEnabled", true);
    expect(bench.vendor.asked).toEqual([]);
  });

  test("a vendor that does not answer is polled less and less often, until the job's deadline has passed and it is refunded", async () => {
    const id = await submit();
    bench.vendor.on("POST /suno/fetch", Response.json({ message: "down" }, { status: 503 }));
    for (let i = 0; i < 40; i++) await bench.round(15);
    const asked = bench.vendor.count("POST", "/suno/fetch");
    expect(asked).toBeGreaterThan(3);
    expect(asked).toBeLessThan(9);
    expect(await bench.task(id)).toMatchObject({ status: "SUBMITTED", quota: MUSIC });
    await bench.round(24 * 3600);
    expect(await bench.task(id)).toMatchObject({ status: "FAILURE", fail_reason: "the job was not finished in time" });
    expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, used_quota: 0, token_used: 0 });
  });

  test("a channel that is deleted meanwhile fails its jobs with a refund; a disabled one still delivers", async () => {
    const other = await bench.channel(SUNO, ["suno_music"], { priority: 5 });
    const [lost, late] = [await submit(), undefined];
    expect(late).toBeUndefined();
    expect(await bench.task(lost)).toMatchObject({ channel_id: other });
    await bench.root.call.channel.delete({ id: other });
    await bench.round();
    expect(await bench.task(lost)).toMatchObject({
      status: "FAILURE",
      fail_reason: "the channel of the job is gone",
      quota: 0,
    });
    expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000 });

    const paused = await bench.channel(SUNO, ["suno_music"], { priority: 5 });
    const id = await submit();
    suno.set(await upstreamOf(id), done);
    await bench.root.call.channel.update({ id: paused, status: 2 });
    await bench.round();
    expect(await bench.task(id)).toMatchObject({ status: "SUCCESS", channel_id: paused });
    await bench.root.call.channel.delete({ id: paused });
  });

  test("a submit whose process died before the vendor answered is charged by the sweep and refunded by the poller, once", async () => {
    const { db, ledger } = bench.h.services;
    const reached = Promise.withResolvers<void>();
    bench.vendor.on("POST /suno/submit/{action}", () => {
      reached.resolve();
      return "dead";
    });
    const killed = await bench.caller(1_000_000, { budget_day: 3 * MUSIC });
    const spent = async () =>
      (await db.q.select().from(db.t.budget_spend))
        .filter(({ name }) => name.startsWith(`token:${killed.token_id}:`))
        .map(({ amount }) => amount);
    // There will be no answer: like a process that is gone.
    void killed.send("POST", "/suno/submit/music", { prompt: "killed" });
    await reached.promise;
    expect(await bench.money(killed)).toMatchObject({ held: MUSIC });
    expect(await spent()).toEqual([MUSIC]);
    const [row] = (await bench.tasks()).filter(({ user_id }) => user_id === killed.user_id);
    expect(row).toMatchObject({ status: "NOT_START", upstream_id: "" });
    await bench.round(90);
    expect(await bench.task(row?.task_id ?? "")).toMatchObject({ status: "NOT_START" });
    await db.q.update(db.t.holds).set({ created_at: 1 }).where(eq(db.t.holds.user_id, killed.user_id));
    expect(await sweepSilent(db, ledger, "sweeper")).toMatchObject({ settled: 1 });
    expect(await bench.money(killed)).toMatchObject({ held: 0, used_quota: MUSIC });
    await bench.round(90);
    await bench.round(3600);
    expect(await bench.task(row?.task_id ?? "")).toMatchObject({
      status: "FAILURE",
      fail_reason: "the upstream never accepted the job",
      quota: 0,
    });
    expect(await bench.money(killed)).toMatchObject({ quota: 1_000_000, used_quota: 0, held: 0 });
    expect(await spent()).toEqual([0]);
  });

  test("the job of a user deleted meanwhile is still ended, and its content is erased", async () => {
    const gone = await bench.caller();
    const id = await submit(gone, { prompt: "about me" });
    await bench.root.call.user.erase({ id: gone.user_id });
    suno.set(await upstreamOf(id), done);
    await bench.round();
    expect(await bench.task(id)).toMatchObject({
      status: "SUCCESS",
      quota: MUSIC,
      username: `erased-user-${gone.user_id}`,
      prompt: "",
      input: "",
      data: "",
    });
  });

  test("a refund returns to the budgets that the charge was taken from", async () => {
    const { db } = bench.h.services;
    const budgeted = await bench.caller(1_000_000, { budget_day: 3 * MUSIC });
    const id = await submit(budgeted);
    const spent = async () => {
      const rows = await db.q.select().from(db.t.budget_spend);
      return rows.filter(({ name }) => name.startsWith(`token:${budgeted.token_id}:`)).map(({ amount }) => amount);
    };
    expect(await spent()).toEqual([MUSIC]);
    suno.set(await upstreamOf(id), failed);
    await bench.round();
    expect(await spent()).toEqual([0]);
  });

  test("a job whose charge was deleted from the log meanwhile is still refunded", async () => {
    const { services } = bench.h;
    const id = await submit();
    await bench.balanced();
    bench.h.advance(2);
    expect(await cleanLogs(services, Math.floor(services.now() / 1000), "")).toBeGreaterThan(0);
    expect(await bench.bills(id)).toEqual([]);
    suno.set(await upstreamOf(id), failed);
    await bench.round();
    expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, used_quota: 0, token_used: 0 });
    // The log row no longer exists for the comparison.
    await services.db.q.delete(services.db.t.tasks).returning();
  });
});
