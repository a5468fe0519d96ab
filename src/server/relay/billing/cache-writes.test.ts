import { describe, expect, test } from "bun:test";
import { channelType } from "../../../shared/channel-types";
import { compilePrice } from "../../../shared/pricing";
import { makeBench, makeChannel } from "../../../../tests/relay/kit";

/** A unit a token, 1.25 for one that is written to a cache, 2 where it stays an hour, a tenth for one that is read. */
const price = compilePrice(
  "claude-opus-4-6",
  "default",
  {
    model_ratio: { value: 1, source: "test" },
    completion_ratio: { value: 1, source: "test" },
    cache_ratio: { value: 0.1, source: "test" },
    cache_creation_ratio: { value: 1.25, source: "test" },
    cache_creation_1h_ratio: { value: 2, source: "test" },
  },
  { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
);

/** Units held for the input of a call of at most 100 tokens of output. */
async function heldFor(path: string, body: object, type = 14): Promise<number> {
  const fact = channelType(type) ?? expect.unreachable(`no channel type ${type}`);
  const bench = makeBench([makeChannel(1, "http://up.test", { type: fact })], {
    fetch: () => Promise.reject(new Error("not here")),
  });
  Object.assign(bench.controlPlane, { price: () => price });
  await (await bench.send(path, body)).text();
  await bench.quiet();
  return (bench.ledger.holdRequests[0]?.amount ?? 0) - 100;
}

const CHAT = "/v1/chat/completions";
const text = (cache_control?: object) => [{ type: "text", text: "hi", ...(cache_control && { cache_control }) }];
const call = (content: unknown) => ({
  model: "claude-opus-4-6",
  max_tokens: 100,
  messages: [{ role: "user", content }],
});
const bound = (body: object): number => JSON.stringify(body).length;

describe("the hold of a call whose input may be written to a cache", () => {
  test("covers the dearer write of marks that the call gets, and nothing more elsewhere", async () => {
    const body = { ...call("hi"), tools: [{ type: "function", function: { name: "f" } }] };
    expect(await heldFor(CHAT, body)).toBe(Math.ceil(bound(body) * 1.25));
    expect(await heldFor(CHAT, body, 1)).toBe(bound(body));
    expect(await heldFor(CHAT, call("hi"))).toBe(bound(call("hi")));
  });

  test.each([
    ["five minutes", { type: "ephemeral" }, 1.25],
    ["an hour", { type: "ephemeral", ttl: "1h" }, 2],
  ])("covers the caller's own marks of %s", async (_, mark, ratio) => {
    const body = call(text(mark));
    expect(await heldFor("/v1/messages", body)).toBe(Math.ceil(bound(body) * ratio));
    expect(await heldFor("/v1/messages", call(text()))).toBe(bound(call(text())));
  });
});
