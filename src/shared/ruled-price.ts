/** Compiled prices (pricing.ts) under the rules of their model (price-rules.ts). */
import { batchRule } from "./factor-rules";
import { type Decimal, multiply, printDecimal, rescale, toDecimal } from "./decimal";
import { applies, type Circumstances, inRange, isCallers, isServiceRule, type PriceRule } from "./price-rules";
import { type CompiledPrice, outputKinds, type TokenKind, tokenKinds, type TokenPrices } from "./pricing";

interface Exact {
  readonly units: Decimal;
  readonly usd: string;
  readonly ratios: Readonly<Record<string, string>>;
}
type Change = (kind: TokenKind, exact: Exact) => Exact;

/** A price whose tokens and call cost something else, at one scale again; so do those that its usage decides. */
function changed(price: CompiledPrice, change: Change, callOf: (price: CompiledPrice) => Decimal): CompiledPrice {
  const exact = tokenKinds.map((kind): [TokenKind, Exact] => {
    const { weight, usd, ratios } = price.tokens[kind];
    return [kind, change(kind, { units: { digits: weight, scale: price.scale }, usd, ratios })];
  });
  const call = callOf(price);
  const scale = Math.max(call.scale, ...exact.map(([, { units }]) => units.scale));
  const tokens = Object.fromEntries(
    exact.map(([kind, { units, usd, ratios }]) => [kind, { weight: rescale(units, scale), usd, ratios }]),
  ) as Record<TokenKind, TokenPrices[TokenKind]>; // one entry per token kind, by tokenKinds
  const made = { ...price, scale, unit: 10n ** BigInt(scale), tokens, call: rescale(call, scale) };
  return withOpen(made, (open) => changed(open, change, callOf));
}

/** A price whose prices for some usage are made into others. */
function withOpen(price: CompiledPrice, made: (open: CompiledPrice) => CompiledPrice): CompiledPrice {
  const { open } = price;
  return open ? { ...price, open: open.map((one) => ({ ...one, price: made(one.price) })) } : price;
}

/** A price of this rule, whatever its usage decides. */
const byRule = (price: CompiledPrice, rule: PriceRule): CompiledPrice =>
  withOpen({ ...price, rule }, (open) => byRule(open, rule));

/** A price of the same tokens for every length of input. */
function withoutOpen(price: CompiledPrice): CompiledPrice {
  const { open: _, ...rest } = price;
  return rest;
}

const callUnits = ({ call, scale }: CompiledPrice): Decimal => ({ digits: call, scale });

/** The price of one call in dollars, in `why` too. */
function withCallPrice(price: CompiledPrice, usd: Decimal): CompiledPrice {
  const { model_price } = price.why;
  const value = Number(printDecimal(usd));
  return model_price ? { ...price, why: { ...price.why, model_price: { ...model_price, value } } } : price;
}

/** A price times a factor for input and one for output, which stands on the bill as `name`. */
function timesPrice(price: CompiledPrice, name: string, input: number, output = input): CompiledPrice {
  const [inputs, outputs] = [toDecimal(input), toDecimal(output)];
  const made = changed(
    price,
    (kind, { units, usd, ratios }) => {
      const factor = outputKinds.has(kind) ? outputs : inputs;
      return {
        units: multiply(units, factor),
        usd: printDecimal(multiply(toDecimal(usd), factor)),
        ratios: { ...ratios, [name]: printDecimal(factor) },
      };
    },
    (one) => multiply(callUnits(one), inputs),
  );
  return price.by === "call"
    ? withCallPrice(made, multiply(toDecimal(price.why.model_price?.value ?? 0), inputs))
    : made;
}

const half = toDecimal("0.5");

/**
 * Tokens at prices in dollars: a dollar for a million is half a unit a token, whatever QuotaPerUnit is (pricing.ts).
 */
function pricedAt(price: CompiledPrice, usd: Readonly<Partial<Record<TokenKind, number>>>): CompiledPrice {
  const group_ratio = printDecimal(price.groupRatio);
  return changed(
    // Its own prices hold for every length.
    withoutOpen(price),
    (kind, exact) => {
      const named = usd[kind] ?? (kind === "reasoning" ? usd.output : undefined);
      if (named === undefined) return exact;
      const ratio = multiply(toDecimal(named), half);
      return {
        units: multiply(ratio, price.groupRatio),
        usd: printDecimal(toDecimal(named)),
        ratios: { rule_ratio: printDecimal(ratio), group_ratio },
      };
    },
    callUnits,
  );
}

/**
 * The plain price as the rule makes it; undefined: the rule is about prices of the other kind, by call or by tokens.
 */
export function withRule(plain: CompiledPrice, rule: PriceRule): CompiledPrice | undefined {
  const { then } = rule;
  const byCall = plain.by === "call";
  if ("factor" in then) return byRule(timesPrice(plain, "rule_ratio", then.factor), rule);
  if ("input" in then)
    return byCall ? undefined : byRule(timesPrice(plain, "rule_ratio", then.input, then.output), rule);
  const { call, ...tokens } = then.usd;
  if (!byCall) return Object.keys(tokens).length > 0 ? byRule(pricedAt(plain, tokens), rule) : undefined;
  if (call === undefined) return undefined;
  const usd = toDecimal(call);
  const units = multiply(usd, plain.quotaPerUnit, plain.groupRatio);
  const priced = changed(
    plain,
    (_, exact) => exact,
    () => units,
  );
  return byRule(withCallPrice(priced, usd), rule);
}

