/** What routing by score knew of a channel when a call was routed. */
export interface ScoreFactors {
  readonly channel: number;
  /** Usual milliseconds to the first content (of the whole answer where it is not streamed); null: not measured. */
  readonly first_token_ms: number | null;
  /** Share of the last calls that were answered, 0 to 1. */
  readonly success: number;
  /** Share of its concurrent calls that is free, 0 to 1; 1 where it has no such limit. */
  readonly free: number;
  /** What a typical call costs there, in billionths of a dollar; null: not known. */
  readonly cost: number | null;
  /** Made of the others: milliseconds, weighed. Less is better. */
  readonly score: number;
}

/** How the channels of one priority are chosen from (option GroupRouting); absent: "weight". */
export const GROUP_ROUTINGS = ["weight", "score"] as const;
export type GroupRouting = (typeof GROUP_ROUTINGS)[number];
