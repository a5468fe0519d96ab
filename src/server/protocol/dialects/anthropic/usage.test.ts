import { expect, test } from "bun:test";
import { mergeUsage, readUsage } from "./usage";

/** platform.claude.com/docs, "Compaction at a token threshold": the example's usage (read November 2026). */
const compacted = {
  input_tokens: 23_000,
  output_tokens: 1_000,
  iterations: [
    {
      type: "compaction",
      input_tokens: 180_000,
      output_tokens: 3_500,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
    {
      type: "message",
      input_tokens: 23_000,
      output_tokens: 1_000,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
  ],
};

test("the tokens of a compaction, which the totals leave out, are counted once", () => {
  expect(readUsage(compacted)).toEqual({ input: 203_000, output: 4_500 });
});

test("the samplings that are in the totals are not counted again", () => {
  const [, message] = compacted.iterations;
  expect(
    readUsage({
      ...compacted,
      iterations: [message, { ...message, type: "fallback_message", model: "claude-opus-4-8" }],
    }),
  ).toEqual({ input: 23_000, output: 1_000 });
});

test("what an advisor was asked counts with its cache, beside the thoughts of the totals", () => {
  const usage = {
    input_tokens: 10,
    output_tokens: 100,
    cache_read_input_tokens: 7,
    output_tokens_details: { thinking_tokens: 40 },
    iterations: [
      {
        type: "advisor_message",
        model: "claude-opus-5",
        input_tokens: 800,
        output_tokens: 60,
        cache_read_input_tokens: 3,
        cache_creation_input_tokens: 50,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
      },
    ],
  };
  expect(readUsage(usage)).toEqual({
    input: 810,
    output: 120,
    reasoning: 40,
    cache_read: 10,
    cache_write_5m: 20,
    cache_write_1h: 30,
  });
});

test("a stream counts its samplings at the end", () => {
  const start = { input_tokens: 23_000, output_tokens: 1, iterations: null };
  const { iterations } = compacted;
  expect(readUsage(mergeUsage(start, { output_tokens: 1_000, iterations }))).toEqual({ input: 203_000, output: 4_500 });
});
