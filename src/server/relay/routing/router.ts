/**
 * Routing: the process's state of channels beside their rows. The relay asks it for the channels of a call; the dry run
 * uses the same and tries none.
 */
import type { CurrencyRates } from "../../../shared/currency-rates";
import { fail } from "../../../shared/errors";
import { Cooldown } from "./cooldown";
import { KeyRotation } from "./key-rotation";
import type { Operation } from "../operations/operation";
import { RetryBudget } from "./retry-budget";
import type { Pool, PoolChannel } from "../../contracts/channel";
import type { Caller } from "../../contracts/caller";
import { ChannelScores } from "./channel-scores";
import { type Scoring, Selection, type Stage } from "./channel-selector";
import { SessionAffinity } from "./session-affinity";
import { urlOf } from "../providers/address";

/** The facts that decide which channels may serve a call. */
export interface Destination {
  caller: Pick<Caller, "group" | "groups" | "channel_id">;
  operation: Operation;
  model: string;
  /** Its input in tokens, estimated from its size. */
  input?: number;
  /** Whether its answer is streamed; absent for jobs and sessions, which are never routed by score. */
  stream?: boolean;
  /** Whether a channel supports it, for calls without an ordinary provider: jobs. */
  supports?(channel: PoolChannel): boolean;
}

export interface Routing {
  readonly pool: Pool;
  readonly cooldown: Cooldown;
  readonly affinity: SessionAffinity;
  readonly keys: KeyRotation;
  readonly retries: RetryBudget;
  /** What routing by score knows of the channels. */
  readonly scores: ChannelScores;
  /** A number in [0, 1). */
  random(): number;
  /**
   * The channels that may be tried. Throws the caller's error when there is none: model_not_found,
   * model_unavailable, channels_draining, channel_database_inconsistent, operation_unsupported, input_too_long,
   * channel_disabled, invalid_request.
   */
  select(destination: Destination): Selection;
}

/**
 * `now`: epoch milliseconds; `random`: a number in [0, 1); `byScore`: whether a group's channels are chosen by score,
 * false for all when absent; `rates`: of the currencies of channels' costs.
 */
export function createRouting(
  pool: Pool,
  now: () => number,
  random: () => number = Math.random,
  byScore?: (group: string) => boolean,
  rates?: () => CurrencyRates,
): Routing {
  const cooldown = new Cooldown(now);
  const scores = new ChannelScores(now, rates);
  const scoringFor = ({ caller, model, stream, input }: Destination): Scoring | undefined => {
    const { group, groups = [group], channel_id } = caller;
    if (!byScore || stream === undefined || channel_id !== undefined || !groups.some(byScore)) return undefined;
    return { scores, call: { model, stream, input }, applies: (one = group) => byScore(one) };
  };
  return {
    pool,
    cooldown,
    affinity: new SessionAffinity(now),
    keys: new KeyRotation(cooldown, random),
    retries: new RetryBudget(now),
    scores,
    random,
    select: (destination) => {
      const { caller, operation, model, input } = destination;
      const { supports = (channel) => urlOf(channel, operation, model) !== undefined } = destination;
      const { candidates, stages } = candidatesOf(pool, caller, model);
      const selection = new Selection({
        candidates,
        model,
        input,
        cooldown,
        pinned: caller.channel_id !== undefined,
        supports,
        random,
        stages,
        scoring: scoringFor(destination),
      });
      if (selection.left === 0 && selection.draining) fail("channels_draining", { group: caller.group, model });
      if (selection.left === 0)
        fail(selection.tooLong ? "input_too_long" : "operation_unsupported", { group: caller.group, model });
      return selection;
    },
  };
}

/**
 * The channels of the caller's groups for a model; of a pinned call the one that it names. Throws the caller's error
 * where there is none.
 */
export function candidatesOf(
  pool: Pool,
  { group, groups, channel_id }: Destination["caller"],
  model: string,
): { candidates: readonly PoolChannel[]; stages?: Stage[] | undefined } {
  if (channel_id !== undefined) {
    const pinned = pool.byId(channel_id) ?? fail("invalid_request", { detail: `channel ${channel_id}` });
    if (!pinned.enabled) fail("channel_disabled");
    return { candidates: [pinned.channel] };
  }
  const stages = groups?.map((name) => ({ group: name, candidates: pool.candidates(name, model) }));
  const candidates = stages ? [...new Set(stages.flatMap((stage) => stage.candidates))] : pool.candidates(group, model);
  if (candidates.length > 0) return { candidates, stages };
  // A channel should serve the model, but its row cannot be used: this is different from a missing model (C-600).
  const names = groups ?? [group];
  const broken = names.some((name) => pool.broken(name, model));
  if (broken) fail("channel_database_inconsistent", { group, model });
  return fail(names.some((name) => pool.off(name, model)) ? "model_unavailable" : "model_not_found", { group, model });
}
