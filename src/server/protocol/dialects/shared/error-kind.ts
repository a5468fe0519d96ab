/** Vendors' error numbers in the words that protocol/vendor-errors.ts knows: OpenAI's error types. */
import type { WireError } from "../../chat-events";

/** Whose fault an error is, as far as a vendor's documents say. */
export type ErrorKind = "authentication" | "quota" | "rate" | "overloaded" | "model" | "caller";

const types: Readonly<Record<ErrorKind, string>> = {
  authentication: "authentication_error",
  quota: "insufficient_quota",
  rate: "rate_limit_error",
  overloaded: "overloaded_error",
  model: "model_not_found",
  caller: "invalid_request_error",
};

/** A vendor's error; `code` stays as the vendor writes it, the type is OpenAI's where `kindOf` knows the code. */
export function wireError(message: string, code: string, kindOf: (code: string) => ErrorKind | undefined): WireError {
  const kind = kindOf(code);
  return { message, type: kind === undefined ? "" : types[kind], code, param: null };
}
