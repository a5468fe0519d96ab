/**
 * The price of a call before and after its channel is known. The hold uses the highest possible price (group auto: of
 * its groups, C-260; channels that bill by the upstream's model name: of those names); the bill uses the price of the
 * channel that serves.
 */
import { estimateUpperBound } from "../../../shared/charge";
import { fail } from "../../../shared/errors";
import { type CompiledPrice } from "../../../shared/pricing";
import type { Admitted, Asked } from "../call/call";
import type { Terms } from "../../protocol/call-terms";
import type { ControlPlane } from "../../contracts/control-plane";
import type { PoolChannel } from "../../contracts/channel";
import type { Caller } from "../../contracts/caller";

/** The name that a call through `channel` is priced by (setting.bill_by). */
const billedAs = ({ setting, model_mapping }: PoolChannel, model: string): string =>
  setting.bill_by === "upstream" ? (model_mapping.get(model) ?? model) : model;

/**
 * The highest price of a model for a caller, over their groups and the names that the candidates bill by; undefined
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

/** The highest possible price of the call. Throws model_price_missing. */
export function highestPrice(
  { engine, caller, request: { model, terms } }: Asked,
  candidates: readonly PoolChannel[],
): CompiledPrice {
  const listed = maxPrice(engine.controlPlane, caller, model, candidates) ?? fail("model_price_missing", { model });
  return terms?.priced?.(listed) ?? listed;
}

/** The group that a channel serves the call in, and its price there. */
export interface Quote {
  readonly caller: Caller;
  readonly price: CompiledPrice;
  readonly terms: Terms | undefined;
}

/**
 * The quote of a channel in a group (undefined: the call has only one). An upstream name without a price is billed as
 * the requested model. The hold covers the most expensive candidate, so no quote is above it.
 */
export function quoteAt({ asked, price }: Admitted, channel: PoolChannel, group: string | undefined): Quote {
  const { terms } = asked.request;
  const caller = servedIn(asked.caller, group);
  if (caller === asked.caller && billedAs(channel, asked.request.model) === price.model)
    return { caller, price, terms };
  const listed = listedAt(asked, caller, channel);
  return { caller, price: listed ? (terms?.priced?.(listed) ?? listed) : price, terms };
}

/** The caller in the group that serves. */
export const servedIn = (caller: Caller, group: string | undefined): Caller =>
  group !== undefined && group !== caller.group ? { ...caller, group } : caller;

/** The listed price of a call at this channel, in the caller's group. */
export function listedAt(
  { engine, request: { model } }: Asked,
  { group, user_group }: Caller,
  channel: PoolChannel,
): CompiledPrice | undefined {
  const priced = (name: string): CompiledPrice | undefined => engine.controlPlane.price(name, group, user_group);
  return priced(billedAs(channel, model)) ?? priced(model);
}
