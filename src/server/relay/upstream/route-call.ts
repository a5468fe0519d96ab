/** The channels that may serve a call, in order. */
import { AppError } from "../../../shared/errors";
import type { PoolChannel } from "../../contracts/channel";
import type { JsonObject } from "../../lib/json-bytes";
import type { Routed } from "../billing/admit-and-hold";
import { BYTES_PER_TOKEN } from "../billing/call-billing";
import type { Asked } from "../call/call";
import { membersToRefuse } from "../../protocol/dialects/own-members";
import { urlOf } from "../providers/address";
import { dialectOf } from "../providers/dispatch";
import type { Selection } from "../routing/channel-selector";
import { affinityKey } from "../routing/session-affinity";

/**
 * Selects among the channels of the caller's own dialect where another would have to drop what the call means. Throws
 * the caller's error where no channel can serve it.
 */
function selectFor(
  { engine, caller, operation, dialect, request, input_bound }: Asked,
  json: JsonObject | undefined,
): Selection {
  const { model, stream } = request;
  const input = Math.ceil(input_bound / BYTES_PER_TOKEN);
  const members = json && operation.key === "chat" ? membersToRefuse(dialect.key, json) : [];
  if (members.length === 0) return engine.routing.select({ caller, operation, model, input, stream });
  const supports = (channel: PoolChannel): boolean =>
    urlOf(channel, operation, model) !== undefined &&
    dialectOf(channel, operation, channel.model_mapping.get(model) ?? model) === dialect.key;
  try {
    return engine.routing.select({ caller, operation, model, input, stream, supports });
  } catch (error) {
    throw error instanceof AppError && error.code === "operation_unsupported"
      ? new AppError("member_unsupported", { group: caller.group, model, members: members.join(", ") })
      : error;
  }
}

/** `json`: the body of a conversation. Throws the caller's error where no channel can serve the call. */
export function routeCall(asked: Asked, json: JsonObject | undefined): Routed {
  const { engine, caller, operation, conversation } = asked;
  const { model } = asked.request;
  const { controlPlane, routing, stats } = engine;
  const selection = selectFor(asked, json);
  conversation?.narrow(selection);
  const affinity_key =
    selection.left > 1 && controlPlane.option.stickyRouting && operation.streams && json
      ? affinityKey(json, caller.user_id, caller.group, model)
      : undefined;
  // Of a virtual model's steps most are never tried: they are no calls that had a choice.
  if (affinity_key !== undefined) selection.prefer(routing.affinity, affinity_key, asked.virtual ? undefined : stats);
  return { selection, affinity_key };
}
