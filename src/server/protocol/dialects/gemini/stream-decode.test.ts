import { expect, test } from "bun:test";
import type { AnswerEvent } from "../../chat-events";
import { GeminiStreamDecoder } from "./stream-decode";

/** A frame with so many queries of its grounding, and what it counts. */
const frame = (queries: string[] | undefined, counts: [prompt: number, output: number] | undefined): string =>
  JSON.stringify({
    candidates: [
      {
        content: { parts: [{ text: "a" }], role: "model" },
        index: 0,
        ...(queries && { groundingMetadata: { webSearchQueries: queries } }),
      },
    ],
    ...(counts && { usageMetadata: { promptTokenCount: counts[0], candidatesTokenCount: counts[1] } }),
  });

/** The usage that was told last. */
function usageOf(...data: string[]) {
  const decoder = new GeminiStreamDecoder("req-1");
  const events: AnswerEvent[] = [];
  for (const one of data) expect(decoder.decode(one, events)).toBe(true);
  decoder.end(events);
  return events.findLast((event) => event.type === "usage")?.usage;
}

test("searches of an earlier frame stay in the usage of a later one", () => {
  const usage = usageOf(frame(["a", "b"], undefined), frame(undefined, [3, 1]), frame(undefined, [3, 4]));
  expect(usage).toMatchObject({ input: 3, output: 4, server_tools: { google_search: 2 } });
});

test("searches of a later frame are told with the usage of an earlier one", () => {
  expect(usageOf(frame(undefined, [3, 4]), frame(["a", "b", "c"], undefined))).toMatchObject({
    output: 4,
    server_tools: { google_search: 3 },
  });
});

test("a list of searches that is repeated and grows is counted once", () => {
  const usage = usageOf(frame(["a"], [3, 1]), frame(["a", "b"], [3, 2]), frame(["a"], [3, 3]));
  expect(usage).toMatchObject({ output: 3, server_tools: { google_search: 2 } });
});

test("searches are charged where the stream breaks off with an error as well", () => {
  const error = JSON.stringify({
    error: { code: 500, message: "no", status: "INTERNAL" },
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 },
  });
  expect(usageOf(frame(["a", "b"], undefined), error)).toMatchObject({ output: 2, server_tools: { google_search: 2 } });
});

test("an answer that searched for nothing names no searches", () => {
  expect(usageOf(frame(undefined, [3, 4]))).not.toHaveProperty("server_tools");
});
