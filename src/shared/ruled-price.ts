/** Compiled prices (pricing.ts) under the rules of their model (price-rules.ts). */
import { type Decimal, multiply, printDecimal, rescale, toDecimal } from "./decimal";
import { tierFor } from "./long-context";
import { applies, type Circumstances, isCallers, type PriceRule } from "./price-rules";
import { type CompiledPrice, outputKinds, type TokenKind, tokenKinds, type TokenPrices } from "./pricing";

interface Exact {
  readonly units: Decimal;
  readonly usd: string;
  readonly ratios: Readonly<Record<string, string>>;
}
type Change = (kind: TokenKind, exact: Exact) => Exact;

/** A price whose tokens and call cost something else, all at one scale again. */
function changed(price: CompiledPrice, change: Change, call: Decimal): CompiledPrice {
  const exactOf = (tokens: TokenPrices): [TokenKind, Exact][] =>
    tokenKinds.map((kind) => {
      const { weight, usd, ratios } = tokens[kind];
      return [kind, change(kind, { units: { digits: weight, scale: price.scale }, usd, ratios })];
    });
  const plain = exactOf(price.tokens);
  const tiers = price.tiers.map(({ over, tokens }) => ({ over, exact: exactOf(tokens) }));
  const all = [plain, ...tiers.map(({ exact }) => exact)].flat();
  const scale = Math.max(call.scale, ...all.map(([, { units }]) => units.scale));
  const print = (entries: [TokenKind, Exact][]): TokenPrices =>
    Object.fromEntries(
      entries.map(([kind, { units, usd, ratios }]) => [kind, { weight: rescale(units, scale), usd, ratios }]),
    ) as Record<TokenKind, TokenPrices[TokenKind]>; // one entry per token kind, by tokenKinds
  return {
    ...price,
    scale,
    unit: 10n ** BigInt(scale),
    tokens: print(plain),
    tiers: tiers.map(({ over, exact }) => ({ over, tokens: print(exact) })),
    call: rescale(call, scale),
  };
}

/** The price of one call in dollars, in `why` too. */
function withCallPrice(price: CompiledPrice, usd: Decimal): CompiledPrice {
  const { model_price } = price.why;
  const value = Number(printDecimal(usd));
  return model_price ? { ...price, why: { ...price.why, model_price: { ...model_price, value } } } : price;
}

/** A price times a factor for input and one for output, which stands on the bill as `name`. */
export function timesPrice(price: CompiledPrice, name: string, input: number, output = input): CompiledPrice {
  const [inputs, outputs] = [toDecimal(input), toDecimal(output)];
  const callNow = { digits: price.call, scale: price.scale };
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
    multiply(callNow, inputs),
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
    { ...price, tiers: [] },
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
    { digits: price.call, scale: price.scale },
  );
}

/**
 * The plain price as the rule makes it; undefined: the rule is about prices of the other kind, by call or by tokens.
 */
function withRule(plain: CompiledPrice, rule: PriceRule): CompiledPrice | undefined {
  const { then } = rule;
  const byCall = plain.by === "call";
  if ("factor" in then) return { ...timesPrice(plain, "rule_ratio", then.factor), rule };
  if ("input" in then)
    return byCall ? undefined : { ...timesPrice(plain, "rule_ratio", then.input, then.output), rule };
  const { call, ...tokens } = then.usd;
  if (!byCall) return Object.keys(tokens).length > 0 ? { ...pricedAt(plain, tokens), rule } : undefined;
  if (call === undefined) return undefined;
  const usd = toDecimal(call);
  const units = multiply(usd, plain.quotaPerUnit, plain.groupRatio);
  return {
    ...withCallPrice(
      changed(plain, (_, exact) => exact, units),
      usd,
    ),
    rule,
  };
}

/** Whether no token and no call costs less at `one` than at `other`, at any length of input. */
function atLeast(one: CompiledPrice, other: CompiledPrice): boolean {
  const scale = Math.max(one.scale, other.scale);
  const least = (a: bigint, b: bigint): boolean =>
    rescale({ digits: a, scale: one.scale }, scale) >= rescale({ digits: b, scale: other.scale }, scale);
  const lengths = [0, ...one.tiers.map(({ over }) => over + 1), ...other.tiers.map(({ over }) => over + 1)];
  const at = ({ tokens, tiers }: CompiledPrice, length: number): TokenPrices =>
    tierFor(tiers, length)?.tokens ?? tokens;
  return (
    least(one.call, other.call) &&
    lengths.every((length) =>
      tokenKinds.every((kind) => least(at(one, length)[kind].weight, at(other, length)[kind].weight)),
    )
  );
}

/** The listed price of each that `priceAt` made. */
const listedOf = new WeakMap<CompiledPrice, CompiledPrice>();
const known = new WeakMap<CompiledPrice, Map<string, CompiledPrice>>();

/**
 * The price of a call in these circumstances: the rules that its request decides are applied; those that wait for its
 * usage are in `open`, in their order. A price without rules is returned as it is; one that was made for other
 * circumstances is made from its listed price again.
 */
export function priceAt(priced: CompiledPrice, circumstances: Circumstances): CompiledPrice {
  const price = listedOf.get(priced) ?? priced;
  const { rules } = price;
  if (!rules) return price;
  const states = rules.map((rule) => applies(rule, circumstances));
  let made = known.get(price);
  if (!made) known.set(price, (made = new Map()));
  const key = states.join();
  let found = made.get(key);
  if (!found) {
    // Rules on what callers choose have few states each; the number of their combinations has no other bound.
    if (made.size >= 1000) made.clear();
    const { rules: _rules, ...plain } = price;
    made.set(key, (found = narrowed(plain, rules, states)));
    listedOf.set(found, price);
  }
  return found;
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
    const others = [rest, ...(rest.open ?? []).map((one) => one.price)];
    // What callers choose does not spare them a price that applies without it.
    if (isCallers(rule) && rule.cheaper !== true && !others.every((other) => atLeast(ruled, other))) continue;
    const { input, cached } = rule.when;
    const when = { ...(input && { input }), ...(cached !== undefined && { cached }) };
    rest = states[i] === "yes" ? ruled : { ...rest, open: [{ when, price: ruled }, ...(rest.open ?? [])] };
  }
  return rest;
}
