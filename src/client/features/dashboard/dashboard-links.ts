import type { DashboardItem, Dimension } from "../../../shared/dashboard";
import { LOG_TYPE } from "../../../shared/log";
import type { Range } from "./dashboard-range";

/** The filters of the log page that stand for an item; null when it has no name to filter by. */
function filtersOf(dimension: Dimension, { key, label }: DashboardItem): Record<string, string> | null {
  switch (dimension) {
    case "model":
      return key ? { model_name: key } : null;
    case "group":
      return key ? { group: key } : null;
    case "channel":
      return key ? { channel: key } : null;
    case "user":
      return label ? { username: label } : null;
    // By number: names of tokens are not unique, and change.
    case "token":
      return key ? { token_id: key } : null;
  }
}

/**
 * The log of a range, of one item, of one user, of errors alone. Null when the item cannot be named in a filter: the
 * log would show more than was meant.
 */
export function logLink(
  range: Range,
  of: { dimension?: Dimension; item?: DashboardItem; username?: string; errors?: boolean } = {},
): string | null {
  const filters = of.dimension && of.item ? filtersOf(of.dimension, of.item) : {};
  if (!filters) return null;
  const search = new URLSearchParams({
    // The log's end is a moment that still counts.
    start_timestamp: String(range.start),
    end_timestamp: String(range.end - 1),
    ...(of.errors ? { type: String(LOG_TYPE.error) } : {}),
    ...(of.username ? { username: of.username } : {}),
    ...filters,
  });
  return `/log?${search}`;
}
