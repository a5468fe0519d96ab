import { expect, test } from "bun:test";
import { readUsage as ofAnthropic } from "./anthropic/usage";
import { readUsage as ofGemini } from "./gemini/usage";
import { usageOf as ofResponses } from "./openai-responses/answer-decode";
import { decodeFrame } from "./openai-chat/stream";
import { usageOf as ofChat } from "./openai-chat/usage";

const counts = { prompt_tokens: 7, completion_tokens: 5 };

test("an answer's service is read where each vendor says it, beside its counts", () => {
  expect(ofChat({ usage: counts, service_tier: "fast" })).toEqual({
    input: 7,
    output: 5,
    served: { service_tier: "fast" },
  });
  expect(decodeFrame(JSON.stringify({ choices: [], usage: counts, service_tier: "flex" }))).toMatchObject([
    { type: "usage", usage: { served: { service_tier: "flex" } } },
  ]);
  expect(ofResponses({ usage: counts, service_tier: "ultrafast", output: [] })?.served).toEqual({
    service_tier: "ultrafast",
  });
  expect(
    ofAnthropic({ input_tokens: 7, service_tier: "standard", inference_geo: "us", speed: "fast" })?.served,
  ).toEqual({
    service_tier: "standard",
    inference_geo: "us",
    speed: "fast",
  });
  expect(ofGemini({ promptTokenCount: 7, totalTokenCount: 7, serviceTier: "priority" })?.served).toEqual({
    service_tier: "priority",
  });
});

test("an answer that says nothing of its service, or repeats the wish for any, says nothing", () => {
  for (const service_tier of [undefined, null, "auto", 3])
    expect(ofChat({ usage: counts, service_tier })).toEqual({ input: 7, output: 5 });
  expect(ofAnthropic({ input_tokens: 7, inference_geo: null })).toEqual({ input: 7 });
});