/** Whether no token and no call costs less at `one` than at `other`. */
function atLeast(one: CompiledPrice, other: CompiledPrice): boolean {
  const scale = Math.max(one.scale, other.scale);
  const least = (a: bigint, b: bigint): boolean =>
    rescale({ digits: a, scale: one.scale }, scale) >= rescale({ digits: b, scale: other.scale }, scale);
  return (
    least(one.call, other.call) && tokenKinds.every((kind) => least(one.tokens[kind].weight, other.tokens[kind].weight))
  );
}

/** Every length of input at which another price may begin or end. */
const lengthsOf = (price: CompiledPrice): number[] => [
  0,
  ...(price.open ?? []).flatMap(({ when: { input }, price: open }) => [
    ...(input?.over === undefined ? [] : [input.over + 1]),
    ...(input?.up_to === undefined ? [] : [input.up_to + 1]),
    ...lengthsOf(open),
  ]),
];

/** Every price that a call may come to whose input has this length. */
function pricesAt(price: CompiledPrice, length: number): readonly CompiledPrice[] {
  const found: CompiledPrice[] = [];
  for (const { when, price: open } of price.open ?? []) {
    if (when.input && !inRange(when.input, length)) continue;
    found.push(...pricesAt(open, length));
    // Nothing else decides: what comes after it does not count.
    if (when.cached === undefined) return found;
  }
  return [...found, price];
}

/** Whether a call costs at least as much by `one` as by `other`, at every length of input. */
const neverCheaper = (one: CompiledPrice, other: CompiledPrice): boolean =>
  [...lengthsOf(one), ...lengthsOf(other)].every((length) =>
    pricesAt(one, length).every((mine) => pricesAt(other, length).every((theirs) => atLeast(mine, theirs))),
  );

/** The listed price of each that `priceAt` made. */
const listedOf = new WeakMap<CompiledPrice, CompiledPrice>();
const known = new WeakMap<CompiledPrice, Map<string, CompiledPrice>>();

/**
 * The price of a call in these circumstances: the rules that its request decides are applied; those that wait for its
 * usage are in `open`, in their order. Without rules a single call's price is returned as it is; one that was made for
 * other circumstances is made from its listed price again.
 */
export function priceAt(priced: CompiledPrice, circumstances: Circumstances): CompiledPrice {
  const price = listedOf.get(priced) ?? priced;
  const { rules = [] } = price;
  const { batch } = circumstances;
  if (rules.length === 0 && batch === undefined) return price;
  const states = rules.map((rule) => applies(rule, circumstances));
  let made = known.get(price);
  if (!made) known.set(price, (made = new Map()));
  const key = batch === undefined ? states.join() : `${batch} ${states.join()}`;
  let found = made.get(key);
  if (!found) {
    // Rules on what callers choose have few states each; the number of their combinations has no other bound.
    if (made.size >= 1000) made.clear();
    const { rules: _rules, ...plain } = price;
    found = batch === undefined ? narrowed(plain, rules, states) : batchPrice(plain, rules, states, batch);
    if (rules.some(isServiceRule)) found = { ...found, by_service: true };
    made.set(key, found);
    listedOf.set(found, price);
  }
  return found;
}

/** The rules of the listed price that `priceAt` made a price of. */
export const rulesOf = (price: CompiledPrice): readonly PriceRule[] => (listedOf.get(price) ?? price).rules ?? [];

/** The price of a batch's lines: discounted, unless the rule that made it is about batches itself. */
function batchPrice(
  plain: CompiledPrice,
  rules: readonly PriceRule[],
  states: readonly ("yes" | "no" | "open")[],
  share: number,
): CompiledPrice {
  const price = narrowed(withoutOpen(plain), rules, states);
  if (price.rule?.when.batch || share === 1) return price;
  return { ...timesPrice(price, "batch_ratio", share), rule: price.rule ?? batchRule(share) };
}

function narrowed(
  plain: CompiledPrice,
  rules: readonly PriceRule[],
  states: readonly ("yes" | "no" | "open")[],
): CompiledPrice {
  let rest: CompiledPrice = plain;
  for (const [i, rule] of [...rules.entries()].reverse()) {
    const ruled = states[i] === "no" ? undefined : withRule(plain, rule);
    if (!ruled) continue;
    // What callers choose does not spare them a price that applies without it.
    if (isCallers(rule) && rule.cheaper !== true && !neverCheaper(ruled, rest)) continue;
    const { input, cached } = rule.when;
    const when = { ...(input && { input }), ...(cached !== undefined && { cached }) };
    rest = states[i] === "yes" ? ruled : { ...rest, open: [{ when, price: ruled }, ...(rest.open ?? [])] };
  }
  return rest;
}
