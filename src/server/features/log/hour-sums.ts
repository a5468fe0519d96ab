/** What a charged call adds to its hour besides its count, its charge and its tokens. */
import type { Tables } from "../../db/schema";

type HourRow = Tables["usage_hourly"]["$inferInsert"];
type HourlyLog = Tables["logs"]["$inferInsert"];
export type CallFigures = Required<Pick<HourRow, "upstream_cost" | "costed_quota" | "first_token_ms" | "first_tokens">>;

const HOUR_KEY_NAMES = ["hour", "user_id", "token_id", "channel", "model_name", "group"];
const SUM_NAMES = [
  ...["count", "quota", "prompt_tokens", "completion_tokens", "use_time"],
  ...["upstream_cost", "costed_quota", "first_token_ms", "first_tokens"],
];
const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

/** The key of usage_hourly, as SQL. */
const HOUR_KEY = quoted(HOUR_KEY_NAMES);
/** What a charge writes of usage_hourly, as SQL: the key, the user's name, the sums. */
export const HOUR_COLUMNS = quoted([...HOUR_KEY_NAMES, "username", ...SUM_NAMES]);
/** The end of an INSERT INTO usage_hourly AS h: a row that is there gets the sums of the new one. */
export const ADDED_TO_HOUR = `ON CONFLICT (${HOUR_KEY}) DO UPDATE SET username = excluded.username, ${SUM_NAMES.map((name) => `"${name}" = h."${name}" + excluded."${name}"`).join(", ")}`;

/**
 * `upstream_cost`: billionths of a dollar, null where it is not known. `first_token_ms`: milliseconds to the first
 * content, below 0 where the row tells none (calls that are not streamed).
 */
export const figuresOf = (quota: number, upstream_cost: number | null, first_token_ms: number): CallFigures => ({
  upstream_cost: upstream_cost ?? 0,
  costed_quota: upstream_cost === null ? 0 : quota,
  first_token_ms: Math.max(0, first_token_ms),
  first_tokens: first_token_ms < 0 ? 0 : 1,
});

/**
 * Milliseconds to the first content in the JSON of a row's `other`, -1 without. Inside a text of JSON a quote is
 * escaped, so the name with its quotes is the member.
 */
export function firstTokenIn(other: string | undefined): number {
  const digits = /"frt":(\d{1,15})/.exec(other ?? "")?.[1];
  return digits === undefined ? -1 : Number(digits);
}

/** Milliseconds to the first content of a charge, below 0 where it tells none. */
export const firstTokenOf = ({ is_stream = false, other }: Pick<HourlyLog, "is_stream" | "other">): number =>
  is_stream ? firstTokenIn(other) : -1;
