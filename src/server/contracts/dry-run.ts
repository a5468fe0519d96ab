/** A call that is routed and never made. */
import type { Caller } from "./caller";
import type { PoolChannel } from "./channel";

/** What the rest of the process may ask of routing without making a call. */
export interface RoutingPreview {
  /**
   * Which channels a call would be tried at, and in which order; nothing is tried or taken. Throws what the call would
   * get when there is none, and not_found.
   */
  plan(call: PlannedCall): Plan;
  readonly keys: {
    /** The channel with the key that its next call of `model` uses. */
    take(channel: PoolChannel, model: string): PoolChannel;
  };
}

/** A call that is not made. */
export interface PlannedCall {
  caller: Pick<Caller, "user_id" | "group" | "groups">;
  /** A path of the relay. */
  endpoint: string;
  model: string;
  stream: boolean;
  /** The conversation's name, '' for none. */
  cache_key: string;
}

export interface Plan {
  operation: string;
  dialect: string;
  channels: (PlannedChannel & { url: string; upstream_model: string; translated: boolean })[];
  /** The conversation's own channel, when it comes first for that. */
  sticky: number | undefined;
}

/** A candidate as a dry run shows it. */
export interface PlannedChannel {
  channel: PoolChannel;
  /** Group auto: the group that it would be tried in. */
  group: string | undefined;
  standing: CooldownState | "unsupported";
  /** Its place among the tiers, from 1; those of one turn are drawn from together. 0: it is never tried. */
  turn: number;
  /** The chance that it is the first of its turn, 0 to 1. */
  share: number;
}

/** "ready", "probing" (half open, and somebody is asking), or milliseconds the pair is still left alone. */
export type CooldownState = "ready" | "probing" | number;
