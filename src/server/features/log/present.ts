/**
 * What may leave the server of a log row, in its reader's language. Which channels were tried is the operator's
 * business: administrators alone see it.
 */
import { LOG_FIELDS, type LogView, OWN_LOG_FIELDS } from "../../../shared/log-list";
import { textColumns, textOfRow, toldText } from "../../../shared/log-text";
import { pick } from "../../../shared/pick";
import { rowText } from "../../../shared/row-text";
import type { Lang } from "../../../shared/text";
import type { LogRow } from "../../db/schema";

/** How its reader sees texts and amounts of units. */
export interface LogReader {
  lang: Lang;
  units(amount: number): string;
}

export function presentForAdmin(row: LogRow, reader: LogReader): LogView {
  const { upstream_cost, ...view } = pick(row, LOG_FIELDS);
  return {
    ...view,
    ...(upstream_cost !== null && { upstream_cost }),
    content: rowText(row, reader.lang, reader.units),
  };
}

/** For the row's own user: without channel, attempts, the cause of a failure and the upstream's request id. */
export function presentForOwner(row: LogRow, reader: LogReader): LogView {
  const text = textOfRow(row);
  const { code, params } = textColumns(text && toldText(text));
  const { type, content, other } = row;
  return {
    ...pick(row, OWN_LOG_FIELDS),
    content: rowText({ type, content, code, params, other }, reader.lang, reader.units),
    code,
    params,
    channel: 0,
    channel_name: "",
    upstream_request_id: "",
    other: withoutAdminInfo(row.other),
  };
}

function objectOf(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json || "null");
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** `other` without admin_info; a text that is not a JSON object is withheld. */
export function withoutAdminInfo(other: string): string {
  const facts = objectOf(other);
  if (!facts) return "";
  const { admin_info: _admin, ...rest } = facts;
  return JSON.stringify(rest);
}
