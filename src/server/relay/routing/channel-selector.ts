/**
 * Chooses the channels of one call, one after the other, and explains the choice.
 *
 * Highest priority first; inside a tier a draw in proportion to weight, without replacement (all weights 0: equal
 * shares; a weight of 0 beside positive ones waits until those are used up: C-662). A tier is exhausted before the next
 * one begins. A channel in cooldown is skipped while another is left; when all cool, the one that is free the soonest
 * is tried: real traffic is what ends a failure. One whose account failed, or whose upstream named a wait, is not tried
 * before its cooldown ends. With group auto the first group that has a channel out of cooldown comes first. In a group
 * that asks for it the draw inside a tier is by score (channel-scores.ts).
 */
import type { ErrorCode } from "../../../shared/errors";
import type { Closed, Cooldown } from "./cooldown";
import type { RelayStats } from "../../contracts/relay-stats";
import { draw, sharesOf } from "./draw";
import { closedFor, soonerOf, standingOf } from "./key-rotation";
import type { ScoreFactors } from "../../../shared/score-factors";
import type { ChannelScores, ScoredCall } from "./channel-scores";
import type { SessionAffinity } from "./session-affinity";
import type { PoolChannel } from "../../contracts/channel";
import type { PlannedChannel, CooldownState } from "../../contracts/dry-run";

/** Why a candidate was left out of the draw. */
export interface Skipped {
  channel: number;
  why: "draining" | "unsupported" | "elsewhere" | "too_long" | "cooling" | "probing" | "limited";
  /** For cooling: the cooldown left when the call began. For limited: when the limit allows calls again, if known. */
  remaining_ms?: number;
  /** For limited: the error that names the limit. */
  limit?: ErrorCode;
}

/** Stored with the log row for administrators. */
export interface SelectionRecord {
  candidates: number;
  /** Candidates by priority, highest first: ids and weights. */
  tiers: { priority: number; channels: { id: number; weight: number }[] }[];
  skipped: Skipped[];
  /** The conversation's previous channel, when affinity chose it. */
  sticky?: number;
  /** Group auto: the groups in the order in which this call used them. */
  groups?: readonly string[];
  /** Routing by score: what was known of the channels that the first one was drawn from. */
  scores?: readonly ScoreFactors[];
}

/** One group of a call whose token uses group auto. */
export interface Stage {
  group: string;
  candidates: readonly PoolChannel[];
}

export interface SelectionOptions {
  candidates: readonly PoolChannel[];
  model: string;
  /** The call's input in tokens, estimated from its size. */
  input?: number | undefined;
  cooldown: Cooldown;
  /** The caller names the channel: it is tried whatever is known of its account. */
  pinned?: boolean | undefined;
  /** Whether the channel supports this operation. */
  supports(channel: PoolChannel): boolean;
  /** A number in [0, 1). */
  random(): number;
  /** Group auto: the groups of `candidates` in order; a channel belongs to the first that has it. */
  stages?: readonly Stage[] | undefined;
  /** Routing by score; absent: by weight. */
  scoring?: Scoring | undefined;
}

/** How a call's channels are chosen by score. */
export interface Scoring {
  readonly scores: ChannelScores;
  readonly call: ScoredCall;
  /** Whether the group's channels are chosen by score; undefined: the only group of the call. */
  applies(group: string | undefined): boolean;
}

export class Selection {
  readonly #left: PoolChannel[] = [];
  readonly #skipped: Skipped[] = [];
  readonly #options: SelectionOptions;
  /** Channel -> index of its group. */
  readonly #groups: Map<PoolChannel, number> | undefined;
  #sticky: number | undefined;
  #preferred: number | undefined;
  #stats: RelayStats | undefined;
  /** Routing by score: what the first choice was made by, and the channel whose call runs. */
  #factors: readonly ScoreFactors[] | undefined;
  #running: number | undefined;

