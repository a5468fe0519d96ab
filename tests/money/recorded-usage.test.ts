/** The plausibility rules for usage (protocol/usage-check.ts) change no recorded stream of a vendor. */
import { describe, expect, test } from "bun:test";
import { channelTypes } from "../../src/shared/channel-types";
import { tokensOfContent } from "../../src/server/relay/billing/token-estimate";
import { UsageTally } from "../../src/server/protocol/usage-tally";
import { checkUsage, type UsageFacts } from "../../src/server/protocol/usage-check";
import type { Usage } from "../../src/shared/pricing";
import { eventsOf, fixtures } from "../translation/streams";

/** Dialects of vendors that may report no output beside content. */
const zeroes = new Set<string>(
  channelTypes
    .filter(({ agent, zero_output, dialect }) => (agent || zero_output) && dialect !== "openai-chat")
    .map(({ dialect }) => dialect),
);
const factsOf = (content: number, more: Partial<UsageFacts> = {}): UsageFacts => ({
  // The smallest possible request and answer: nothing passes here because of its size.
  estimate: { input: () => ({ input: 1 }), output: () => ({ output: tokensOfContent(content) }) },
  hidden: () => false,
  ...more,
});

describe("recorded streams", () => {
  let told = 0;
  for (const { dialect, name, bytes } of fixtures) {
    test(`${dialect} ${name} passes`, () => {
      const tally = new UsageTally();
      let failed = false;
      for (const event of eventsOf(dialect, bytes)) {
        if (event.type === "block_delta") tally.contentBytes += Buffer.byteLength(event.text);
        if (event.type === "usage") tally.add(event.usage);
        failed ||= event.type === "error";
      }
      const { usage, contentBytes } = tally;
      // A vendor's usage beside its own failure may be zero.
      if (!usage || failed) return;
      told++;
      const checked = checkUsage(usage, factsOf(contentBytes, zeroes.has(dialect) ? { zero_output: true } : {}));
      expect(checked).toEqual({ usage, estimated: false, doubts: [] });
    });
  }
  test("are many", () => expect(told).toBeGreaterThan(20));
});

describe("the rules", () => {
  const charged = (usage: Usage, more: Partial<UsageFacts> = {}, content = 40): Usage =>
    checkUsage(usage, factsOf(content, more)).usage;

  test("a side that is charged at its bound keeps its kinds in proportion, and comes to the bound exactly", () => {
    const usage = charged({ input: 7, output: 300_000_001, reasoning: 600_000_001, image_out: 99 });
    expect((usage.output ?? 0) + (usage.reasoning ?? 0) + (usage.image_out ?? 0)).toBe(200_000);
    expect(usage.input).toBe(7);
    expect((usage.reasoning ?? 0) / (usage.output ?? 1)).toBeCloseTo(2, 3);
  });

  test("the bound is never below what is always possible, four times what was allowed, or four times what was received", () => {
    expect(charged({ input: 1, output: 200_000 })).toEqual({ input: 1, output: 200_000 });
    expect(charged({ input: 1, output: 900_000 }, { max_output: 100_000 })).toEqual({ input: 1, output: 400_000 });
    expect(charged({ input: 1, output: 9_000_000 }, {}, 4_000_000)).toEqual({ input: 1, output: 4_000_000 });
    expect(
      charged({ input: 9_000_000, output: 1 }, { estimate: { input: () => ({ input: 200_000 }), output: () => ({}) } }),
    ).toEqual({ input: 4_000_000, output: 1 });
  });

  test("cached tokens, images and audio are input like any other", () => {
    expect(charged({ cache_read: 10, output: 5 })).toEqual({ cache_read: 10, output: 5 });
    expect(charged({ input: 5, cache_read: Number.NaN, output: 5 })).toEqual({ input: 1, output: 5 });
  });

  test("calls with a vendor's tools have their own bound, unless the channel is trusted", () => {
    expect(charged({ input: 1, output: 1, server_tools: { web_search: 2e9, file_search: 3 } }).server_tools).toEqual({
      web_search: 10_000,
      file_search: 3,
    });
    expect(charged({ input: 1, output: 1, server_tools: { web_search: 2e9 } }, { trusted: true }).server_tools).toEqual(
      { web_search: 2e9 },
    );
  });
});
