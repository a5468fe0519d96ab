/**
 * The two public catalogues of vendors' list prices. Models that several sellers offer have the price of their maker,
 * or the one on which all agree.
 *
 * LiteLLM: model_prices_and_context_window.json, an object by model name, USD per token (its .schema.json). models.dev:
 * api.json, an object by provider, `cost` in USD per million tokens. Both read November 2026.
 */
import { type PriceColumn, type PriceNumbers, toRatios } from "./price-rows";

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** USD for `times` of what the number counts, without the noise of floating point. */
const dollars = (value: unknown, times: number): number | undefined =>
  typeof value === "number" && value >= 0 && value * times <= 1e6 ? Number((value * times).toPrecision(12)) : undefined;

const MILLION = 1_000_000;

const LITELLM_COLUMNS: readonly (readonly [PriceColumn, string])[] = [
  ["ModelRatio", "input_cost_per_token"],
  ["CompletionRatio", "output_cost_per_token"],
  ["CacheRatio", "cache_read_input_token_cost"],
  ["CreateCacheRatio", "cache_creation_input_token_cost"],
  ["CreateCache1hRatio", "cache_creation_input_token_cost_above_1hr"],
  ["AudioRatio", "input_cost_per_audio_token"],
  ["AudioCompletionRatio", "output_cost_per_audio_token"],
  ["ImageCompletionRatio", "output_cost_per_image_token"],
];

const MODELS_DEV_COLUMNS: readonly (readonly [PriceColumn, string])[] = [
  ["ModelRatio", "input"],
  ["CompletionRatio", "output"],
  ["CacheRatio", "cache_read"],
  ["CreateCacheRatio", "cache_write"],
  ["AudioRatio", "input_audio"],
  ["AudioCompletionRatio", "output_audio"],
];

/** The providers of models.dev that sell their own models. */
const MAKERS: ReadonlySet<string> = new Set([
  "alibaba",
  "anthropic",
  "cohere",
  "deepseek",
  "google",
  "minimax",
  "mistral",
  "moonshotai",
  "openai",
  "perplexity",
  "stepfun",
  "xai",
  "xiaomi",
  "zai",
]);

/** Numbers of a row; undefined without a price of both input and output, or where ratios cannot express them. */
function numbersOf(row: Json, columns: typeof LITELLM_COLUMNS, times: number): PriceNumbers | undefined {
  const usd: Partial<Record<PriceColumn, number>> = {};
  for (const [column, member] of columns) {
    const value = dollars(row[member], times);
    if (value !== undefined) usd[column] = value;
  }
  return usd.ModelRatio === undefined || usd.CompletionRatio === undefined ? undefined : toRatios(usd);
}

/** Of several sellers' rows, the price on which all agree. */
function agreed(rows: ReadonlyMap<string, readonly PriceNumbers[]>): Map<string, PriceNumbers> {
  const found = new Map<string, PriceNumbers>();
  for (const [name, [first, ...others]] of rows) {
    if (first && others.every((other) => JSON.stringify(other) === JSON.stringify(first))) found.set(name, first);
  }
  return found;
}

function fromLiteLlm(json: Json): Map<string, PriceNumbers> {
  const plain = new Map<string, PriceNumbers>();
  const sellers = new Map<string, PriceNumbers[]>();
  for (const [key, row] of Object.entries(json)) {
    if (key === "sample_spec" || !isObject(row) || typeof row.litellm_provider !== "string") continue;
    const numbers = numbersOf(row, LITELLM_COLUMNS, MILLION);
    if (!numbers) continue;
    plain.set(key, numbers);
    const name = key.slice(key.lastIndexOf("/") + 1);
    if (name !== key) sellers.set(name, [...(sellers.get(name) ?? []), numbers]);
  }
  return new Map([...agreed(sellers), ...plain]);
}

function fromModelsDev(json: Json): Map<string, PriceNumbers> {
  const makers = new Map<string, PriceNumbers[]>();
  for (const [provider, entry] of Object.entries(json)) {
    if (!MAKERS.has(provider) || !isObject(entry) || !isObject(entry.models)) continue;
    for (const [key, model] of Object.entries(entry.models)) {
      const numbers = isObject(model) && isObject(model.cost) && numbersOf(model.cost, MODELS_DEV_COLUMNS, 1);
      if (numbers) makers.set(key, [...(makers.get(key) ?? []), numbers]);
    }
  }
  return agreed(makers);
}

/** The prices of a catalogue; undefined where the object is none. */
export function readCatalogue(json: unknown): Map<string, PriceNumbers> | undefined {
  if (!isObject(json)) return undefined;
  const rows = Object.values(json).filter(isObject);
  if (rows.some((row) => typeof row.litellm_provider === "string")) return fromLiteLlm(json);
  if (rows.some((row) => isObject(row.models) && Object.values(row.models).some((m) => isObject(m) && "cost" in m)))
    return fromModelsDev(json);
  return undefined;
}
