/** Anthropic's errors (platform.claude.com/docs, API errors; types of @anthropic-ai/sdk 1.11; read November 2026). */
import { inWords, OUT_OF_QUOTA_CODE, type RelayError } from "../../relay-error";
import type { WireError, WireObject } from "../../chat-events";
import { isObject, text } from "../shared/json";

const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/**
 * What Anthropic says in words only, by the codes of protocol/vendor-errors.ts: an empty account and a reached spend
 * limit come as 400 invalid_request_error (claude-code issue 66314, June 2026; API errors, usage limits), a missing
 * model as not_found_error.
 */
function codeOf(type: string, message: string): string {
  if (type === "not_found_error" && message.startsWith("model:")) return "model_not_found";
  if (type !== "invalid_request_error") return type;
  return /^Your credit balance is too low|^You have reached your specified API usage limits/.test(message)
    ? "credit_balance_too_low"
    : type;
}

/** {type: "error", error: {type, message}}, as body and as event. */
export function readError(body: unknown): WireError | undefined {
  if (!isObject(body) || !isObject(body.error)) return undefined;
  const { type, message, details } = body.error;
  const code = isObject(details) ? text(details.error_code) : "";
  return { message: text(message), type: text(type), code: code || codeOf(text(type), text(message)), param: null };
}

/**
 * The message in Anthropic's words. Claude Code compacts at "prompt is too long", and lowers max_tokens where those are
 * what does not fit; it reads neither type nor status (Menci/Floway pull request 166, of Claude Code 2.1;
 * code.claude.com/docs/en/llm-gateway-protocol; read November 2026).
 */
const messageOf = (error: RelayError): string =>
  inWords(error, /^prompt is too long|input length and `?max_tokens`? exceed context limit/i, ({ used, limit }) =>
    used === undefined || limit === undefined
      ? "prompt is too long:"
      : `prompt is too long: ${used} tokens > ${limit} maximum.`,
  );

/**
 * A call that is to continue a thread is refused as Anthropic refuses it, so that its SDK goes on with the whole
 * conversation (@anthropic-ai/sdk 1.11, lib/internal/threads/ThreadState). An empty balance is Anthropic's
 * billing_error, by whose words Claude Code knows it (anthropics/claude-code issue 4207); `request_id` stands beside
 * the error (platform.claude.com/docs/en/api/errors; read November 2026).
 */
export function writeError(error: RelayError): WireObject {
  const { status, code, message, request_id, unsupported = [] } = error;
  const details = unsupported.includes("thread")
    ? { error_code: "thread_unsupported_request", unsupported: ["thread"] }
    : undefined;
  const fault =
    code === OUT_OF_QUOTA_CODE
      ? { type: "billing_error", message: `Your credit balance is too low: ${message}` }
      : {
          type: types[status] ?? (status < 500 ? "invalid_request_error" : "api_error"),
          message: messageOf(error),
          ...(details && { details }),
        };
  return { type: "error", error: fault, ...(request_id !== undefined && { request_id }) };
}
