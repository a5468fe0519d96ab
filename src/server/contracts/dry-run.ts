/** A call that is routed and never made. */
import type { ScoreFactors } from "../../shared/score-factors";
import type { Caller } from "./caller";
import type { PoolChannel } from "./channel";

/** Routing without a call, for the rest of the process. */
export interface RoutingPreview {
  /**
   * The channels that a call would try, in order; nothing is called or taken. Throws the call's error where there is
   * none, and not_found.
   */
  plan(call: PlannedCall): Plan;
  readonly keys: {
    /** The channel with the key for its next call of `model`. */
    take(channel: PoolChannel, model: string): PoolChannel;
  };
}

/** A call that is only routed. */
export interface PlannedCall {
  caller: Pick<Caller, "user_id" | "group" | "groups">;
  /** A path of the relay. */
  endpoint: string;
  model: string;
  stream: boolean;
  /** The conversation's id, '' for none. */
  cache_key: string;
}

export interface Plan {
  operation: string;
  dialect: string;
  channels: (PlannedChannel & { url: string; upstream_model: string; translated: boolean })[];
  /** The conversation's previous channel, when affinity puts it first. */
  sticky: number | undefined;
}

/** A candidate as a dry run shows it. */
export interface PlannedChannel {
  channel: PoolChannel;
  /** Group auto: the group that it would be tried in. */
  group: string | undefined;
  standing: CooldownState | "unsupported" | "draining";
  /** Its tier, from 1; channels of one tier are drawn together. 0: it is never tried. */
  turn: number;
  /** The probability that it is the first of its tier, 0 to 1. */
  share: number;
  /** Routing by score: what is known of the channel. */
  score?: ScoreFactors;
}

/** "ready", "probing" (half open, one call tests it), or the remaining milliseconds of its cooldown. */
export type CooldownState = "ready" | "probing" | number;
