/** The channels that may serve a call, in order. */
import type { JsonObject } from "../../lib/json-bytes";
import type { Routed } from "../billing/admit-and-hold";
import { BYTES_PER_TOKEN } from "../billing/call-billing";
import type { Asked } from "../call/call";
import { affinityKey } from "../routing/session-affinity";

/** `json`: the body of a conversation. Throws the caller's error where no channel can serve the call. */
export function routeCall(asked: Asked, json: JsonObject | undefined): Routed {
  const { engine, caller, operation, conversation, input_bound } = asked;
  const { model } = asked.request;
  const { controlPlane, routing, stats } = engine;
  const input = Math.ceil(input_bound / BYTES_PER_TOKEN);
  const selection = routing.select({ caller, operation, model, input });
  conversation?.narrow(selection);
  const affinity_key =
    selection.left > 1 && controlPlane.option.stickyRouting && operation.streams && json
      ? affinityKey(json, caller.user_id, caller.group, model)
      : undefined;
  if (affinity_key !== undefined) selection.prefer(routing.affinity, affinity_key, stats);
  return { selection, affinity_key };
}
