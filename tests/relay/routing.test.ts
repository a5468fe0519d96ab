/** Half-open recovery, group auto, and what the caller is told about retries. */
import { textOfRow } from "../kit/row-text";
import { afterAll, describe, expect, test } from "bun:test";
import type { Pool } from "../../src/server/contracts/channel";
import { Cooldown } from "../../src/server/relay/routing/cooldown";
import { createRouting } from "../../src/server/relay/routing/router";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { chatBody, makeBench, makeChannel } from "./kit";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());
const chat = "/v1/chat/completions";
const failure = { cool_ms: 5_000, retry_after_s: undefined, owner: "upstream" as const };

describe("half-open recovery", () => {
  test("one call at a time probes; a failed probe doubles the pause, a successful one ends it", () => {
    let now = 0;
    const cooldown = new Cooldown(() => now);
    cooldown.failed(1, "m", {}, 0, failure);
    expect(cooldown.standing(1, "m")).toBe(5_000);
    now = 5_000;
    const probe = {};
    expect(cooldown.standing(1, "m")).toBe("ready");
    cooldown.begin(1, "m", probe);
    expect(cooldown.standing(1, "m")).toBe("probing");
    cooldown.failed(1, "m", probe, 5_000, failure);
    expect(cooldown.standing(1, "m")).toBe(10_000);
    now = 15_000;
    cooldown.begin(1, "m", probe);
    cooldown.failed(1, "m", probe, 15_000, { ...failure, cool_ms: 3_000, retry_after_s: 3 });
    expect(cooldown.standing(1, "m")).toBe(3_000);
    cooldown.served(1, "m", 14_000); // called before the failure
    expect(cooldown.standing(1, "m")).toBe(3_000);
    now = 18_000;
    cooldown.begin(1, "m", probe);
    cooldown.served(1, "m", 18_000);
    expect(cooldown.standing(1, "m")).toBe("ready");
  });
});

describe("group auto", () => {
  test("the first group with a channel is tried first; the call is billed and logged at the group that served", async () => {
    const bad = makeChannel(1, upstream.url, { model_mapping: new Map([["gpt-4o", "error-500"]]) });
    const good = makeChannel(2, upstream.url, { priority: 9 });
    const b = makeBench([bad, good]);
    b.options.retryTimes = 1;
    b.caller.group = "auto";
    b.caller.groups = ["cheap", "dear"];
    b.controlPlane.pool.candidates = (group) => (group === "cheap" ? [bad] : group === "dear" ? [good] : []);
    expect((await b.send(chat, chatBody("gpt-4o"))).status).toBe(200);
    expect(b.ledger.settlements[0]?.log).toMatchObject({ channel: 2, group: "dear" });
    const { admin_info } = JSON.parse(b.ledger.settlements[0]?.log.other ?? "{}");
    expect(admin_info).toMatchObject({ use_channel: ["1", "2"], selection: { groups: ["cheap", "dear"] } });
  });
});

test("the final error says how often the call was retried, in the caller's language, and nothing when it was not", async () => {
  const b = makeBench([makeChannel(1, upstream.url), makeChannel(2, upstream.url), makeChannel(3, upstream.url)]);
  // spec: C-604
  expect(await (await b.send(chat, chatBody("error-500"))).text()).not.toContain("retried");
  b.options.retryTimes = 2;
  const text = await (await b.send(chat, chatBody("error-500"))).text();
  // spec: C-603, C-604
  expect(text).toContain("(retried 2 times)");
  // spec: C-604
  expect(text).not.toMatch(/channel \d/);
  // spec: C-603, C-604
  expect(await (await b.send(chat, chatBody("error-500"), { headers: { "accept-language": "zh" } })).text()).toContain(
    "（已重试 2 次）",
  );
  // spec: C-604
  expect(textOfRow(b.failures[1], "en")).toContain("retried 2 times");
  // spec: C-604
  expect(JSON.parse(b.failures[1]?.other ?? "{}").admin_info.attempts).toHaveLength(3);
  expect(b.troubles.length).toBeGreaterThan(2);
});

test("a conversation stays on its channel while it is active; other conversations are distributed", async () => {
  const b = makeBench([1, 2, 3, 4].map((id) => makeChannel(id, upstream.url)));
  Object.assign(b.options, { stickyRouting: true });
  for (let turn = 0; turn < 12; turn++) await b.send(chat, chatBody("gpt-4o", { prompt_cache_key: "one" }));
  expect(new Set(b.ledger.settlements.map(({ log }) => log.channel)).size).toBe(1);
  expect(b.relay.stats).toMatchObject({ sticky_calls: 12, sticky_hits: 11 });
  for (let other = 0; other < 30; other++)
    await b.send(chat, chatBody("gpt-4o", { prompt_cache_key: `other ${other}` }));
  expect(new Set(b.ledger.settlements.map(({ log }) => log.channel)).size).toBeGreaterThan(1);
});

test("a model whose only channel cannot be read has another error than a model without a channel (C-600)", async () => {
  const b = makeBench([]);
  const code = async (model: string): Promise<unknown> => {
    const response = await b.send(chat, chatBody(model));
    return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
  };
  expect(await code("nobody")).toEqual([404, "model_not_found"]);
  // spec: C-600
  expect(await code("nobody-broken")).toEqual([500, "channel_database_inconsistent"]);
  expect(b.ledger.holdRequests).toHaveLength(0);
});

test("a group by score: factors in the row, measured by calls, and nothing counts as running afterwards", async () => {
  const channels = [1, 2].map((id) => makeChannel(id, upstream.url, { limits: { concurrency: 5 } }));
  const b = makeBench(channels, { routing: createRouting(poolOf(channels), Date.now, Math.random, () => true) });
  const scoresIn = (at: number) =>
    JSON.parse(b.ledger.settlements.at(at)?.log.other ?? "{}").admin_info.selection.scores;
  for (let call = 0; call < 12; call++)
    await (await b.send(chat, chatBody("gpt-4o", { stream: call % 2 === 0 }))).text();
  await b.send(chat, chatBody("error-400"));
  await b.quiet();
  expect(scoresIn(0)).toMatchObject([
    { channel: 1, first_token_ms: null },
    { channel: 2, success: 1, free: 1 },
  ]);
  const last: { first_token_ms: number | null; free: number; success: number }[] = scoresIn(-1);
  expect(last.some(({ first_token_ms }) => first_token_ms !== null)).toBe(true);
  expect(last.map(({ free, success }) => [free, success])).toEqual([
    [1, 1],
    [1, 1],
  ]);
});

const poolOf = (channels: ReturnType<typeof makeChannel>[]): Pool => ({
  candidates: () => channels,
  byId: () => undefined,
  all: () => channels,
  inGroup: () => channels,
  broken: () => false,
  off: () => false,
  models: () => [],
});
