/** Anthropic (docs.anthropic.com/en/api/messages and /messages-streaming, November 2026). */
import { expect } from "bun:test";
import { namedSse, type VendorFake } from "../vendor-fake";

const says = "Hello!";
const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-4-5", stop_sequence: null };

export const vendor: VendorFake = {
  types: ["anthropic"],
  source: "docs.anthropic.com/en/api/messages, November 2026",
  model: "claude-sonnet-4-5",
  chat: { says, prompt: 25, completion: 15 },
  refusal: { model: "claude-none", kind: "model_missing", message: "model: claude-none" },
  answer({ path, headers, json }) {
    expect(path).toBe("/v1/messages");
    expect(headers.get("x-api-key")).toBe("upstream-key");
    expect(headers.get("anthropic-version")).toBe("2023-06-01");
    if (json.model === "claude-none") {
      return Response.json(
        { type: "error", error: { type: "not_found_error", message: "model: claude-none" } },
        { status: 404 },
      );
    }
    expect(json).toMatchObject({ model: "claude-sonnet-4-5", messages: [{ role: "user" }] });
    expect(json.max_tokens).toBeGreaterThan(0);
    if (json.stream !== true) {
      return Response.json({
        ...message,
        content: [{ type: "text", text: says }],
        stop_reason: "end_turn",
        usage: { input_tokens: 25, output_tokens: 15 },
      });
    }
    return namedSse(
      {
        type: "message_start",
        message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 25, output_tokens: 1 } },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "ping" },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: says } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 15 } },
      { type: "message_stop" },
    );
  },
};
