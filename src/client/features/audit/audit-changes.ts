/** What an act changed: the members of its JSON before and after that differ. */
import { formatTime } from "../../lib/format";

export interface Change {
  field: string;
  before: string;
  after: string;
}

function members(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text || "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Members that are times in epoch seconds; 0 = none. */
const TIMES = /_(?:at|time|since|until|deadline)$/;

function shown(field: string, value: unknown): string {
  if (value === undefined) return "";
  if (TIMES.test(field) && typeof value === "number" && value > 0) return formatTime(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Field by field; undefined where one side is no object. */
export function changesOf(before: string, after: string): Change[] | undefined {
  const [old, now] = [members(before), members(after)];
  if (!old || !now) return undefined;
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .map((field) => ({ field, before: shown(field, old[field]), after: shown(field, now[field]) }))
    .filter((change) => change.before !== change.after);
}

/** In one line: `name: old → new, weight: → 5`. */
export function changeLine(before: string, after: string): string {
  const changes = changesOf(before, after);
  if (!changes || changes.length === 0) return after || before;
  return changes
    .map((change) => `${change.field}: ${change.before === "" ? "" : `${change.before} `}→ ${change.after}`.trim())
    .join(", ");
}
