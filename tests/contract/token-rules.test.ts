/** What a token permits, and the log rows of its calls, over the real server with the fake upstream. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import { type Session, startWeir, type Weir } from "../kit/weir";

type Row = Record<string, unknown> & { id: number };

/** Reports 12 tokens in and 34 out; begins after 300 ms; takes 1.1 s. */
const MODELS = { echo: "echo", counted: "words:3+usage:12:34", late: "slow-head:300", long: "slow-head:1100" };
let weir: Weir;
let fake: FakeUpstream;
let user: Session;

beforeAll(async () => {
  fake = startFakeUpstream({ port: 0 });
  weir = await startWeir();
  const names = Object.keys(MODELS);
  await weir.priceModels(Object.fromEntries(names.map((name) => [name, 1])));
  await weir.newChannel({ base_url: fake.url, models: names, model_mapping: JSON.stringify(MODELS) });
  user = await weir.newUser({ quota: 10_000_000 });
});
afterAll(async () => {
  await weir?.stop();
  fake?.close();
});

const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: "user", content: "hello there" }],
  ...more,
});

describe("a token", () => {
  test("a token whose models are limited is refused every other model, all of them when the list is empty", async () => {
    const ask = async (limits: object, model: string) => {
      const { key } = await weir.newToken({ model_limits_enabled: true, ...limits }, user);
      const answer = await weir.call(key, chat(model));
      const { error } = (await answer.json()) as { error?: { code: string } };
      return [answer.status, error?.code];
    };
    // spec: C-255
    expect(await ask({ model_limits: "echo" }, "echo")).toEqual([200, undefined]);
    // spec: C-255
    expect(await ask({ model_limits: "slow" }, "echo")).toEqual([403, "token_model_denied"]);
    // spec: C-256
    expect(await ask({ model_limits: "" }, "echo")).toEqual([403, "token_model_denied"]);
  });

  test("an address that a token does not allow, or denies, is refused with 403", async () => {
    const ask = async (lists: Record<string, string>) =>
      (await weir.call((await weir.newToken(lists, user)).key, chat("echo"))).status;
    // spec: C-257
    expect(await ask({ allow_ips: "203.0.113.7" })).toBe(403);
    // spec: C-257
    expect(await ask({ allow_ips: "203.0.113.7\n127.0.0.0/8\n::1" })).toBe(200);
    // spec: C-261
    expect(await ask({ allow_ips: "127.0.0.0/8\n::1", deny_ips: "127.0.0.0/8\n::1" })).toBe(403);
  });

  test("an unlimited token with nothing remaining is served, one that never expires too", async () => {
    const { id, key } = await weir.newToken({ unlimited_quota: true, remain_quota: 0, expired_time: -1 }, user);
    // spec: C-252, C-253
    expect((await weir.call(key, chat("echo"))).status).toBe(200);
    // spec: C-250, C-253
    expect(await user.ok<Row>("GET", `/api/token/${id}`)).toMatchObject({ status: 1, expired_time: -1 });
  });
});

describe("a call's row", () => {
  const called = async (model: string, stream: boolean) => {
    const name = `${model} ${stream}`;
    const { key } = await weir.newToken({ name }, user);
    await (await weir.call(key, chat(model, { stream }))).text();
    return weir.waitForLog((row) => row.token_name === name);
  };

  test.each([false, true])(
    "counts the tokens that the upstream said, and whether it was streamed: %p",
    async (stream) => {
      const row = await called("counted", stream);
      // spec: C-272, C-273
      expect(row).toMatchObject({ prompt_tokens: 12, completion_tokens: 34, is_stream: stream });
    },
  );

  test("has the milliseconds to the first token when it was streamed, and the whole seconds of the call", async () => {
    const { frt } = JSON.parse((await called("late", true)).other) as { frt: number };
    // spec: C-277
    expect([frt >= 300, frt < 5000]).toEqual([true, true]);
    const whole = await called("long", false);
    expect(JSON.parse(whole.other)).not.toHaveProperty("frt");
    // spec: C-271
    expect([Number.isInteger(whole.use_time), whole.use_time >= 1, whole.use_time < 10]).toEqual([true, true, true]);
  });
});