  constructor(options: SelectionOptions) {
    this.#options = options;
    if (options.stages) {
      const groups = new Map<PoolChannel, number>();
      options.stages.forEach(({ candidates }, stage) => {
        for (const channel of candidates) if (!groups.has(channel)) groups.set(channel, stage);
      });
      this.#groups = groups;
    }
    for (const channel of options.candidates) {
      const { max_input_tokens: most = 0 } = channel;
      const why = channel.drain
        ? "draining"
        : !options.supports(channel)
          ? "unsupported"
          : most > 0 && (options.input ?? 0) > most
            ? "too_long"
            : undefined;
      if (why) this.#skipped.push({ channel: channel.id, why });
      else this.#left.push(channel);
    }
  }

  /** The channel may be tried once more: one of its keys failed, and it has others. */
  requeue(channel: PoolChannel): void {
    this.#left.push(channel);
  }

  /** All channels that serve the model, whatever they support. */
  get candidates(): readonly PoolChannel[] {
    return this.#options.candidates;
  }

  /** When a channel may be tried, where none that is left may be now; undefined where one may, or none is left. */
  get closed(): Closed | undefined {
    let closed: Closed | undefined;
    for (const channel of this.#left) {
      const one = this.closedOf(channel);
      if (!one) return undefined;
      closed = soonerOf(closed, one);
    }
    return closed;
  }

  /** Some channel is usable except for the length of the input. */
  get tooLong(): boolean {
    return this.#skipped.some(({ why }) => why === "too_long");
  }

  /** Whether one of the channels that can still be tried is in no cooldown. */
  get ready(): boolean {
    return this.#left.some((channel) => this.#standing(channel) === "ready");
  }

  /** Some channel is usable, but drains. */
  get draining(): boolean {
    return this.#skipped.some(({ why }) => why === "draining");
  }

  /** Channels that can still be tried. */
  get left(): number {
    return this.#left.length;
  }

