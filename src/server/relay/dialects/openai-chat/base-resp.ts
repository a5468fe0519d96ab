/**
 * MiniMax tells its errors inside answers of status 200: base_resp: {status_code, status_msg}, 0 where all is well
 * (platform.minimax.io/docs/api-reference/errorcode, read November 2026).
 */
import { isObject } from "../../json";
import type { WireError } from "../../events";

/** The vendor's numbers in the words that failures are classified by. */
const kinds: Readonly<Record<number, string>> = {
  1002: "rate_limit_exceeded",
  1004: "invalid_api_key",
  1008: "insufficient_balance",
  1041: "rate_limit_exceeded",
  2049: "invalid_api_key",
  2056: "rate_limit_exceeded",
};

/** undefined where the body tells of no error. */
export function readBaseResp(body: Readonly<Record<string, unknown>>): WireError | undefined {
  const { base_resp } = body;
  if (!isObject(base_resp) || typeof base_resp.status_code !== "number" || base_resp.status_code === 0) return undefined;
  const { status_code, status_msg } = base_resp;
  const message = typeof status_msg === "string" ? status_msg : "";
  return { message, type: kinds[status_code] ?? "", code: String(status_code), param: null };
}
