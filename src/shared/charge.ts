/** What a call costs by a compiled price (pricing.ts): the bill, the running cost, and an upper bound. */
import { type Decimal, multiply, one, printDecimal, rescale, roundHalfAway, toDecimal, zero } from "./decimal";
import { inRange, type PriceRule } from "./price-rules";
import { type CompiledPrice, outputKinds, type TokenKind, tokenKinds, type Usage } from "./pricing";
import { CHARGE_LIMIT } from "./quota";

/** One line of a bill. The exact units of all lines sum to the exact cost. */
export interface BillLine {
  readonly kind: TokenKind | "call" | "tool" | "minimum";
  /** The name of the tool. */
  readonly tool?: string;
  /** Tokens; for "call" and "tool" calls. */
  readonly count: number;
  /** USD per 1M tokens ("call": per call, "tool": per 1000 calls), before the group ratio. */
  readonly usd: string;
  /** The factors of this line by name, as exact texts. */
  readonly ratios: Readonly<Record<string, string>>;
  /** Exact units of quota as a decimal text. */
  readonly units: string;
}

export interface Charge {
  /** Whole units, rounded once. */
  readonly quota: number;
  /** The exact cost before rounding, as a decimal text: the sum of the lines. */
  readonly exact: string;
  readonly lines: readonly BillLine[];
  /** The rule that made the price; absent: the plain one. */
  readonly rule?: PriceRule;
}

/** Multipliers of a price per call: how many results, and factors such as size, quality or seconds. */
export interface CallTimes {
  /** 1 unless given. */
  readonly calls?: number;
  readonly factors?: Readonly<Record<string, number | string>>;
}

function count(value: number | undefined): number {
  return value !== undefined && value > 0 ? Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER) : 0;
}

const inputKinds = tokenKinds.filter((kind) => !outputKinds.has(kind));

const inputOf = (usage: Usage): number => inputKinds.reduce((total, kind) => total + count(usage[kind]), 0);

/** The price that the usage decides, where rules or the tiers of long inputs wait for it. */
export function priceFor(price: CompiledPrice, usage: Usage): CompiledPrice {
  if (!price.open) return price;
  const input = inputOf(usage);
  const cached = count(usage.cache_read) > 0;
  const rule = price.open.find(
    ({ when }) =>
      (when.input === undefined || inRange(when.input, input)) && (when.cached === undefined || when.cached === cached),
  );
  // A rule's price has the tiers of the plain one.
  return rule ? priceFor(rule.price, usage) : price;
}

/** Every price that a call of at most so many input tokens may come to. */
function pricesWithin({ open = [], ...price }: CompiledPrice, inputTokens: number): readonly CompiledPrice[] {
  const reached = open.filter(({ when }) => inputTokens > (when.input?.over ?? -1));
  return [price, ...reached.flatMap((rule) => pricesWithin(rule.price, inputTokens))];
}

const mostUnits = BigInt(CHARGE_LIMIT);

const toQuota = (units: bigint): number => (units > mostUnits ? CHARGE_LIMIT : Number(units));

function callLine(price: CompiledPrice, times: CallTimes): { line: BillLine; units: Decimal } {
  const calls = count(times.calls ?? 1);
  const factors = Object.entries(times.factors ?? {}).map(([name, value]) => [name, toDecimal(value)] as const);
  const units = multiply(
    { digits: price.call, scale: price.scale },
    toDecimal(calls),
    ...factors.map(([, value]) => value),
  );
  const ratios = { ...Object.fromEntries(factors), group_ratio: price.groupRatio };
  const line: BillLine = {
    kind: "call",
    count: calls,
    usd: printDecimal(toDecimal(price.why.model_price?.value ?? 0)),
    ratios: Object.fromEntries(Object.entries(ratios).map(([name, value]) => [name, printDecimal(value)])),
    units: printDecimal(units),
  };
  return { line, units };
}

const thousandth = toDecimal("0.001");

