/**
 * Routing by score, for groups that ask for it (option GroupRouting): which of the channels of one priority a call goes
 * to, by what calls of the last minutes have shown. Two channels are drawn and compared ("power of two choices"), so
 * that a single best one is not overrun; the worse one still gets a few calls, because only they show that it is well
 * again.
 *
 * The score of a channel is the time until its first content, divided by its success, multiplied by what it costs and
 * by how busy it is: less is better. In memory, of this process; pure but for the clock and the numbers it is given.
 */
import { canonicalModel } from "../../../shared/channel-types";
import { costOf } from "../../../shared/cost";
import type { CurrencyRates } from "../../../shared/currency-rates";
import type { ScoreFactors } from "../../../shared/score-factors";
import type { PoolChannel } from "../../contracts/channel";

/** The part of a new measurement in the mean of a channel. */
const SHARE_OF_NEW = 0.2;
/** Scores within this ratio count as equal: what is measured varies as much by itself. */
const SAME = 1.25;
/** How decidedly the better one is preferred: the ratio of two scores to this power. */
const DECISION = 4;
/** The least probability of the worse of two. */
const LEAST = 0.03;
/** A channel without a call for so long is not known any more. */
const FORGET_MS = 600_000;
const MOST_ENTRIES = 20_000;
/** Input tokens that a vendor reads in a millisecond: what a conversation waits longer where its cache is not. */
const READ_PER_MS = 5;
/** Price of a call, for comparing: so many tokens in and out. */
const TYPICAL = { input: 3000, output: 500 };
const PRICE_KEPT_MS = 60_000;

interface Entry {
  /** Mean of the logarithms of milliseconds; undefined: none measured. */
  log_ms: number | undefined;
  /** 0 to 1. */
  success: number;
  /** Epoch milliseconds of the last measurement. */
  at: number;
}

/** The calls that are compared: their model, and whether they are streamed, which decides when content comes. */
export interface ScoredCall {
  readonly model: string;
  readonly stream: boolean;
  /** Input in tokens, estimated; undefined: not known. */
  readonly input?: number | undefined;
}

export class ChannelScores {
  readonly #entries = new Map<string, Entry>();
  /** Channel -> calls that run. */
  readonly #running = new Map<number, number>();
  readonly #prices = new WeakMap<PoolChannel, Map<string, { at: number; cost: number | null }>>();

  constructor(
    readonly now: () => number,
    readonly rates: () => CurrencyRates = () => ({}),
  ) {}

  began(channel: number): void {
    this.#running.set(channel, (this.#running.get(channel) ?? 0) + 1);
  }

