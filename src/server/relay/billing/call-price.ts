/**
 * The price of a call before and after its channel is known. The hold uses the highest possible price (group auto: of
 * its groups, C-260; channels that bill by the upstream's model name: of those names); the bill uses the price of the
 * channel that serves.
 */
import { canonicalModel } from "../../../shared/channel-types";
import { costRules } from "../../../shared/cost";
import { fail } from "../../../shared/errors";
import { isServiceMember, membersAt, type RequestFacts, serviceFacts } from "../../../shared/price-rules";
import { type CompiledPrice, type Usage } from "../../../shared/pricing";
import { type Charge, chargeOf, estimateUpperBound } from "../../../shared/charge";
import { priceAt, rulesOf } from "../../../shared/ruled-price";
import { type JsonObject, topLevelMembers, tryParse } from "../../lib/json-bytes";
import { bodyObject } from "../../lib/request-body/json-body";
import type { Bytes } from "../../lib/sse";
import type { Admitted, Asked, Attempted } from "../call/call";
import type { Terms } from "../../protocol/call-terms";
import type { ControlPlane } from "../../contracts/control-plane";
import type { PoolChannel } from "../../contracts/channel";
import type { Caller } from "../../contracts/caller";

/** The name that a call through `channel` is priced by (setting.bill_by). */
const billedAs = ({ setting, model_mapping }: PoolChannel, model: string): string =>
  setting.bill_by === "upstream" ? (model_mapping.get(model) ?? model) : model;

/** The model whose prices the call has: the caller's, or the virtual name where that has a fixed price. */
const pricedModel = ({ virtual, request }: Asked): string => (virtual?.fixed_price ? virtual.name : request.model);

/** The values at a path of a JSON body: all of them where a member is there twice, because a vendor may read either. */
export function valuesAt(bytes: Bytes, path: string): readonly unknown[] {
  const body = bodyObject(bytes);
  if (!body) return [];
  const [first = ""] = path.split(".");
  // A name that is not in the object is not there twice either.
  if (!Object.hasOwn(body, first)) return membersAt(body, path);
  const repeated = [...topLevelMembers(bytes)].filter(({ key }) => key === first);
  const last = membersAt(body, path);
  if (repeated.length < 2) return last;
  const each = ({ start, end }: { start: number; end: number }): unknown[] =>
    membersAt({ [first]: tryParse(bytes.subarray(start, end)) }, path);
  return [...last, ...repeated.flatMap(each)];
}

const NO_FACTS: RequestFacts = {};

/**
 * What rules of prices ask of a call: its service as the body that leaves has it (`sent`; undefined: the call says
 * nothing of it), and for the rules of its own price, and of what `model` costs at its channel, the other members as
 * the caller wrote them.
 */
export function factsOf(
  { call, channel, price }: Pick<Attempted, "call" | "channel" | "price">,
  sent: Bytes | undefined,
  model: string,
): RequestFacts {
  const facts = sent && serviceFacts((path) => valuesAt(sent, path));
  const paid = costRules(channel.setting, canonicalModel(model));
  // As most are.
  if (!price.by_service && paid.length === 0) return facts ?? NO_FACTS;
  const rules = price.by_service ? [...rulesOf(price), ...paid] : paid;
  const written = rules.flatMap(({ when: { member } }) =>
    member ? [[member.path, valuesAt(call.asked.content.readNow(), member.path)] as const] : [],
  );
  return written.length === 0
    ? (facts ?? NO_FACTS)
    : { ...Object.fromEntries(written), ...serviceFacts(() => []), ...facts };
}

/** A charge, and the price that it was made by. */
export interface Billed {
  readonly charge: Charge;
  readonly price: CompiledPrice;
}

/**
 * The charge of a call whose usage is known. Where a rule asks for its service, what was sent decides, and what the
 * answer says of it may only make the call cheaper: nothing more was held.
 */
export function billedFor({ call, price, terms, translation }: Attempted, usage: Usage): Billed {
  const billed = (by: CompiledPrice): Billed => ({ charge: chargeOf(by, usage, terms?.times), price: by });
  const facts = price.by_service && translation.facts;
  if (!facts) return billed(price);
  const known = { moment: call.held_at, member: (path: string) => facts[path] ?? [], ...terms?.shown };
  const sent = priceAt(price, known);
  const answered = usage.served ? priceAt(price, { ...known, served: usage.served }) : sent;
  // As most are: the vendor did what it was asked for.
  if (answered === sent) return billed(sent);
  const [asked, done] = [billed(sent), billed(answered)];
  return done.charge.quota < asked.charge.quota ? done : asked;
}