  /** The next channel to try, undefined when all that may be tried were. Never returns the same channel twice. */
  next(): PoolChannel | undefined {
    const [only] = this.#left;
    // Nothing to choose, as in most calls.
    if (only && this.#left.length === 1) {
      if (!this.#isOpen(only)) return undefined;
      this.#preferred = undefined;
      return this.#left.pop();
    }
    const open = this.#left.filter((channel) => this.#isOpen(channel));
    if (open.length === 0) return undefined;
    const awake = open.length === 1 ? open : open.filter((channel) => this.#isAwake(channel));
    const tier = this.#topTier(awake.length > 0 ? awake : this.#leastBad(open));
    const preferred = this.#preferred;
    const former = preferred === undefined ? undefined : tier.find((channel) => channel.id === preferred);
    const scoring = this.#scoringOf(tier);
    const known = scoring && former ? this.#keeps(scoring, tier, former) : former;
    const chosen = known ?? (scoring ? this.#drawn(scoring, tier) : draw(tier, this.#options.random));
    // Counts only a real choice: the preferred channel and others out of cooldown.
    if (known && tier.length > 1 && awake.includes(known)) {
      this.#sticky = known.id;
      if (this.#stats) this.#stats.sticky_hits++;
    }
    this.#preferred = undefined;
    if (chosen) this.#left.splice(this.#left.indexOf(chosen), 1);
    return chosen;
  }

  /** How the choice inside a tier is made; undefined: by weight. */
  #scoringOf(tier: readonly PoolChannel[]): Scoring | undefined {
    const { scoring } = this.#options;
    const [first] = tier;
    return scoring && first && tier.length > 1 && scoring.applies(this.groupOf(first)) ? scoring : undefined;
  }

  #keeps({ scores, call }: Scoring, tier: readonly PoolChannel[], former: PoolChannel): PoolChannel | undefined {
    const factors = (this.#factors ??= scores.factors(tier, call));
    return !scores.isFull(former) && scores.keeps(former, factors, call) ? former : undefined;
  }

  /** One of the channels, by score; one that is full only where all are. */
  #drawn({ scores, call }: Scoring, tier: readonly PoolChannel[]): PoolChannel | undefined {
    const open = tier.filter((channel) => !scores.isFull(channel));
    const among = open.length > 0 ? open : tier;
    const factors = scores.factors(among, call);
    this.#factors ??= factors;
    return scores.draw(among, factors, this.#options.random);
  }

  /** An attempt at a channel of this call began, by `attempt-record`. */
  began(channel: PoolChannel): void {
    const { scoring } = this.#options;
    if (!scoring) return;
    this.ended();
    this.#running = channel.id;
    scoring.scores.began(channel.id);
  }

  /** The running attempt got its first content after `ms`, or failed (undefined) through no fault of the caller. */
  measured(channel: PoolChannel, ms: number | undefined): void {
    const { scoring } = this.#options;
    scoring?.scores.measured(channel.id, scoring.call, ms);
  }

  /** The running attempt is over, its whole answer included. */
  ended(): void {
    if (this.#running === undefined) return;
    this.#options.scoring?.scores.ended(this.#running);
    this.#running = undefined;
  }

  /**
   * Every candidate in order of its tier; nothing is drawn. Inside a tier the draw decides, except for the
   * conversation's previous channel, which comes first.
   */
  plan(): PlannedChannel[] {
    const planned: PlannedChannel[] = [];
    const add = (channel: PoolChannel, turn: number, share: number, score?: ScoreFactors): void => {
      planned.push({
        ...(score && { score }),
        channel,
        group: this.groupOf(channel),
        standing: turn > 0 ? this.#standing(channel) : channel.drain ? "draining" : "unsupported",
        turn,
        share,
      });
    };
    const ready = this.#left.filter((channel) => this.#standing(channel) === "ready");
    let turn = 0;
    const cooling = this.#left
      .filter((channel) => !ready.includes(channel))
      .sort((a, b) => restOf(this.#standing(a)) - restOf(this.#standing(b)));
    for (let rest of [ready, ...cooling.map((channel) => [channel])]) {
      while (rest.length > 0) {
        const tier = this.#topTier(rest);
        turn++;
        const own = turn === 1 ? tier.find(({ id }) => id === this.#preferred) : undefined;
        const scoring = this.#scoringOf(tier);
        const factors = scoring?.scores.factors(tier, scoring.call);
        const kept = own && scoring && factors && !scoring.scores.keeps(own, factors, scoring.call) ? undefined : own;
        const drawn = scoring && factors ? scoring.scores.shares(tier, factors) : sharesOf(tier);
        const shares = kept ? tier.map((channel) => (channel === kept ? 1 : 0)) : drawn;
        tier.forEach((channel, i) => add(channel, turn, shares[i] ?? 0, factors?.[i]));
        rest = rest.filter((channel) => !tier.includes(channel));
      }
    }
    for (const channel of this.#options.candidates)
      if (!planned.some((known) => known.channel === channel)) add(channel, 0, 0);
    return planned;
  }

  /** The conversation's previous channel, when affinity puts it first. */
  get preferred(): number | undefined {
    return this.#preferred;
  }

  /** The channel that was drawn last is at its limit: it was not tried. */
  limited(channel: PoolChannel, limit: ErrorCode, remaining_ms: number): void {
    this.#skipped.push({ channel: channel.id, why: "limited", limit, remaining_ms });
    if (this.#sticky !== channel.id) return;
    this.#sticky = undefined;
    if (this.#stats) this.#stats.sticky_hits--;
  }

  /** The candidates of the first remaining group, and of its highest priority. */
  #topTier(from: readonly PoolChannel[]): readonly PoolChannel[] {
    const stage = this.#groups ? from.reduce((least, channel) => Math.min(least, this.#stageOf(channel)), Infinity) : 0;
    const open = this.#groups ? from.filter((channel) => this.#stageOf(channel) === stage) : from;
    const top = open.reduce((most, channel) => Math.max(most, channel.priority), -Infinity);
    return open.filter((channel) => channel.priority === top);
  }

  readonly #stageOf = (channel: PoolChannel): number => this.#groups?.get(channel) ?? 0;

  /** Group auto: the group that a channel is tried in. */
  groupOf(channel: PoolChannel): string | undefined {
    return this.#options.stages?.[this.#stageOf(channel)]?.group;
  }

  /**
   * Keeps only the channels that hold the object that the call refers to, with the key that holds it: `knower` is
   * undefined for the others.
   */
  restrictTo(knower: (channel: PoolChannel) => PoolChannel | undefined): void {
    for (const channel of this.#left.splice(0)) {
      const known = knower(channel);
      if (known) {
        this.#left.push(known);
        this.#groups?.set(known, this.#stageOf(channel));
      } else this.#skipped.push({ channel: channel.id, why: "elsewhere" });
    }
  }

  /**
   * Puts the conversation's previous channel first, if the draw would decide between it and others. It is forgotten
   * while in cooldown.
   */
  prefer(sticky: SessionAffinity, key: string, stats?: RelayStats): void {
    if (stats) stats.sticky_calls++;
    this.#stats = stats;
    const place = sticky.get(key);
    const channel = place === undefined ? undefined : this.#left.find(({ id }) => id === place);
    if (channel && this.#standing(channel) === "ready") this.#preferred = channel.id;
    else if (channel) sticky.delete(key);
  }

  #standing(channel: PoolChannel): CooldownState {
    return standingOf(this.#options.cooldown, channel, this.#options.model);
  }

  /** Whether no call may be sent to the channel now; undefined: it may. A pinned channel is always tried. */
  closedOf(channel: PoolChannel): Closed | undefined {
    const { pinned, cooldown, model } = this.#options;
    return pinned ? undefined : closedFor(cooldown, channel, model);
  }

  /** Of channels that all cool: those that are free the soonest. */
  #leastBad(channels: readonly PoolChannel[]): readonly PoolChannel[] {
    const rests = channels.map((channel) => restOf(this.#standing(channel)));
    const least = Math.min(...rests);
    return channels.filter((_, i) => rests[i] === least);
  }

  #isOpen(channel: PoolChannel): boolean {
    const closed = this.closedOf(channel);
    if (closed) this.#skip({ channel: channel.id, why: "cooling", remaining_ms: closed.ms });
    return closed === undefined;
  }

  #isAwake(channel: PoolChannel): boolean {
    const standing = this.#standing(channel);
    if (standing === "ready") return true;
    const why = standing === "probing" ? { why: standing } : { why: "cooling" as const, remaining_ms: standing };
    this.#skip({ channel: channel.id, ...why });
    return false;
  }

  #skip(entry: Skipped): void {
    if (!this.#skipped.some(({ channel }) => channel === entry.channel)) this.#skipped.push(entry);
  }

  /** undefined for most calls. */
  #notes(): Pick<SelectionRecord, "sticky" | "groups" | "scores"> | undefined {
    const { stages } = this.#options;
    if (!stages && this.#sticky === undefined && !this.#factors) return undefined;
    return {
      ...(this.#factors && { scores: this.#factors }),
      ...(this.#sticky !== undefined && { sticky: this.#sticky }),
      ...(stages && { groups: stages.map(({ group }) => group) }),
    };
  }

  /** The choice, for the log row. */
  explain(): SelectionRecord {
    const { candidates } = this.#options;
    const record = { candidates: candidates.length, tiers: tiersOf(candidates), skipped: this.#skipped };
    const notes = this.#notes();
    return notes ? { ...record, ...notes } : record;
  }
}

/** The pool's arrays are shared by calls and never changed. */
const knownTiers = new WeakMap<readonly PoolChannel[], SelectionRecord["tiers"]>();

function tiersOf(candidates: readonly PoolChannel[]): SelectionRecord["tiers"] {
  let known = knownTiers.get(candidates);
  if (!known) {
    const tiers = new Map<number, { id: number; weight: number }[]>();
    for (const { id, weight, priority } of candidates) {
      const tier = tiers.get(priority);
      if (tier) tier.push({ id, weight });
      else tiers.set(priority, [{ id, weight }]);
    }
    known = [...tiers].sort(([a], [b]) => b - a).map(([priority, channels]) => ({ priority, channels }));
    knownTiers.set(candidates, known);
  }
  return known;
}

/** Milliseconds until a channel is ready. */
const restOf = (standing: CooldownState): number => (typeof standing === "number" ? standing : 0);
