/** What a vendor takes less of than its dialect allows (shared/channel-types), brought into its range. */
import type { ChannelType } from "../../shared/channel-types";
import type { Warning } from "./events";
import { isObject, tryParse, withMembers } from "./json";
import type { Bytes } from "./sse";

/** A body of OpenAI's chat as the vendor of `type` takes it. Bodies that need no change are not read. */
export function fitted(type: ChannelType, body: Bytes): { body: Bytes; warnings: Warning[] } {
  const { max_top_p } = type;
  if (max_top_p === undefined || !body.includes('"top_p"')) return { body, warnings: [] };
  const parsed = tryParse(body);
  const asked = isObject(parsed) ? parsed.top_p : undefined;
  if (typeof asked !== "number" || asked <= max_top_p) return { body, warnings: [] };
  return { body: withMembers(body, { top_p: max_top_p }), warnings: [{ code: "changed_value", detail: "top_p" }] };
}
