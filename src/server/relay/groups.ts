/** Group auto: a call is held at the dearest of its groups and billed at the one that serves (C-260). */
import { type CompiledPrice, estimateUpperBound } from "../../shared/pricing";
import type { Call } from "./call";
import type { Caller, Seams } from "./seams";

/** The price of a model for a caller; with group auto the dearest, for one model only the ratio differs. */
export function priceFor({ price }: Pick<Seams, "price">, { group, groups, user_group }: Caller, model: string): CompiledPrice | undefined {
  if (!groups) return price(model, group, user_group);
  const prices = groups.map((name) => price(model, name, user_group)).filter((found) => found !== undefined);
  const cost = (found: CompiledPrice): number => estimateUpperBound(found, 1_000_000, 1_000_000);
  return prices.toSorted((a, b) => cost(b) - cost(a))[0];
}

/** The next attempt is made in this group (undefined: the call has only one): price, bill and log row are the group's. */
export function serveIn(call: Call, group: string | undefined): void {
  if (group === undefined || group === call.caller.group) return;
  call.caller = { ...call.caller, group };
  const listed = call.engine.seams.price(call.request.model, group, call.caller.user_group);
  if (listed) call.price = call.request.terms?.priced?.(listed) ?? listed;
}