function toolLine(price: CompiledPrice, tool: string, calls: number): { line: BillLine; units: Decimal } {
  const usd = price.tools.get(tool) ?? zero;
  const units = multiply(usd, thousandth, toDecimal(calls), price.groupRatio, price.quotaPerUnit);
  const ratios = { group_ratio: printDecimal(price.groupRatio) };
  const texts = { usd: printDecimal(usd), units: printDecimal(units) };
  return { line: { kind: "tool", tool, count: calls, ratios, ...texts }, units };
}

function sum(values: readonly Decimal[]): Decimal {
  let scale = 0;
  for (const value of values) if (value.scale > scale) scale = value.scale;
  let digits = 0n;
  for (const value of values) digits += rescale(value, scale);
  return { digits, scale };
}

/**
 * What a call costs, with its bill. By ratio every bucket is a line; by call the price is one line and tokens are free;
 * tools are lines in both. A call with a price above 0 costs at least 1 unit once anything was used: the line "minimum"
 * then has the difference. Never negative; at most CHARGE_LIMIT.
 */
export function chargeOf(listed: CompiledPrice, usage: Usage, times: CallTimes = {}): Charge {
  const price = priceFor(listed, usage);
  const rule = price.rule && { rule: price.rule };
  const lines: BillLine[] = [];
  const units: Decimal[] = [];
  let used = false;
  if (price.by === "call") {
    const { line, units: cost } = callLine(price, times);
    lines.push(line);
    units.push(cost);
  } else {
    for (const kind of tokenKinds) {
      const tokens = count(usage[kind]);
      if (tokens === 0) continue;
      const { weight, usd, ratios } = price.tokens[kind];
      const cost = { digits: weight * BigInt(tokens), scale: price.scale };
      used ||= price.tokens.input.weight > 0n;
      lines.push({ kind, count: tokens, usd, ratios, units: printDecimal(cost) });
      units.push(cost);
    }
  }
  for (const tool in usage.server_tools) {
    const calls = count(usage.server_tools[tool]);
    if (calls === 0) continue;
    const { line, units: cost } = toolLine(price, tool, calls);
    lines.push(line);
    units.push(cost);
  }
  const total = sum(units);
  const rounded = roundHalfAway(total.digits, total.scale === price.scale ? price.unit : 10n ** BigInt(total.scale));
  if (rounded > 0n || (total.digits === 0n && !used)) {
    return { quota: toQuota(rounded), exact: printDecimal(total), lines, ...rule };
  }
  const missing = sum([one, { digits: -total.digits, scale: total.scale }]);
  lines.push({ kind: "minimum", count: 1, usd: "0", ratios: {}, units: printDecimal(missing) });
  return { quota: 1, exact: "1", lines, ...rule };
}

/** Exact units that a cache saved against plain input, as a decimal text; below zero where writing cost more. */
export function savedByCache(listed: CompiledPrice, usage: Usage): string {
  const { tokens, scale } = priceFor(listed, usage);
  let digits = 0n;
  for (const kind of ["cache_read", "cache_write_5m", "cache_write_1h"] as const)
    digits += (tokens.input.weight - tokens[kind].weight) * BigInt(count(usage[kind]));
  return printDecimal({ digits, scale });
}

/** The quota of `chargeOf` without the bill, for running costs. By ratio only; tools are not counted. */
export function quotaOf(listed: CompiledPrice, usage: Usage): number {
  const price = priceFor(listed, usage);
  if (price.by === "call") return chargeOf(price, {}).quota;
  let total = 0n;
  let any = false;
  for (const kind of tokenKinds) {
    const tokens = count(usage[kind]);
    if (tokens === 0) continue;
    any = true;
    total += price.tokens[kind].weight * BigInt(tokens);
  }
  const rounded = roundHalfAway(total, price.unit);
  const least = any && (total > 0n || price.tokens.input.weight > 0n) ? 1n : 0n;
  return toQuota(rounded > least ? rounded : least);
}

