/**
 * What may leave the server of a log row. Which channels were tried is the operator's business: administrators alone
 * see it.
 */
import { LOG_FIELDS, type LogView, OWN_LOG_FIELDS } from "../../../shared/log-list";
import { pick } from "../../../shared/pick";
import type { LogRow } from "../../db/schema";

export const presentForAdmin = (row: LogRow): LogView => pick(row, LOG_FIELDS);

/** For the row's own user: without channel, attempts and the upstream's request id. */
export const presentForOwner = (row: LogRow): LogView => ({
  ...pick(row, OWN_LOG_FIELDS),
  channel: 0,
  channel_name: "",
  upstream_request_id: "",
  other: withoutAdminInfo(row.other),
});

/** `other` without admin_info; a text that is not a JSON object is withheld. */
export function withoutAdminInfo(other: string): string {
  if (other === "") return "";
  let value: unknown;
  try {
    value = JSON.parse(other);
  } catch {
    return "";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "";
  const { admin_info: _admin, ...rest } = value as Record<string, unknown>;
  return JSON.stringify(rest);
}
