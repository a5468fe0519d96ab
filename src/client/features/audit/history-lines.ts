/** A change of a history in lines that can be read: members of tables one by one, of lists what came and went. */
import { type HistoryEntry, membersOf } from "../../../shared/history";

export interface HistoryLine {
  /** The member, or for a member of a table that and the one inside it. */
  path: readonly string[];
  /** '' = there was none. */
  before: string;
  after: string;
}

/** Fields of a channel that are lists with commas. */
const LISTS: ReadonlySet<string> = new Set(["models", "group"]);

const shown = (value: unknown): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);

const tableOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "string" ? membersOf(value) : membersOf(JSON.stringify(value ?? null));

function linesOf(path: readonly string[], before: unknown, after: unknown): HistoryLine[] {
  const [old, now] = [tableOf(before), tableOf(after)];
  // An empty text stands for an empty table.
  if ((old && (now || !after)) || (now && !before)) {
    const [left, right] = [old ?? {}, now ?? {}];
    return [...new Set([...Object.keys(left), ...Object.keys(right)])]
      .filter((name) => JSON.stringify(left[name]) !== JSON.stringify(right[name]))
      .map((name) => ({ path: [...path, name], before: shown(left[name]), after: shown(right[name]) }));
  }
  if (LISTS.has(path[0] ?? "")) {
    const [had, has] = [shown(before).split(",").filter(Boolean), shown(after).split(",").filter(Boolean)];
    const [gone, come] = [had.filter((name) => !has.includes(name)), has.filter((name) => !had.includes(name))];
    // Only the order differs.
    if (gone.length + come.length > 0) return [{ path, before: gone.join(", "), after: come.join(", ") }];
  }
  return [{ path, before: shown(before), after: shown(after) }];
}

/** The members that a change has changed; none for one that has no two sides (a creation, a deletion). */
export function historyLines({ before, after }: Pick<HistoryEntry, "before" | "after">): HistoryLine[] {
  const [old, now] = [membersOf(before), membersOf(after)];
  if (!old || !now) return [];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((name) =>
    JSON.stringify(old[name]) === JSON.stringify(now[name]) && old[name] !== undefined
      ? [{ path: [name], before: "", after: shown(now[name]) }]
      : linesOf([name], old[name], now[name]),
  );
}