/** The bodies that the overrides of channels make of a call. */
const overridden = (body: JsonObject, candidates: readonly PoolChannel[]): readonly JsonObject[] =>
  candidates.flatMap(({ override }) => {
    try {
      return override ? [override(body)] : [];
    } catch {
      // Its rules fail for this call: the channel will not serve it.
      return [];
    }
  });

/** The price of this call, made of a listed one: of its operation, and by the rules at the moment of its hold. */
function priceFor(
  { content, form, request: { terms } }: Asked,
  moment: number,
  listed: CompiledPrice,
  candidates: readonly PoolChannel[] = [],
): CompiledPrice {
  const price = terms?.priced?.(listed) ?? listed;
  // As most are: nothing about the call changes it.
  if (!price.rules && terms?.shown?.batch === undefined) return price;
  // The body is read only where a rule asks for a member.
  let made: readonly JsonObject[] | undefined;
  const member = (path: string): readonly unknown[] => {
    if (form) return form.parts(path).map(({ value }) => value);
    const written = valuesAt(content.readNow(), path);
    if (!isServiceMember(path)) return written;
    made ??= overridden(bodyObject(content.readNow()) ?? {}, candidates);
    return made.length === 0 ? written : [...written, ...made.flatMap((body) => membersAt(body, path))];
  };
  return priceAt(price, { moment, member, ...terms?.shown });
}

/**
 * The highest price of a model for a caller, each as `made` makes it of the listed one, over their groups and the
 * names that the candidates bill by; undefined without any.
 */
export function maxPrice(
  { price }: Pick<ControlPlane, "price">,
  { group, groups, user_group }: Caller,
  model: string,
  candidates: readonly PoolChannel[],
  made: (listed: CompiledPrice) => CompiledPrice,
): CompiledPrice | undefined {
  const others = candidates.some(({ setting }) => setting.bill_by === "upstream");
  if (!groups && !others) {
    const listed = price(model, group, user_group);
    return listed && made(listed);
  }
  const names = others ? new Set([model, ...candidates.map((channel) => billedAs(channel, model))]) : [model];
  const prices = [...names]
    .flatMap((name) => (groups ?? [group]).map((one) => price(name, one, user_group)))
    .filter((found) => found !== undefined)
    .map(made);
  const cost = (found: CompiledPrice): number => estimateUpperBound(found, 1_000_000, 1_000_000);
  return prices.toSorted((a, b) => cost(b) - cost(a))[0];
}

/** The highest possible price of the call when it is held at `moment`. Throws model_price_missing. */
export function highestPrice(asked: Asked, candidates: readonly PoolChannel[], moment: number): CompiledPrice {
  const { engine, caller } = asked;
  const made = (listed: CompiledPrice): CompiledPrice => priceFor(asked, moment, listed, candidates);
  const model = pricedModel(asked);
  return maxPrice(engine.controlPlane, caller, model, candidates, made) ?? fail("model_price_missing", { model });
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
export function quoteAt({ asked, price, held_at }: Admitted, channel: PoolChannel, group: string | undefined): Quote {
  const { terms } = asked.request;
  const caller = servedIn(asked.caller, group);
  if (caller === asked.caller && billedAs(channel, pricedModel(asked)) === price.model) return { caller, price, terms };
  const listed = listedAt(asked, caller, channel);
  return { caller, price: listed ? priceFor(asked, held_at, listed) : price, terms };
}

/** The caller in the group that serves. */
export const servedIn = (caller: Caller, group: string | undefined): Caller =>
  group !== undefined && group !== caller.group ? { ...caller, group } : caller;

/** The listed price of a call at this channel, in the caller's group. */
export function listedAt(asked: Asked, { group, user_group }: Caller, channel: PoolChannel): CompiledPrice | undefined {
  const model = pricedModel(asked);
  const priced = (name: string): CompiledPrice | undefined => asked.engine.controlPlane.price(name, group, user_group);
  return priced(billedAs(channel, model)) ?? priced(model);
}
