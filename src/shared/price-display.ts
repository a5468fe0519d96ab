/** A compiled price (pricing.ts) for display and for log rows. */
import { type Decimal, multiply, printDecimal, roundTo, toDecimal } from "./decimal";
import { ruleText } from "./price-rule-text";
import type { PriceRule } from "./price-rules";
import type { Lang } from "./text";
import { type CompiledPrice, type TokenKind, tokenKinds, type TokenPrices, type FactorName } from "./pricing";

/** Prices in USD for one group, as texts of at most 9 decimals: per 1M tokens by kind, or per call. */
export type DisplayPrices = Readonly<Partial<Record<TokenKind | "call", string>>>;

const show = (value: Decimal): string => printDecimal(roundTo(value, 9));

/** The prices of long inputs, USD per 1M tokens in the price's group: from more than `over` input tokens on. */
export function longContextPrices(price: CompiledPrice): { over: number; input: string; output: string }[] {
  const usd = (tokens: TokenPrices, kind: TokenKind): string =>
    show(multiply(toDecimal(tokens[kind].usd), price.groupRatio));
  return (price.open ?? []).toReversed().map(({ when, price: { tokens } }) => ({
    over: when.input?.over ?? 0,
    input: usd(tokens, "input"),
    output: usd(tokens, "output"),
  }));
}

/** Input and output always; the other kinds only where a table names a ratio for the model. */
export function displayPrices(price: CompiledPrice): DisplayPrices {
  if (price.by === "call") {
    return { call: show(multiply(toDecimal(price.why.model_price?.value ?? 0), price.groupRatio)) };
  }
  const named: Readonly<Partial<Record<TokenKind, FactorName>>> = {
    input: "model_ratio",
    output: "model_ratio",
    cache_read: "cache_ratio",
    cache_write_5m: "cache_creation_ratio",
    cache_write_1h: "cache_creation_ratio",
    audio_in: "audio_ratio",
    audio_out: "audio_completion_ratio",
    image_in: "image_ratio",
    image_out: "image_completion_ratio",
  };
  const shown = tokenKinds.filter((kind) => {
    const name = named[kind];
    const factor = name && price.why[name];
    return factor !== undefined && factor.source !== "default";
  });
  return Object.fromEntries(
    shown.map((kind) => [kind, show(multiply(toDecimal(price.tokens[kind].usd), price.groupRatio))]),
  );
}

type PlainFactor = Exclude<FactorName, `image${string}` | `audio${string}` | "cache_creation_1h_ratio">;

/** The text of a charge: what its price was made of, and the rule that applied. */
export function priceText(facts: PriceTextFacts, lang: Lang, rule?: PriceRule): string {
  const plain = plainText(facts, lang);
  if (!rule) return plain;
  return lang === "zh"
    ? `${plain}；价格规则“${rule.name}”：${ruleText(rule, "zh")}`
    : `${plain}; price rule "${rule.name}": ${ruleText(rule, "en")}`;
}

function plainText(facts: PriceTextFacts, lang: Lang): string {
  const { model_price, model_ratio, completion_ratio, group_ratio, user_group_ratio } = facts;
  const group = user_group_ratio >= 0 ? user_group_ratio : group_ratio;
  if (model_price >= 0) {
    return lang === "zh"
      ? `模型价格 $${model_price}，分组倍率 ${group}`
      : `Model price $${model_price}, group ratio ${group}`;
  }
  return lang === "zh"
    ? `模型倍率 ${model_ratio}，补全倍率 ${completion_ratio}，分组倍率 ${group}`
    : `Model ratio ${model_ratio}, completion ratio ${completion_ratio}, group ratio ${group}`;
}

export type PriceTextFacts = Readonly<
  Record<"model_price" | "model_ratio" | "completion_ratio" | "group_ratio" | "user_group_ratio", number>
>;

/** The factors in a log row's `other` and a pricing row: -1 where there is no price or exclusive ratio. */
export function priceFacts(price: CompiledPrice): Record<PlainFactor, number> {
  const value = (name: FactorName, otherwise: number): number => price.why[name]?.value ?? otherwise;
  return {
    model_price: value("model_price", -1),
    model_ratio: value("model_ratio", 0),
    completion_ratio: value("completion_ratio", 0),
    cache_ratio: value("cache_ratio", 1),
    cache_creation_ratio: value("cache_creation_ratio", 1),
    group_ratio: value("group_ratio", 1),
    user_group_ratio: value("user_group_ratio", -1),
  };
}
