/** What a charged call adds to its hour besides its count, its charge and its tokens. */
import type { Tables } from "../../db/schema";

type HourRow = Tables["usage_hourly"]["$inferInsert"];
export type CallFigures = Required<Pick<HourRow, "upstream_cost" | "costed_quota" | "first_token_ms" | "first_tokens">>;

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
