/** The history of one thing (a channel, settings, a price): what changed it, and what its values were before. */
import * as z from "zod";

/** Stands in the audit log where a secret stood. */
export const SECRET_BLOT = "••••••";

/** Entries of one page of a history. */
export const HISTORY_PAGE = 20;

export interface HistoryEntry {
  /** Of its row in the audit log. */
  id: number;
  /** Epoch seconds. */
  created_at: number;
  actor_name: string;
  /** One of AUDIT_ACTIONS. */
  action: string;
  /** Id of the channel, or key of the setting. */
  target_id: string;
  /** JSON of the members that differ, or ''. A secret is blotted out. */
  before: string;
  after: string;
  /** Whether the values before it can be put back. */
  restorable: boolean;
}

export interface History {
  /** Newest first. */
  items: HistoryEntry[];
  /** `before` of the next page; absent on the last. */
  next?: number;
}

/** `next` of the page before. */
const before = z.int().positive().nullish();

export const channelHistoryInput = z.object({ id: z.int().positive(), cursor: before });
export const optionHistoryInput = z.object({
  keys: z.array(z.string().max(100)).min(1).max(100),
  /** Only changes of this member of a table, such as a model's price. */
  member: z.string().min(1).max(300).optional(),
  cursor: before,
});
/** REST: of one setting. */
export const optionHistoryRest = optionHistoryInput.omit({ keys: true }).extend({ key: z.string().max(100) });

/** `entry`: id of the change whose values before it are put back. */
export const channelRestoreInput = z.object({ id: z.int().positive(), entry: z.int().positive() });
export const optionRestoreInput = z.object({
  key: z.string().max(100),
  entry: z.int().positive(),
  /** Of a table, this member alone. */
  member: z.string().min(1).max(300).optional(),
});

/** The members of a JSON object; undefined for other texts. */
export function membersOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** A value with the secrets that were blotted out of it taken from `now`; undefined where nothing of it is known. */
export function unblotted(value: unknown, now: unknown): unknown {
  if (typeof value === "string") {
    if (!value.includes(SECRET_BLOT)) return value;
    const [old, current] = [membersOf(value), typeof now === "string" ? membersOf(now) : undefined];
    return old ? JSON.stringify(withoutBlots(old, current ?? {})) : undefined;
  }
  return value;
}

function withoutBlots(old: Record<string, unknown>, now: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(old).flatMap(([name, value]) => {
      const kept = JSON.stringify(value)?.includes(SECRET_BLOT) ? now[name] : value;
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}
