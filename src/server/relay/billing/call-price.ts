/**
 * What a call costs before it is known who serves it, and when it is. A call is held at the dearest price that is
 * possible (group auto: of its groups, C-260; channels that bill by the upstream's name: of those names) and billed at
 * the one that serves.
 */
import { estimateUpperBound } from "../../../shared/charge";
import { type CompiledPrice } from "../../../shared/pricing";
import type { Call } from "../call/call";
import type { ControlPlane } from "../../contracts/control-plane";
import type { PoolChannel } from "../../contracts/channel";
import type { Caller } from "../../contracts/caller";

/** The name that a call through `channel` is priced by (setting.bill_by). */
const billedAs = ({ setting, model_mapping }: PoolChannel, model: string): string =>
  setting.bill_by === "upstream" ? (model_mapping.get(model) ?? model) : model;

/**
 * The dearest price of a model for a caller, over his groups and the names that the candidates bill by; undefined
 * without any.
 */
export function maxPrice(
  { price }: Pick<ControlPlane, "price">,
  { group, groups, user_group }: Caller,
  model: string,
  candidates: readonly PoolChannel[],
): CompiledPrice | undefined {
  const others = candidates.some(({ setting }) => setting.bill_by === "upstream");
  if (!groups && !others) return price(model, group, user_group);
  const names = others ? new Set([model, ...candidates.map((channel) => billedAs(channel, model))]) : [model];
  const prices = [...names]
    .flatMap((name) => (groups ?? [group]).map((one) => price(name, one, user_group)))
    .filter((found) => found !== undefined);
  const cost = (found: CompiledPrice): number => estimateUpperBound(found, 1_000_000, 1_000_000);
  return prices.toSorted((a, b) => cost(b) - cost(a))[0];
}

/**
 * The next attempt is made at this channel, in this group (undefined: the call has only one): price, bill and log row
 * are theirs. An upstream's name without a price is billed as the model that was asked for.
 */
export function bindChannel(call: Call, channel: PoolChannel, group: string | undefined): void {
  const moved = group !== undefined && group !== call.caller.group;
  if (moved) call.caller = { ...call.caller, group };
  if (!moved && billedAs(channel, call.request.model) === call.price.model) return;
  const listed = listedAt(call, channel);
  if (listed) call.price = call.request.terms?.priced?.(listed) ?? listed;
}

/** The listed price of a call at this channel, in the group that serves. */
export function listedAt(
  { engine, caller, request: { model } }: Call,
  channel: PoolChannel,
): CompiledPrice | undefined {
  const priced = (name: string): CompiledPrice | undefined =>
    engine.controlPlane.price(name, caller.group, caller.user_group);
  return priced(billedAs(channel, model)) ?? priced(model);
}
