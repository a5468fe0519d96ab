/** What a vendor takes less of than its dialect allows (shared/channel-types): brought into its range, or left out. */
import type { ChannelType } from "../../shared/channel-types";
import type { Warning } from "./events";
import { isObject, tryParse, withMembers } from "./json";
import type { Bytes } from "./sse";

const names = (body: Bytes, member: string): boolean => body.includes(`"${member}"`);

/** A body of OpenAI's chat as the vendor of `type` takes it for a model of that name. Bodies that need no change are not read. */
export function fitted(type: ChannelType, model: string, body: Bytes): { body: Bytes; warnings: Warning[] } {
  const { max_top_p, refuses } = type;
  const refused = refuses?.models.test(model) ? refuses.members.filter((member) => names(body, member)) : [];
  if (refused.length === 0 && (max_top_p === undefined || !names(body, "top_p"))) return { body, warnings: [] };
  const parsed = tryParse(body);
  if (!isObject(parsed)) return { body, warnings: [] };
  const dropped = refused.filter((member) => parsed[member] !== undefined);
  if (dropped.length > 0) {
    const rest = Object.fromEntries(Object.entries(parsed).filter(([name]) => !dropped.includes(name)));
    return { body: Buffer.from(JSON.stringify(rest)), warnings: dropped.map((detail) => ({ code: "dropped_field", detail })) };
  }
  if (max_top_p === undefined || typeof parsed.top_p !== "number" || parsed.top_p <= max_top_p) return { body, warnings: [] };
  return { body: withMembers(body, { top_p: max_top_p }), warnings: [{ code: "changed_value", detail: "top_p" }] };
}
