import { expect, test } from "bun:test";
import { readUsage as ofAnthropic } from "./anthropic/usage";
import { readUsage as ofGemini } from "./gemini/usage";
import { usageOf as ofResponses } from "./openai-responses/answer-decode";
import { decodeFrame } from "./openai-chat/stream";
import { usageOf as ofChat } from "./openai-chat/usage";
import { object } from "./shared/json";
import { servedIn } from "./shared/service-tier";
import { type DialectKey, dialectKeys, type WireObject } from "../chat-events";
import { StreamTranslator, translateAnswer } from "../translate";
import type { Served } from "../../../shared/price-rules";

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

/** A whole answer, and a stream of it, as each vendor says its tier. */
const ANSWERS: Readonly<Record<DialectKey, (tier: string | undefined) => { whole: WireObject; frames: WireObject[] }>> =
  {
    "openai-chat": (service_tier) => {
      const head = { id: "c", model: "m", created: 1, ...(service_tier && { service_tier }) };
      return {
        whole: {
          ...head,
          choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "hi" } }],
          usage: counts,
        },
        frames: [
          { ...head, choices: [{ index: 0, delta: { role: "assistant", content: "hi" }, finish_reason: null }] },
          { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
          { ...head, choices: [], usage: counts },
        ],
      };
    },
    "openai-responses": (service_tier) => {
      const item = {
        type: "message",
        id: "i",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "hi", annotations: [] }],
      };
      const usage = { input_tokens: 7, output_tokens: 5, total_tokens: 12 };
      const response = {
        id: "r",
        object: "response",
        model: "m",
        created_at: 1,
        status: "completed",
        output: [item],
        usage,
      };
      const whole = { ...response, ...(service_tier && { service_tier }) };
      return {
        whole,
        frames: [
          {
            type: "response.created",
            response: { ...response, status: "in_progress", output: [], service_tier: "auto" },
          },
          { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "hi" },
          { type: "response.completed", response: whole },
        ],
      };
    },
    anthropic: (service_tier) => {
      const usage = { input_tokens: 7, output_tokens: 5, ...(service_tier && { service_tier }) };
      const message = { id: "a", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
      return {
        whole: { ...message, content: [{ type: "text", text: "hi" }], stop_reason: "end_turn", usage },
        frames: [
          { type: "message_start", message: { ...message, usage: { ...usage, output_tokens: 1 } } },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } },
          { type: "message_stop" },
        ],
      };
    },
    gemini: (serviceTier) => {
      const candidates = [{ index: 0, content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP" }];
      const usageMetadata = {
        promptTokenCount: 7,
        candidatesTokenCount: 5,
        totalTokenCount: 12,
        ...(serviceTier && { serviceTier }),
      };
      const whole = { candidates, usageMetadata, modelVersion: "m", responseId: "g" };
      return { whole, frames: [whole] };
    },
  };

/** The tier that an answer, or a stream's last frame that names one, says. */
const tierIn: Readonly<Record<DialectKey, (answer: WireObject) => unknown>> = {
  "openai-chat": ({ service_tier }) => service_tier,
  "openai-responses": ({ service_tier, response }) => service_tier ?? object(response).service_tier,
  anthropic: ({ usage }) => object(usage).service_tier,
  gemini: ({ usageMetadata }) => object(usageMetadata).serviceTier,
};

/** What callers of `to` read of an answer from `from`, whole and streamed, and which warnings it leaves. */
function told(from: DialectKey, to: DialectKey, tier: string | undefined, headers?: Served) {
  const { whole, frames } = ANSWERS[from](tier);
  const context = { id: "x", created: 1, include_usage: true, ...(headers && { served: headers }) };
  const answer = translateAnswer(from, to, whole, context);
  const translator = new StreamTranslator(from, to, context);
  let written = "";
  for (const frame of frames) written += translator.feed(Buffer.from(`data: ${JSON.stringify(frame)}\n\n`)).toString();
  if (from === "openai-chat") written += translator.feed(Buffer.from("data: [DONE]\n\n")).toString();
  written += translator.end().toString() + translator.close().toString();
  const streamed = written
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => tierIn[to](object(JSON.parse(line.slice("data: ".length)))))
    .filter((value) => value !== undefined)
    .at(-1);
  const warnings = [...(answer?.warnings ?? []), ...translator.warnings].filter(({ detail }) =>
    detail.includes("tier"),
  );
  return { whole: tierIn[to](answer?.body ?? {}), streamed, warnings };
}

test.each<[DialectKey, string | undefined, Partial<Record<DialectKey, string>>]>([
  ["openai-chat", "priority", { "openai-responses": "priority", anthropic: "priority", gemini: "priority" }],
  ["openai-chat", "default", { "openai-responses": "default", anthropic: "standard", gemini: "standard" }],
  ["openai-chat", "flex", { "openai-responses": "flex", gemini: "flex" }],
  ["openai-chat", undefined, { "openai-responses": "default" }],
  ["openai-responses", "fast", { "openai-chat": "fast", anthropic: "priority", gemini: "priority" }],
  ["openai-responses", undefined, {}],
  ["anthropic", "standard", { "openai-chat": "default", "openai-responses": "default", gemini: "standard" }],
  ["anthropic", "priority", { "openai-chat": "priority", "openai-responses": "priority", gemini: "priority" }],
  ["gemini", "flex", { "openai-chat": "flex", "openai-responses": "flex" }],
  [
    "gemini",
    "SERVICE_TIER_PRIORITY",
    { "openai-chat": "priority", "openai-responses": "priority", anthropic: "priority" },
  ],
])(
  "callers of every dialect are told the tier of %s, %s, whole and streamed, without a warning",
  (from, tier, expected) => {
    for (const to of dialectKeys) {
      if (to === from) continue;
      const word = expected[to];
      expect([to, told(from, to, tier)]).toEqual([to, { whole: word, streamed: word, warnings: [] }]);
    }
  },
);

test("Google's header tells the tier where the body says nothing of it, and gives way to the body", () => {
  const standard = servedIn(new Headers({ "x-gemini-service-tier": "standard" }));
  expect(servedIn(new Headers())).toBeUndefined();
  expect(told("gemini", "openai-chat", undefined, standard)).toMatchObject({ whole: "default", streamed: "default" });
  expect(told("gemini", "openai-responses", "priority", standard)).toMatchObject({
    whole: "priority",
    streamed: "priority",
  });
});
