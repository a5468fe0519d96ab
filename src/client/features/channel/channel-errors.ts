/** The last errors of a channel, grouped by the upstream's message. */
import type { LogView } from "../../../shared/log-list";
import { attemptsOf, readDetails } from "../log/log-details";
import { textOf } from "../log/row-text";

export interface ErrorGroup {
  /** HTTP status of the upstream, 0 when it gave none. */
  status: number;
  /** The upstream's message; without one, the row's. */
  message: string;
  count: number;
  /** Epoch seconds of the newest. */
  last: number;
}

/**
 * Rows are newest first; so are the groups. A row whose attempts at this channel are not known counts by its own words.
 */
export function groupErrors(channel: number, rows: readonly LogView[]): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>();
  for (const row of rows) {
    const attempt = attemptsOf(readDetails(row.other)).findLast((one) => one.channel === channel && one.failure !== "");
    const status = attempt?.status ?? 0;
    const message = attempt?.message || textOf(row) || attempt?.failure || "";
    const key = `${status} ${message}`;
    const known = groups.get(key);
    if (known) known.count += 1;
    else groups.set(key, { status, message, count: 1, last: row.created_at });
  }
  return [...groups.values()];
}
