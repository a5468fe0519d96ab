import { t } from "@lingui/core/macro";
import { TRPCClientError } from "@trpc/client";
import { navigate } from "wouter/use-browser-location";
import { loginPath } from "./login-path";
import { CallError, OutdatedPage } from "./http";
import { clearUser } from "./session";
import { toastError } from "./toast";

/** What went wrong, in words for the user. `status` is the HTTP status, 0 when no answer came. */
export interface Fault {
  /** `cancelled`: the call required a step-up (lib/step-up) and the user closed the dialog. */
  kind:
    | "signed-out"
    | "cancelled"
    | "too-many-requests"
    | "server"
    | "demo"
    | "unreachable"
    | "http"
    | "refused"
    | "outdated"
    | "bug";
  status: number;
  message: string;
  requestId: string | null;
}

/** Reads any thrown value; the texts are those of the error catalogue (shared/errors, D-75). */
export function faultOf(error: unknown): Fault {
  const { status, message, requestId, refused } = answerOf(error);
  const fault = (kind: Fault["kind"], text: string): Fault => ({ kind, status: status ?? 0, message: text, requestId });
  if (error instanceof OutdatedPage) return fault("outdated", t`控制台已更新，重新加载页面后继续`);
  if (appCodeOf(error) === "step_up_required") return fault("cancelled", message);
  if (status === null) return fault("bug", message);
  if (status === 0) return fault("unreachable", t`无法连接到服务器`);
  if (status === 401) return fault("signed-out", t`未登录或登录已过期，请重新登录！`);
  if (status === 429) return fault("too-many-requests", t`请求过于频繁，请稍后再试`);
  if (status === 500) return fault("server", t`服务器内部错误，请联系管理员`);
  if (status === 405) return fault("demo", t`本站仅供演示，没有服务端`);
  if (refused) return fault("refused", message);
  return fault("http", t`错误：${message || status}`);
}

/**
 * Shows what went wrong, once: ten calls that fail for the same reason make one toast. A 401 forgets the user and leads
 * to the login page, which leads back here; nothing else signs the user out.
 *
 * `quiet` leaves out the server's message, for pages that show it themselves (ErrorPanel).
 */
export function reportError(error: unknown, { quiet = false }: { quiet?: boolean } = {}): void {
  const fault = faultOf(error);
  if (fault.kind === "signed-out") return signOutExpired(fault);
  if (fault.kind === "cancelled") return;
  const shownByPage = fault.kind === "refused" || fault.kind === "http" || fault.kind === "bug";
  if (quiet && shownByPage) return;
  if (fault.kind === "bug") console.error(error);
  toastError(fault.message, { id: shownByPage ? fault.message : fault.kind });
}

function signOutExpired(fault: Fault): void {
  clearUser();
  if (location.pathname === "/login") toastError(fault.message, { id: fault.kind });
  else navigate(loginPath(location, { expired: true }), { replace: true });
}

/** The code of the server's error, as in shared/errors; null when it did not name one. */
export function appCodeOf(error: unknown): string | null {
  if (error instanceof CallError) return error.code;
  return error instanceof TRPCClientError ? textOf(error.data, "app") : null;
}

interface Answer {
  /** null: no call was involved, the program itself failed. */
  status: number | null;
  message: string;
  requestId: string | null;
  /** True when the server understood the call and said why not. */
  refused: boolean;
}

function answerOf(error: unknown): Answer {
  if (error instanceof CallError) {
    return { status: error.status, message: error.message, requestId: error.requestId, refused: error.status === 200 };
  }
  if (error instanceof TRPCClientError) {
    if (error.cause instanceof CallError) return answerOf(error.cause);
    const data: unknown = error.data;
    const response: unknown = error.meta?.["response"];
    const requestId =
      textOf(data, "request_id") ?? (response instanceof Response ? response.headers.get("x-request-id") : null);
    const httpStatus = numberOf(data, "httpStatus");
    if (httpStatus !== null) return { status: httpStatus, message: error.message, requestId, refused: true };
    // No tRPC error came: either an answer of something else (a proxy, an empty 429), or no answer at all.
    const status = response instanceof Response ? response.status : 0;
    const message = response instanceof Response ? response.statusText : error.message;
    return { status: status === 200 ? 500 : status, message, requestId, refused: false };
  }
  return {
    status: null,
    message: error instanceof Error ? error.message : String(error),
    requestId: null,
    refused: false,
  };
}

function numberOf(value: unknown, key: string): number | null {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return typeof found === "number" ? found : null;
}

function textOf(value: unknown, key: string): string | null {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return typeof found === "string" ? found : null;
}