  ended(channel: number): void {
    const left = (this.#running.get(channel) ?? 1) - 1;
    if (left > 0) this.#running.set(channel, left);
    else this.#running.delete(channel);
  }

  /** A call got its first content after `ms`, or failed (undefined) through no fault of its caller. */
  measured(channel: number, call: ScoredCall, ms: number | undefined): void {
    const entry = this.#entry(channel, call) ?? this.#add(channel, call);
    const mix = (old: number, value: number): number => old + SHARE_OF_NEW * (value - old);
    if (ms !== undefined) {
      const log_ms = Math.log(Math.max(1, ms));
      entry.log_ms = entry.log_ms === undefined ? log_ms : mix(entry.log_ms, log_ms);
    }
    entry.success = mix(entry.success, ms === undefined ? 0 : 1);
    entry.at = this.now();
  }

  /** The channel runs as many calls as its limit of concurrent calls allows. */
  isFull({ id, limits }: PoolChannel): boolean {
    const most = limits?.concurrency ?? 0;
    return most > 0 && (this.#running.get(id) ?? 0) >= most;
  }

  /** The factors of each channel, in their order. What is not known of one is taken to be as in the others. */
  factors(channels: readonly PoolChannel[], call: ScoredCall): ScoreFactors[] {
    const known = channels.map((channel) => this.#entry(channel.id, call));
    const times = known.map((entry) => (entry?.log_ms === undefined ? undefined : Math.exp(entry.log_ms)));
    const costs = channels.map((channel) => this.#cost(channel, call.model));
    const [usualTime, usualCost] = [median(times) ?? 1, median(costs) ?? 1];
    return channels.map((channel, i) => {
      const success = known[i]?.success ?? 1;
      const free = this.#free(channel);
      const dear = usualCost > 0 ? (costs[i] ?? usualCost) / usualCost : 1;
      // A call that fails costs another attempt; a price counts half as much as time.
      const score = (times[i] ?? usualTime) / Math.max(0.05, success) ** 2 / Math.max(0.1, free);
      return {
        channel: channel.id,
        first_token_ms: times[i] === undefined ? null : Math.round(times[i]),
        success: Math.round(success * 1000) / 1000,
        free: Math.round(free * 1000) / 1000,
        cost: costs[i] ?? null,
        score: Math.round(score * Math.sqrt(Math.max(0.01, dear)) * 10) / 10,
      };
    });
  }

  /** Two of the channels are drawn by weight, and one of them by score. `factors`: of the channels, in their order. */
  draw(
    channels: readonly PoolChannel[],
    factors: readonly ScoreFactors[],
    random: () => number,
  ): PoolChannel | undefined {
    if (channels.length < 2) return channels[0];
    const first = Math.floor(random() * channels.length);
    const other = Math.floor(random() * (channels.length - 1));
    const second = other < first ? other : other + 1;
    const ahead = chance(channels, factors, first, second);
    return channels[random() < ahead ? first : second];
  }

  /** The probability of each channel to be drawn. */
  shares(channels: readonly PoolChannel[], factors: readonly ScoreFactors[]): number[] {
    if (channels.length < 2) return channels.map(() => 1);
    const pairs = (channels.length * (channels.length - 1)) / 2;
    return channels.map((_, i) =>
      channels.reduce((sum, __, j) => (i === j ? sum : sum + chance(channels, factors, i, j) / pairs), 0),
    );
  }

  /**
   * Whether a conversation stays on its channel: it leaves only for one that is clearly better, by more than the time
   * in which the other vendor reads the input that is in a cache here.
   */
  keeps(channel: PoolChannel, factors: readonly ScoreFactors[], { input = 0 }: ScoredCall): boolean {
    const own = factors.find(({ channel: id }) => id === channel.id);
    const best = factors.reduce<ScoreFactors | undefined>(
      (least, one) => (least && least.score <= one.score ? least : one),
      undefined,
    );
    if (!own || !best || own.score <= best.score * SAME) return true;
    return own.score - best.score <= input / READ_PER_MS;
  }

  #free({ id, limits }: PoolChannel): number {
    const most = limits?.concurrency ?? 0;
    return most > 0 ? Math.max(0, 1 - (this.#running.get(id) ?? 0) / most) : 1;
  }

  #entry(channel: number, call: ScoredCall): Entry | undefined {
    const key = keyOf(channel, call);
    const entry = this.#entries.get(key);
    if (!entry || this.now() - entry.at < FORGET_MS) return entry;
    this.#entries.delete(key);
    return undefined;
  }

  #add(channel: number, call: ScoredCall): Entry {
    if (this.#entries.size >= MOST_ENTRIES) this.#entries.clear();
    const entry: Entry = { log_ms: undefined, success: 1, at: this.now() };
    this.#entries.set(keyOf(channel, call), entry);
    return entry;
  }

  /** What a typical call costs at the channel, in billionths of a dollar; null: not known. */
  #cost(channel: PoolChannel, model: string): number | null {
    let prices = this.#prices.get(channel);
    if (!prices) this.#prices.set(channel, (prices = new Map()));
    const known = prices.get(model);
    const moment = this.now();
    if (known && moment - known.at < PRICE_KEPT_MS) return known.cost;
    const name = canonicalModel(channel.model_mapping.get(model) ?? model);
    const cost = costOf(channel.setting, { model: name, moment, usage: TYPICAL }, this.rates());
    prices.set(model, { at: moment, cost });
    return cost;
  }
}

const keyOf = (channel: number, { model, stream }: ScoredCall): string => `${channel} ${stream ? "s" : "w"} ${model}`;

function median(values: readonly (number | null | undefined)[]): number | undefined {
  const known = values.filter((value) => typeof value === "number").toSorted((a, b) => a - b);
  return known[Math.floor(known.length / 2)];
}

/** The probability that a call goes to the first of two channels. */
function chance(
  channels: readonly PoolChannel[],
  factors: readonly ScoreFactors[],
  first: number,
  second: number,
): number {
  const [a, b] = [factors[first]?.score ?? 1, factors[second]?.score ?? 1];
  const ratio = Math.max(a, b) / Math.max(0.1, Math.min(a, b));
  const worse = ratio <= SAME ? 0.5 : Math.max(LEAST, 1 / (1 + (ratio / SAME) ** DECISION));
  const even = a <= b ? 1 - worse : worse;
  // Weights tilt the choice between the two; all of them 0: none does.
  const [one, other] = [channels[first]?.weight ?? 0, channels[second]?.weight ?? 0];
  const weighted = even * one + (1 - even) * other;
  return weighted > 0 ? (even * one) / weighted : even;
}
