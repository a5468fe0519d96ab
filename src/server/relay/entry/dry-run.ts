/** The dry run: selects the channels of a call without making it. */
import type { Operation } from "../operations/operation";
import { findRoute } from "./routes";
import { fail } from "../../../shared/errors";
import type { Routing } from "../routing/router";
import type { Plan, PlannedCall, RoutingPreview } from "../../contracts/dry-run";
import type { VendorRules } from "../../contracts/vendor-rules";
import { affinityKey } from "../routing/session-affinity";
import { dialectOf } from "../providers/dispatch";
import { atVersion } from "../providers/vendor-rules";
import { namesOf } from "../providers/model-mapping";
import { urlOf } from "../providers/address";

/**
 * Routing for the console's dry run. `rules`: the operator's settings that upstream model names and addresses depend
 * on.
 */
export const previewOf = (routing: Routing, rules?: VendorRules): RoutingPreview => ({
  plan: (call) => planOf(routing, call, rules),
  keys: routing.keys,
});

/** The operation of a path, if it is a model call. */
function callOf(endpoint: string): { operation: Operation; dialect: string } {
  const route = findRoute("POST", endpoint);
  if (!route) return fail("not_found", { method: "POST", path: endpoint });
  const { operation, dialect } = route;
  return typeof operation === "string"
    ? fail("api_not_implemented", { method: "POST", path: endpoint })
    : { operation, dialect: dialect.key };
}

function planOf(
  routing: Pick<Routing, "select" | "affinity">,
  { caller, endpoint, model, stream, cache_key }: PlannedCall,
  rules: VendorRules | undefined,
): Plan {
  const { operation, dialect } = callOf(endpoint);
  const selection = routing.select({ caller, operation, model, stream });
  const key =
    cache_key === "" || !operation.streams
      ? undefined
      : affinityKey({ user: cache_key }, caller.user_id, caller.group, model);
  if (key !== undefined) selection.prefer(routing.affinity, key);
  const channels = selection.plan().map((planned) => {
    const { channel } = planned;
    const mapped = channel.model_mapping.get(model) ?? model;
    const names = namesOf(model, channel, dialectOf(channel, operation, mapped), rules);
    const upstream_model = names.model;
    const spoken = dialectOf(channel, operation, upstream_model);
    const address = planned.turn === 0 ? undefined : urlOf(channel, operation, upstream_model, stream);
    const url = address === undefined ? undefined : atVersion(address, channel, names, rules);
    const translated = operation.key === "chat" && planned.turn > 0 && spoken !== dialect;
    return { ...planned, upstream_model, url: url === undefined ? "" : withoutQuery(url), translated };
  });
  return { operation: operation.key, dialect, channels, sticky: selection.preferred };
}

/** A query may contain a key. */
const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, "");