/** Kinds of input besides plain text, where the request shows them. */
export interface InputKinds {
  readonly cache_write?: "5m" | "1h";
  readonly audio?: boolean;
  readonly image?: boolean;
  readonly audio_out?: boolean;
  readonly image_out?: boolean;
  /** Tokens of the call's whole input where `inputTokens` are only the estimated part. */
  readonly context?: number;
}

/**
 * An upper bound of the cost of a call of at most so many tokens, for holds: every token at the highest price that the
 * request allows, by the dearest rule or tier that may still apply, rounded up. Equal to the charge when the call uses
 * all of it and is plain text.
 */
export function estimateUpperBound(
  price: CompiledPrice,
  inputTokens: number,
  outputTokens: number,
  kinds: InputKinds = {},
): number {
  const longest = Math.max(count(inputTokens), count(kinds.context));
  if (price.open)
    return Math.max(
      ...pricesWithin(price, longest).map((one) => estimateUpperBound(one, inputTokens, outputTokens, kinds)),
    );
  return price.by === "call" ? chargeOf(price, {}).quota : boundAt(price, inputTokens, outputTokens, kinds);
}

/** The most that `times` of a price per call may cost, with at most so many input tokens. */
export const callUpperBound = (price: CompiledPrice, inputTokens: number, times: CallTimes = {}): number =>
  Math.max(...pricesWithin(price, inputTokens).map((one) => chargeOf(one, {}, times).quota));

/**
 * The most output tokens, up to `most`, whose `estimateUpperBound` with so many input tokens does not exceed `units`.
 */
export function outputWithin(
  price: CompiledPrice,
  inputTokens: number,
  units: number,
  most: number,
  kinds?: InputKinds,
): number {
  let [covered, beyond] = [0, most + 1];
  while (beyond - covered > 1) {
    const middle = Math.floor((covered + beyond) / 2);
    if (estimateUpperBound(price, inputTokens, middle, kinds) <= units) covered = middle;
    else beyond = middle;
  }
  return covered;
}

/** Weights of the dearest kinds. */
interface Dearest {
  readonly input: bigint;
  readonly output: bigint;
}

/** Of calls of plain text. */
const dearestText = new WeakMap<CompiledPrice, Dearest>();

function dearestOf(price: CompiledPrice, kinds: InputKinds): Dearest {
  const { cache_write, audio, image, audio_out, image_out } = kinds;
  if (cache_write || audio || image || audio_out || image_out) return dearestAmong(price, kinds);
  let known = dearestText.get(price);
  if (!known) dearestText.set(price, (known = dearestAmong(price, kinds)));
  return known;
}

function dearestAmong({ tokens }: CompiledPrice, kinds: InputKinds): Dearest {
  const orMore = (least: bigint, kind: TokenKind, wanted: boolean): bigint =>
    wanted && tokens[kind].weight > least ? tokens[kind].weight : least;
  let input = orMore(orMore(0n, "input", true), "cache_read", true);
  input = orMore(input, "cache_write_5m", kinds.cache_write === "5m");
  input = orMore(input, "cache_write_1h", kinds.cache_write === "1h");
  input = orMore(input, "audio_in", kinds.audio === true);
  input = orMore(input, "image_in", kinds.image === true);
  let output = orMore(orMore(0n, "output", true), "audio_out", kinds.audio_out === true);
  output = orMore(output, "image_out", kinds.image_out === true);
  return { input, output };
}

function boundAt(price: CompiledPrice, inputTokens: number, outputTokens: number, kinds: InputKinds): number {
  const { unit, tokens } = price;
  const { input, output } = dearestOf(price, kinds);
  const [inputs, outputs] = [count(inputTokens), count(outputTokens)];
  const total = input * BigInt(inputs) + output * BigInt(outputs);
  const up = (total + unit - 1n) / unit;
  const least = inputs + outputs > 0 && tokens.input.weight > 0n ? 1n : 0n;
  return toQuota(up > least ? up : least);
}
