/** Turns whatever was thrown into an AppError, and an AppError into an envelope or a tRPC error. */
import { TRPCError } from "@trpc/server";
import * as z from "zod";
import { AppError, type ErrorCode, type ErrorFact, errors, errorText } from "../../shared/errors";
import type { Lang } from "../../shared/text";
import type { Logger } from "../lib/log";
import { isUnavailable } from "../lib/unavailable";

const TRPC_CODES = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "CONFLICT",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  422: "UNPROCESSABLE_CONTENT",
  429: "TOO_MANY_REQUESTS",
  500: "INTERNAL_SERVER_ERROR",
  502: "BAD_GATEWAY",
  503: "SERVICE_UNAVAILABLE",
  504: "GATEWAY_TIMEOUT",
} as const satisfies Record<number, TRPCError["code"]>;

export function toTRPC(error: AppError): TRPCError {
  const status = errors[error.code].status as keyof typeof TRPC_CODES;
  return new TRPCError({ code: TRPC_CODES[status], message: error.message, cause: error });
}

const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errors, text);

/**
 * The AppError behind anything that was thrown. A zod issue whose message is an error code becomes that error, so that
 * a form and a call have the same text; other issues name the field.
 */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof z.ZodError) return fromZod(thrown);
  if (thrown instanceof TRPCError) {
    if (thrown.cause) return toAppError(thrown.cause);
    if (thrown.code === "NOT_FOUND") return new AppError("not_found", { method: "", path: "" }, { cause: thrown });
    if (thrown.code === "UNSUPPORTED_MEDIA_TYPE") return new AppError("json_needed", {}, { cause: thrown });
    if (thrown.code === "PARSE_ERROR" || thrown.code === "BAD_REQUEST")
      return new AppError("bad_json", {}, { cause: thrown });
  }
  return new AppError(isUnavailable(thrown) ? "database_unavailable" : "internal", {}, { cause: thrown });
}

/** Logs an unexpected error with its cause; the response carries the request id alone. */
export function logUnexpected(
  { log, request_id }: { log: Pick<Logger, "error">; request_id: string },
  error: AppError,
  where: Record<string, unknown> = {},
): void {
  if (UNEXPECTED.has(error.code) && error.cause !== undefined)
    log.error({ request_id, ...where, err: error.cause }, "unexpected error");
}

/** Failures of the server itself: their response has the request id, by which the log has the cause. */
const UNEXPECTED: ReadonlySet<ErrorCode> = new Set(["internal", "database_unavailable"]);

function fromZod(error: z.ZodError): AppError {
  const issue = error.issues[0];
  if (issue && isErrorCode(issue.message)) {
    const values = issue.code === "custom" ? ((issue.params ?? {}) as Record<string, string | number>) : {};
    if ("maximum" in issue) values.max = Number(issue.maximum);
    return new AppError(issue.message, values, { cause: error });
  }
  const detail = issue ? `${issue.path.join(".") || "input"} (${issue.message})` : "input";
  return new AppError("invalid_parameter", { detail }, { cause: error });
}

/** The /api response of a failure. Business failures are HTTP 200; a few have an own status. */
export function envelopeOf(error: AppError, lang: Lang, requestId: string): { status: number; body: object } {
  const fact: ErrorFact = errors[error.code];
  const status = fact.api_status ?? 200;
  const text = errorText(error.code, error.values, lang);
  const message = UNEXPECTED.has(error.code) && requestId !== "" ? `${text} (request id: ${requestId})` : text;
  return { status, body: { success: false, message, code: error.code } };
}
