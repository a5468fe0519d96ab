/**
 * How the models did in the last day, by the calls of all users; amounts for administrators alone, so that it may be
 * public.
 */

/** A figure of fewer calls than this is not shown: it would say more of a caller than of the model. */
export const FEWEST_CALLS = 5;
/** Hours that are shown. */
export const STATUS_HOURS = 24;

export interface ModelStatus {
  readonly model: string;
  /** Share of the calls that were answered, 0 to 1; a caller's own mistake does not count. null: too few calls. */
  readonly success: number | null;
  /** Mean milliseconds to the first content of streamed calls; null: too few. */
  readonly first_token_ms: number | null;
  /** Output tokens by second of the whole call; null: too few calls, or none with a second or more. */
  readonly tokens_per_second: number | null;
  /** The same three of each hour, the oldest first. */
  readonly hours: readonly (number | null)[];
  readonly first_token_hours: readonly (number | null)[];
  readonly speed_hours: readonly (number | null)[];
  /** Attempts at a channel that failed, though another may have served the call; null: not for this viewer. */
  readonly failed_attempts: number | null;
  /** Units that were charged in each hour; null: not for this viewer. */
  readonly quota_hours: readonly number[] | null;
}

export interface StatusBoard {
  /** Start of the first hour, epoch seconds. */
  readonly since: number;
  /** By name; models without enough calls come with empty figures. */
  readonly models: readonly ModelStatus[];
}
