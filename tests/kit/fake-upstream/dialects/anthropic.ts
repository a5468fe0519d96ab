/**
 * Anthropic Messages and token counting.
 * Source: platform.claude.com/docs: build-with-claude/streaming (event order, ping, error event), api/messages,
 * api/errors, build-with-claude/prompt-caching (usage: input_tokens excludes cache), anthropic-version 2023-06-01,
 * read November 2026.
 */
import { type Answer, type Json, list, object, text } from "../answer";
import type { FakeUsage } from "../behaviours";
import type { Dialect, ErrorKind, Frame } from "./dialect";

const STOP = { stop: "end_turn", length: "max_tokens", content_filter: "refusal", tool: "tool_use" } as const;
const TYPES: Record<number, [type: string, message: string]> = {
  400: ["invalid_request_error", "messages: Field required"],
  401: ["authentication_error", "invalid x-api-key"],
  402: ["billing_error", "There is an issue with your billing or payment information."],
  403: ["permission_error", "Your API key does not have permission to use the specified resource."],
  404: ["not_found_error", "model: fake"],
  413: ["request_too_large", "Request exceeds the maximum size"],
  429: ["rate_limit_error", "This request would exceed your organization's rate limit."],
  500: ["api_error", "Internal server error"],
  504: ["timeout_error", "The request timed out."],
  529: ["overloaded_error", "Overloaded"],
};

function errorBody(type: string, message: string): Json {
  return { type: "error", error: { type, message }, request_id: "req_fake" };
}

function error(kind: ErrorKind, message?: string) {
  if (kind === "no_quota") {
    const low = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.";
    return { status: 400, body: errorBody("invalid_request_error", message ?? low) };
  }
  const status = kind === "invalid_key" ? 401 : kind === "overloaded" ? 529 : kind;
  const [type, known] = TYPES[status] ?? [status < 500 ? "invalid_request_error" : "api_error", `Error ${status}`];
  const headers = status === 429 ? { "retry-after": "1", "anthropic-ratelimit-requests-remaining": "0" } : undefined;
  return { status, headers, body: errorBody(type, message ?? known) };
}

/** Anthropic counts disjoint: input_tokens is what was neither read from nor written to the cache. */
function messageUsage(usage: FakeUsage, output = usage.output): Json {
  return {
    input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite - usage.cacheWrite1h,
      ephemeral_1h_input_tokens: usage.cacheWrite1h,
    },
    output_tokens: output,
    service_tier: "standard",
  };
}

const stopReason = (answer: Answer): string => (answer.refusal.length > 0 ? "refusal" : STOP[answer.finish]);
const said = (answer: Answer): string[] => (answer.refusal.length > 0 ? answer.refusal : answer.text);
const input = (fragments: string[]): unknown => JSON.parse(fragments.join(""));

function message(answer: Answer, content: Json[], stop: string | null, usage?: Json): Json {
  return {
    id: `msg_${answer.id}`,
    type: "message",
    role: "assistant",
    model: answer.model,
    content,
    stop_reason: stop,
    stop_sequence: null,
    ...(usage && { usage }),
  };
}

function whole(answer: Answer): Json {
  const content: Json[] = [];
  if (answer.reasoning.length > 0) {
    content.push({ type: "thinking", thinking: answer.reasoning.join(""), signature: `fake-signature-${answer.id}` });
  }
  if (said(answer).length > 0) content.push({ type: "text", text: said(answer).join("") });
  for (const tool of answer.tools) {
    content.push({ type: "tool_use", id: `toolu_${tool.id}`, name: tool.name, input: input(tool.fragments) });
  }
  return message(answer, content, stopReason(answer), answer.usage && messageUsage(answer.usage));
}

const frame = (kind: Frame["kind"], body: Json): Frame => ({
  event: text(body.type),
  kind,
  data: JSON.stringify(body),
});
const ping = frame("opening", { type: "ping" });

function frames(answer: Answer): Frame[] {
  const out: Frame[] = [];
  let index = 0;
  const block = (start: Json, deltas: Json[]): void => {
    out.push(frame("opening", { type: "content_block_start", index, content_block: start }));
    if (index === 0) out.push(ping);
    for (const delta of deltas) out.push(frame("content", { type: "content_block_delta", index, delta }));
    out.push(frame("closing", { type: "content_block_stop", index }));
    index++;
  };
  const usage = answer.usage && messageUsage(answer.usage, Math.min(1, answer.usage.output));
  out.push(frame("opening", { type: "message_start", message: message(answer, [], null, usage) }));
  if (answer.reasoning.length > 0) {
    block({ type: "thinking", thinking: "", signature: "" }, [
      ...answer.reasoning.map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: `fake-signature-${answer.id}` },
    ]);
  }
  if (said(answer).length > 0)
    block(
      { type: "text", text: "" },
      said(answer).map((piece) => ({ type: "text_delta", text: piece })),
    );
  for (const tool of answer.tools) {
    const deltas = tool.fragments.map((partial_json) => ({ type: "input_json_delta", partial_json }));
    block({ type: "tool_use", id: `toolu_${tool.id}`, name: tool.name, input: {} }, deltas);
  }
  const delta = { stop_reason: stopReason(answer), stop_sequence: null };
  const total = answer.usage && { usage: messageUsage(answer.usage) };
  out.push(frame("usage", { type: "message_delta", delta, ...total }));
  out.push(frame("done", { type: "message_stop" }));
  return out;
}

export const anthropic: Dialect = {
  prompt(request) {
    const last = list(request.messages)
      .map(object)
      .findLast((turn) => turn.role === "user");
    const content = last?.content;
    return {
      lastUserText:
        typeof content === "string"
          ? content
          : list(content)
              .map((part) => text(object(part).text))
              .join(""),
      toolNames: list(request.tools)
        .map((tool) => text(object(tool).name))
        .filter(Boolean),
    };
  },
  whole,
  frames,
  error,
  errorFrame: () => frame("content", errorBody("overloaded_error", "Overloaded")),
  ping,
};
