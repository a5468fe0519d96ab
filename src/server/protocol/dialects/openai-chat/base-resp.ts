/**
 * MiniMax writes its errors inside answers of status 200: base_resp: {status_code, status_msg}, 0 where all is well
 * (platform.minimax.io/docs/api-reference/errorcode, read November 2026).
 */
import { isObject } from "../../../lib/json-bytes";
import type { WireError } from "../../chat-events";
import { type ErrorKind, wireError } from "../shared/error-kind";

const kinds: Readonly<Record<string, ErrorKind>> = {
  1002: "rate",
  1004: "authentication",
  1008: "quota",
  1041: "rate",
  2013: "caller",
  2049: "authentication",
  2056: "rate",
};

/** undefined where the body has no error. */
export function readBaseResp(body: Readonly<Record<string, unknown>>): WireError | undefined {
  const { base_resp } = body;
  if (!isObject(base_resp) || typeof base_resp.status_code !== "number" || base_resp.status_code === 0)
    return undefined;
  const { status_code, status_msg } = base_resp;
  return wireError(typeof status_msg === "string" ? status_msg : "", String(status_code), (code) => kinds[code]);
}
