/**
 * Amazon Bedrock (docs.aws.amazon.com/bedrock/latest/APIReference: InvokeModel, InvokeModelWithResponseStream; November
 * 2026).
 */
import { expect } from "bun:test";
import { amazonEvent, amazonStream, claudePiece, sigv4 } from "../amazon";
import type { VendorFake } from "../vendor-fake";

const says = "Hello!";
const message = {
  id: "msg_bdrk_01",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5-20250929",
  stop_sequence: null,
};
const metrics = { inputTokenCount: 25, outputTokenCount: 15, invocationLatency: 800, firstByteLatency: 400 };

export const vendor: VendorFake = {
  types: ["bedrock"],
  source: "docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream, November 2026",
  key: "AKIDEXAMPLE|wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY|eu-central-1",
  model: "claude-sonnet-4-5-20250929",
  chat: { says, prompt: 25, completion: 15 },
  refusal: { model: "claude-none", kind: "rate_limited", message: "Too many requests, please wait" },
  answer(asked) {
    const { path, headers, json } = asked;
    expect(headers.get("authorization")).toBe(
      sigv4(asked, "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "eu-central-1"),
    );
    if (path.includes("claude-none")) {
      const body = { message: "Too many requests, please wait before trying again." };
      return Response.json(body, {
        status: 429,
        headers: { "x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/" },
      });
    }
    if (path.startsWith("/model/eu.amazon.nova-lite-v1%3A0/")) {
      expect(json).toEqual({ messages: [{ role: "user", content: [{ text: "hello" }] }] });
      const usage = { inputTokens: 11, outputTokens: 9, totalTokens: 20 };
      if (path.endsWith("/converse")) {
        const output = { message: { role: "assistant", content: [{ text: says }] } };
        return Response.json({ output, stopReason: "end_turn", usage, metrics: { latencyMs: 551 } });
      }
      expect(path).toEndWith("/converse-stream");
      return amazonStream(
        amazonEvent("messageStart", { role: "assistant", p: "abcd" }),
        amazonEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text: says }, p: "abcdefgh" }),
        amazonEvent("contentBlockStop", { contentBlockIndex: 0, p: "abc" }),
        amazonEvent("messageStop", { stopReason: "end_turn", p: "abc" }),
        amazonEvent("metadata", { usage, metrics: { latencyMs: 551 }, p: "a" }),
      );
    }
    expect(json).toMatchObject({ anthropic_version: "bedrock-2023-05-31", messages: [{ role: "user" }] });
    expect(json).not.toHaveProperty("model");
    expect(json).not.toHaveProperty("stream");
    if (json.anthropic_beta !== undefined) expect(json.anthropic_beta).toEqual(["interleaved-thinking-2025-05-14"]);
    const model = "/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0";
    if (path === `${model}/invoke`) {
      return Response.json({
        ...message,
        content: [{ type: "text", text: says }],
        stop_reason: "end_turn",
        usage: { input_tokens: 25, output_tokens: 15 },
      });
    }
    expect(path).toBe(`${model}/invoke-with-response-stream`);
    return amazonStream(
      claudePiece({
        type: "message_start",
        message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 25, output_tokens: 1 } },
      }),
      claudePiece({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      claudePiece({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: says } }),
      claudePiece({ type: "content_block_stop", index: 0 }),
      claudePiece({
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 15 },
      }),
      claudePiece({ type: "message_stop", "amazon-bedrock-invocationMetrics": metrics }),
    );
  },
  calls: [
    ...[false, true].map((stream) => ({
      name: `models of other makers are asked by Converse${stream ? ", streamed" : ""}`,
      path: "/v1/chat/completions",
      body: { model: "nova-lite-v1:0", stream, messages: [{ role: "user", content: "hello" }] },
      check: ({ status, text }: { status: number; text: string }) =>
        expect([status, text]).toEqual([200, expect.stringContaining(says)]),
      usage: { prompt: 11, completion: 9 },
    })),
    {
      name: "beta features that Bedrock knows go into the body, others stay away",
      path: "/v1/messages",
      body: { model: "claude-sonnet-4-5-20250929", max_tokens: 10, messages: [{ role: "user", content: "hello" }] },
      headers: { "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14" },
      check: ({ status, json }) => expect([status, json.content]).toEqual([200, [{ type: "text", text: says }]]),
      usage: { prompt: 25, completion: 15 },
    },
  ],
};
