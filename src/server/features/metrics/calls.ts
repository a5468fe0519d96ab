/**
 * Counts of what the relay does. On the hot path only numbers are raised: a call costs one look-up of its series
 * (group, model, channel type) and of its operation; text is made at a scrape.
 */
import type { ErrorCode } from "../../../shared/errors";
import type { EndReason } from "../../../shared/log";
import type { Admitted, CallEnd, CallObserver } from "../../relay/call/call";
import type { PoolChannel } from "../../contracts/channel";

/**
 * Most series (group, model, channel type); calls beyond are counted as "other". Models are those that channels list.
 */
const MAX_SERIES = 2_000;
export const OTHER = "other";

/** Upper bounds in seconds. */
export const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600] as const;

export interface Series {
  readonly group: string;
  readonly model: string;
  readonly channel_type: string;
  readonly ends: Map<EndReason, number>;
  input: number;
  cached: number;
  output: number;
  /** Units charged. */
  units: number;
}

/** A histogram: `counts[i]` observations in the i-th bucket, the last beyond all bounds. */
export interface Distribution {
  readonly counts: number[];
  sum: number;
}

interface Times {
  duration: Distribution;
  first_content: Distribution;
}

const distribution = (): Distribution => ({ counts: new Array<number>(BUCKETS.length + 1).fill(0), sum: 0 });

function observe(into: Distribution, seconds: number): void {
  let i = 0;
  while (i < BUCKETS.length && seconds > (BUCKETS[i] ?? Infinity)) i++;
  into.counts[i] = (into.counts[i] ?? 0) + 1;
  into.sum += seconds;
}

const raise = <K>(map: Map<K, number>, key: K): void => void map.set(key, (map.get(key) ?? 0) + 1);

export class CallCounts implements CallObserver {
  readonly traces = false;
  readonly series = new Map<string, Series>();
  /** By operation. */
  readonly times = new Map<string, Times>();
  /** By channel type, then by failure class; "ok" for an attempt that was answered. */
  readonly attempts = new Map<string, Map<string, number>>();
  readonly refusals = new Map<ErrorCode, number>();

  attempted({ type }: PoolChannel, outcome: string): void {
    let outcomes = this.attempts.get(type.key);
    if (!outcomes) this.attempts.set(type.key, (outcomes = new Map()));
    raise(outcomes, outcome);
  }

  ended(
    { asked, progress }: Pick<Admitted, "asked" | "progress">,
    { attempt, end_reason, quota, usage }: CallEnd,
  ): void {
    const { request, engine, operation } = asked;
    const { began, first_content_at } = progress;
    const { group } = attempt?.caller ?? asked.caller;
    const series = this.#seriesOf(group, request.model, attempt?.channel.type.key ?? "");
    raise(series.ends, end_reason);
    series.units += quota;
    if (usage) {
      const cached = usage.cache_read ?? 0;
      series.cached += cached;
      series.input +=
        cached +
        (usage.input ?? 0) +
        (usage.cache_write_5m ?? 0) +
        (usage.cache_write_1h ?? 0) +
        (usage.audio_in ?? 0) +
        (usage.image_in ?? 0);
      series.output += (usage.output ?? 0) + (usage.reasoning ?? 0) + (usage.audio_out ?? 0) + (usage.image_out ?? 0);
    }
    let times = this.times.get(operation.key);
    if (!times) this.times.set(operation.key, (times = { duration: distribution(), first_content: distribution() }));
    observe(times.duration, Math.max(0, engine.controlPlane.now() - began) / 1000);
    if (first_content_at >= 0) observe(times.first_content, Math.max(0, first_content_at - began) / 1000);
  }

  refused(code: ErrorCode): void {
    raise(this.refusals, code);
  }

  #seriesOf(group: string, model: string, channel_type: string): Series {
    const key = `${group}\n${model}\n${channel_type}`;
    const known = this.series.get(key);
    if (known) return known;
    if (this.series.size >= MAX_SERIES && group !== OTHER) return this.#seriesOf(OTHER, OTHER, OTHER);
    const fresh: Series = { group, model, channel_type, ends: new Map(), input: 0, cached: 0, output: 0, units: 0 };
    this.series.set(key, fresh);
    return fresh;
  }
}
