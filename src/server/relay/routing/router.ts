/**
 * Where calls may go: what a process knows of its channels beside their rows. The relay asks it for the channels of a
 * call; the dry run asks the same and tries none.
 */
import { fail } from "../../../shared/errors";
import { Cooling } from "./cooldown";
import { KeyTurns } from "./key-rotation";
import type { Operation } from "../operations/operation";
import { dialectOf } from "../providers/speak";
import { RetryBudget } from "../upstream/retry-policy";
import { findRoute } from "../entry/routes";
import type { Caller, Pool, PoolChannel } from "../../contracts/control-plane";
import { type PlannedChannel, Selection, type Stage } from "./channel-selector";
import { Sticky, stickyKey } from "./session-affinity";
import { urlOf } from "../upstream/request";
import { atVersion, namesOf, type VendorRules } from "../providers/vendor-rules";

/** What decides who may be asked. */
export interface Destination {
  caller: Pick<Caller, "group" | "groups" | "channel_id">;
  operation: Operation;
  model: string;
  /** Its input in tokens, as far as it can be told from its size. */
  input?: number;
  /** Whether a channel can do it, for what is no call of an ordinary provider: a job. */
  supports?(channel: PoolChannel): boolean;
}

export interface Routing {
  readonly pool: Pool;
  readonly cooling: Cooling;
  readonly sticky: Sticky;
  readonly keys: KeyTurns;
  readonly retries: RetryBudget;
  /**
   * The channels that may be tried. Throws what the caller gets when there is none: model_not_found,
   * channel_database_inconsistent, operation_unsupported, input_too_long, channel_disabled, invalid_request.
   */
  select(destination: Destination): Selection;
  /**
   * What `select` would answer a call, and in which order; nothing is tried or taken. Throws the same, and not_found.
   */
  plan(call: PlannedCall): Plan;
}

/** A call that nobody makes. */
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

/** What serves a path, if it is a call of a model. */
function callOf(endpoint: string): { operation: Operation; dialect: string } {
  const route = findRoute("POST", endpoint);
  if (!route) return fail("not_found", { method: "POST", path: endpoint });
  const { operation, dialect } = route;
  return typeof operation === "string"
    ? fail("api_not_implemented", { method: "POST", path: endpoint })
    : { operation, dialect: dialect.key };
}

function planOf(
  routing: Pick<Routing, "select" | "sticky">,
  { caller, endpoint, model, stream, cache_key }: PlannedCall,
  rules: VendorRules | undefined,
): Plan {
  const { operation, dialect } = callOf(endpoint);
  const selection = routing.select({ caller, operation, model });
  const key =
    cache_key === "" || !operation.streams
      ? undefined
      : stickyKey({ user: cache_key }, caller.user_id, caller.group, model);
  if (key !== undefined) selection.prefer(routing.sticky, key);
  const channels = selection.plan().map((planned) => {
    const { channel } = planned;
    const spoken = dialectOf(channel, operation, channel.model_mapping.get(model) ?? model);
    const names = namesOf(model, channel, spoken, rules);
    const upstream_model = names.model;
    const address = planned.turn === 0 ? undefined : urlOf(channel, operation, upstream_model, stream);
    const url = address === undefined ? undefined : atVersion(address, channel, names, rules);
    const translated = operation.key === "chat" && planned.turn > 0 && spoken !== dialect;
    return { ...planned, upstream_model, url: url === undefined ? "" : withoutQuery(url), translated };
  });
  return { operation: operation.key, dialect, channels, sticky: selection.preferred };
}

/** A query may carry a key. */
const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, "");

/** `now`: epoch milliseconds; `random`: a number in [0, 1); `rules`: what plans are told by. */
export function createRouting(
  pool: Pool,
  now: () => number,
  random: () => number = Math.random,
  rules?: VendorRules,
): Routing {
  const cooling = new Cooling(now);
  const routing: Routing = {
    pool,
    cooling,
    sticky: new Sticky(now),
    keys: new KeyTurns(cooling, random),
    retries: new RetryBudget(now),
    select: ({
      caller,
      operation,
      model,
      input,
      supports = (channel) => urlOf(channel, operation, model) !== undefined,
    }) => {
      const { candidates, stages } = candidatesOf(pool, caller, model);
      const selection = new Selection({ candidates, model, input, cooling, supports, random, stages });
      if (selection.left === 0)
        fail(selection.tooLong ? "input_too_long" : "operation_unsupported", { group: caller.group, model });
      return selection;
    },
    plan: (call) => planOf(routing, call, rules),
  };
  return routing;
}

function candidatesOf(
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
  // Somebody should serve it, but his row cannot be used: that is no missing model (C-600).
  const broken = (groups ?? [group]).some((name) => pool.broken(name, model));
  return fail(broken ? "channel_database_inconsistent" : "model_not_found", { group, model });
}
