/** What an attempt owns: its group, its price, its slot. The next attempt has its own. */
import { afterAll, describe, expect, test } from "bun:test";
import { compilePrice, type CompiledPrice } from "../../src/shared/pricing";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { type Bench, chatBody, makeBench, makeChannel, pieces, scripted, VirtualTime } from "./kit";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());
const chat = "/v1/chat/completions";

/** 1 unit a token, times the group's ratio. */
const priceIn = (model: string, group: string, ratio: number): CompiledPrice =>
  compilePrice(
    model,
    group,
    {
      model_ratio: { value: 1, source: "test" },
      completion_ratio: { value: 1, source: "test" },
      group_ratio: { value: ratio, source: "test" },
    },
    { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
  );

const ratios: Readonly<Record<string, number>> = { dear: 4, middle: 2, cheap: 1 };

/** A caller of group auto; the channels of each group. */
function auto(groups: Record<string, ReturnType<typeof makeChannel>>): Bench {
  const bench = makeBench(Object.values(groups));
  bench.options.retryTimes = 2;
  Object.assign(bench.caller, { group: "auto", groups: Object.keys(groups) });
  const { pool } = bench.controlPlane;
  pool.candidates = (group) => (groups[group] ? [groups[group]] : []);
  bench.controlPlane.price = (model, group) => priceIn(model, group, ratios[group] ?? 1);
  return bench;
}

const broken = (id: number) => makeChannel(id, upstream.url, { model_mapping: new Map([["gpt-4o", "error-500"]]) });
const otherOf = (log: { other?: string } | undefined): Record<string, unknown> => JSON.parse(log?.other ?? "{}");

describe("group auto", () => {
  test("held at the dearest group, billed at the one that served, whatever was tried in between", async () => {
    const bench = auto({ middle: broken(1), dear: broken(2), cheap: makeChannel(3, upstream.url) });
    expect((await bench.send(chat, chatBody("gpt-4o"))).status).toBe(200);
    const [held] = bench.ledger.holdRequests;
    const [settlement] = bench.ledger.settlements;
    const { prompt_tokens = 0, completion_tokens = 0, group, channel } = settlement?.log ?? {};
    expect([group, channel, settlement?.quota]).toEqual(["cheap", 3, prompt_tokens + completion_tokens]);
    expect(otherOf(settlement?.log)).toMatchObject({ group: "cheap", group_ratio: 1 });
    // Four units a token: the dearest group.
    expect(held?.draft).toContain('"group":"dear"');
    expect(held?.amount).toBeGreaterThan(4 * 4096);
  });

  test("the row of a call that failed has the group, the channel and the model's name of its last attempt", async () => {
    const bench = auto({ dear: broken(1), cheap: makeChannel(2, upstream.url) });
    const { limits } = bench.controlPlane;
    const full = async () => ({
      refused: { code: "rate_limited_requests" as const, values: {}, retry_after_s: 9 },
      end: () => undefined,
    });
    bench.controlPlane.limits = {
      ...limits,
      enterChannel: (channel, ...rest) => (channel.id === 2 ? full() : limits.enterChannel(channel, ...rest)),
    };
    expect((await bench.send(chat, chatBody("gpt-4o"))).status).toBe(500);
    const [row] = bench.failures;
    expect(row).toMatchObject({ channel: 1, group: "dear" });
    expect(otherOf(row)).toMatchObject({ group: "dear", upstream_model_name: "error-500" });
  });

  test("channels that all have no room are no attempt: the row has no channel, and the hold is given back", async () => {
    const bench = auto({ dear: makeChannel(1, upstream.url), cheap: makeChannel(2, upstream.url) });
    bench.controlPlane.limits = {
      ...bench.controlPlane.limits,
      enterChannel: async () => ({
        refused: { code: "rate_limited_requests", values: {}, retry_after_s: 9 },
        end: () => undefined,
      }),
    };
    expect((await bench.send(chat, chatBody("gpt-4o"))).status).toBe(429);
    expect(bench.failures).toMatchObject([{ channel: 0, end_reason: "refused" }]);
    expect([...bench.ledger.ends.values()]).toEqual([["release"]]);
  });
});

test("attempts that break off behind a ping cost nothing: the error is an event, and the hold is given back once", async () => {
  const time = new VirtualTime();
  const fetch = scripted(() => "hang");
  const bench = makeBench([makeChannel(1, "http://up.test"), makeChannel(2, "http://up.test", { priority: -1 })], {
    now: time.now,
    timers: time.timers,
    fetch,
    reachable: async () => true,
  });
  Object.assign(bench.options, { retryTimes: 1, firstByteTimeoutMs: 20_000, repeatBelowUnits: 1_000_000 });
  const { limits } = bench.controlPlane;
  bench.controlPlane.limits = {
    ...limits,
    enterChannel: (channel) => (channel.id === 2 ? Promise.reject(new Error("no limits to be had")) : undefined),
  };
  const sent = bench.send(chat, chatBody("gpt-4o", { stream: true }));
  await time.advance(15_000);
  const answer = pieces(await sent);
  await time.advance(10_000);
  expect(await answer.rest()).toContain('"error"');
  expect([...bench.ledger.ends.values()]).toEqual([["release"]]);
  expect([bench.ledger.charged, bench.ledger.balance, bench.relay.stats.open_streams]).toEqual([0, 1_000_000, 0]);
  expect(bench.failures).toMatchObject([{ channel: 1, end_reason: "upstream_error" }]);
});
