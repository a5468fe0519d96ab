/**
 * Error objects of the OpenAI API, shared by all its endpoints.
 * Source: platform.openai.com/docs/guides/error-codes and the `openai` npm SDK 7.55 (core/error), read November 2026.
 */
import type { Json } from "../answer";
import type { ErrorAnswer, ErrorKind } from "./dialect";

const BY_STATUS: Record<number, [message: string, type: string, code: string | null]> = {
  400: ["Invalid value for 'messages'.", "invalid_request_error", null],
  401: ["Incorrect API key provided: fake.", "invalid_request_error", "invalid_api_key"],
  403: ["Country, region, or territory not supported.", "request_forbidden", "unsupported_country_region_territory"],
  404: ["The model `fake` does not exist or you do not have access to it.", "invalid_request_error", "model_not_found"],
  429: ["Rate limit reached for requests. Please try again in 1s.", "requests", "rate_limit_exceeded"],
  500: ["The server had an error while processing your request. Sorry about that!", "server_error", null],
  502: ["Bad gateway.", "server_error", null],
  503: ["The engine is currently overloaded, please try again later.", "server_error", null],
};

export function openaiErrorObject(message: string, type: string, code: string | null): Json {
  return { error: { message, type, param: null, code } };
}

export function openaiError(kind: ErrorKind, message?: string): ErrorAnswer {
  if (kind === "no_quota") {
    const text = "You exceeded your current quota, please check your plan and billing details.";
    return { status: 429, body: openaiErrorObject(message ?? text, "insufficient_quota", "insufficient_quota") };
  }
  const status = kind === "invalid_key" ? 401 : kind === "overloaded" ? 503 : kind;
  const [text, type, code] = BY_STATUS[status] ?? [
    `Error ${status}.`,
    status < 500 ? "invalid_request_error" : "server_error",
    null,
  ];
  const headers =
    status === 429
      ? {
          "retry-after": "1",
          "x-ratelimit-limit-requests": "60",
          "x-ratelimit-remaining-requests": "0",
          "x-ratelimit-reset-requests": "1s",
        }
      : undefined;
  return { status, headers, body: openaiErrorObject(message ?? text, type, code) };
}
