/** How calls, of a channel its attempts, went: sums of an hour, and the figures that are read from them. */

/** Sums of one hour, so that hours and channels can be added up. */
export interface HealthHour {
  /** Epoch seconds, start of the hour. */
  hour: number;
  /** All calls, and those of them that failed in the end; of a channel all attempts, and those that failed there. */
  calls: number;
  errors: number;
  /** Units. */
  quota: number;
  /** Prompt and completion. */
  tokens: number;
  completion_tokens: number;
  /** Seconds of the served calls. */
  use_time: number;
  /** Milliseconds to the first content, summed over the calls that tell them, and how many do. */
  first_token_ms: number;
  first_tokens: number;
}

export type HealthSums = Omit<HealthHour, "hour">;

export const NO_CALLS: Readonly<HealthSums> = {
  calls: 0,
  errors: 0,
  quota: 0,
  tokens: 0,
  completion_tokens: 0,
  use_time: 0,
  first_token_ms: 0,
  first_tokens: 0,
};

const NAMES = Object.keys(NO_CALLS) as (keyof HealthSums)[]; // exactly its own

/** Hours, or the same hour of several channels, as one. */
export function addUp(hours: readonly HealthSums[]): HealthSums {
  const all = { ...NO_CALLS };
  for (const hour of hours) for (const name of NAMES) all[name] += hour[name];
  return all;
}

const tenths = (value: number): number => Math.round(value * 10) / 10;

/** Share of the calls that were answered, 0 to 1; null without calls. */
export const successOf = ({ calls, errors }: Pick<HealthSums, "calls" | "errors">): number | null =>
  calls === 0 ? null : (calls - errors) / calls;

/** Mean duration of a served call in seconds; null without any. */
export const durationOf = ({ calls, errors, use_time }: Pick<HealthSums, "calls" | "errors" | "use_time">) =>
  calls === errors ? null : tenths(use_time / (calls - errors));

/** Mean milliseconds to the first content of streamed calls; null without any. */
export const firstTokenOf = ({ first_token_ms, first_tokens }: Pick<HealthSums, "first_token_ms" | "first_tokens">) =>
  first_tokens === 0 ? null : Math.round(first_token_ms / first_tokens);

/** Output tokens by second of the whole call; null without a call of a second or more. */
export const speedOf = ({ completion_tokens, use_time }: Pick<HealthSums, "completion_tokens" | "use_time">) =>
  use_time === 0 ? null : tenths(completion_tokens / use_time);

export type Health = "good" | "poor" | "bad" | "unknown";

/** What a share of answered calls says of health. */
export function healthOf(share: number | null): Health {
  if (share === null) return "unknown";
  return share >= 0.95 ? "good" : share >= 0.8 ? "poor" : "bad";
}
