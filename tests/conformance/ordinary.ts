/**
 * A fake OpenAI-compatible vendor, from its entry in the registry (platform.openai.com/docs/api-reference/chat,
 * November 2026).
 */
import { expect } from "bun:test";
import { type ChannelType, operationPath } from "../../src/shared/channel-types";
import { responsesAnswer } from "./responses";
import { namedSse, sse, type VendorFake } from "./vendor-fake";

const says = "Hello! How can I help you today?";
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1_741_570_283,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
});
const usage = { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 };

/**
 * The same answer for a vendor that also takes Anthropic's calls (docs.anthropic.com/en/api/messages, November 2026).
 */
function asAnthropic(stream: boolean): Response {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_sequence: null };
  const tokens = { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens };
  if (!stream)
    return Response.json({
      ...message,
      content: [{ type: "text", text: says }],
      stop_reason: "end_turn",
      usage: tokens,
    });
  return namedSse(
    {
      type: "message_start",
      message: { ...message, content: [], stop_reason: null, usage: { ...tokens, output_tokens: 1 } },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: says } },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: tokens.output_tokens },
    },
    { type: "message_stop" },
  );
}

/** A channel's key: each part by its name. */
export function sampleKey({ key_format: { shapes, separator, kind } }: ChannelType): string {
  const parts = Object.keys(shapes[0] ?? {});
  return kind === "json"
    ? JSON.stringify(Object.fromEntries(parts.map((part) => [part, `my-${part}`])))
    : parts.map((part) => part.replaceAll("_", "")).join(separator);
}

export function ordinaryVendor(type: ChannelType): VendorFake {
  const key = sampleKey(type);
  const path = operationPath(type, "chat")?.replace("{other}", "my-account");
  return {
    types: [type.key],
    source: "platform.openai.com/docs/api-reference/chat, November 2026",
    key,
    other: "my-account",
    base: type.complete_url ? "/whole/{model}" : "/base",
    model: "m",
    chat: { says, prompt: 19, completion: 10 },
    refusal: { model: "unknown", kind: "model_missing", message: "The model does not exist" },
    answer({ method, path: asked, headers, json }) {
      expect(method).toBe("POST");
      if (!type.complete_url && type.operations.includes("responses") && asked === operationPath(type, "responses")) {
        expect(headers.get("authorization")).toBe(`Bearer ${key}`);
        return responsesAnswer(json, "m", says, 19, 10);
      }
      const messages = type.complete_url ? undefined : operationPath(type, "messages");
      if (messages !== undefined && asked === messages) {
        expect([headers.get("x-api-key"), headers.get("anthropic-version")]).toEqual([key, "2023-06-01"]);
        // The caller's own body: nothing is translated.
        expect(json).toEqual({
          model: "m",
          stream: json.stream,
          max_tokens: 100,
          messages: [{ role: "user", content: "hello" }],
        });
        return asAnthropic(json.stream === true);
      }
      expect(asked).toBe(type.complete_url ? String(json.model) : String(path));
      expect(headers.get("authorization")).toBe(`Bearer ${key}`);
      if (json.model === "unknown") {
        const error = {
          message: "The model does not exist",
          type: "invalid_request_error",
          param: null,
          code: "model_not_found",
        };
        return Response.json({ error }, { status: 404 });
      }
      expect(json).toMatchObject({ model: "m", messages: [{ role: "user", content: "hello" }] });
      if (json.stream !== true) {
        const message = { role: "assistant", content: says, refusal: null };
        return Response.json({
          id: "chatcmpl-1",
          object: "chat.completion",
          created: 1,
          model: "m",
          choices: [{ index: 0, message, finish_reason: "stop" }],
          usage,
        });
      }
      if (type.include_usage) expect(json.stream_options).toEqual({ include_usage: true });
      const counted = { ...chunk({}), choices: [], usage };
      return sse(
        chunk({ role: "assistant", content: "" }),
        chunk({ content: says }),
        chunk({}, "stop"),
        counted,
        "[DONE]",
      );
    },
  };
}
