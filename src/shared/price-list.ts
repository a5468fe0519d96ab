/**
 * The price list on the wire: GET /api/pricing for existing front-ends and scripts, `Catalogue` for the console, which
 * computes every price it shows from the factors with shared/pricing.ts, as the ledger does.
 */
import * as z from "zod";
import type { GroupChoice } from "./group";
import type { ContextTiers } from "./long-context";
import { compilePrice, type CompiledPrice, type Factors } from "./pricing";
import type { PriceRule } from "./price-rules";
import type { Text } from "./text";
import { vendorId } from "./vendors";

/** A row of GET /api/pricing. */
export interface PriceListRow {
  model_name: string;
  /** 0: by tokens, 1: per call. */
  quota_type: 0 | 1;
  /** USD per 1M input tokens divided by 2; 0 when per call. */
  model_ratio: number;
  /** USD per call; 0 when by tokens. */
  model_price: number;
  /** Key of the vendor, "" when unknown. */
  owner_by: string;
  completion_ratio: number;
  /** Groups of the caller in which an enabled channel serves the model. Never null, never empty. */
  enable_groups: readonly string[];
  /** Id in `vendors`, 0 when unknown. */
  vendor_id: number;
  /** Keys of `supported_endpoint`. */
  supported_endpoint_types: readonly string[];
}

/** Where models are called; the family's name for it (new-api constant/endpoint_type.go, read 2026-11). */
export const ENDPOINTS = { openai: { path: "/v1/chat/completions", method: "POST" } } as const;

/** The members of GET /api/pricing beside success and message. */
export interface PriceList {
  data: PriceListRow[];
  /** The caller's ratio in each usable group. */
  group_ratio: Record<string, number>;
  /** Display names of those groups. */
  usable_group: Record<string, string>;
  /** The makers of the listed models. */
  vendors: { id: number; name: string }[];
  /** The groups of "auto" that the caller may use, in order. */
  auto_groups: string[];
  supported_endpoint: typeof ENDPOINTS;
}

/** What models can do besides reading and writing text: `vision` reads images, `image` and `video` make them. */
export const CAPABILITIES = ["vision", "tools", "reasoning", "audio", "image", "video", "embedding", "rerank"] as const;
export type Capability = (typeof CAPABILITIES)[number];

export interface CatalogueModel {
  readonly model: string;
  /** Key in shared/vendors.ts, "" when unknown. */
  readonly vendor: string;
  /** The caller's groups in which an enabled channel serves it. */
  readonly enable_groups: readonly string[];
  /** All factors except the group's; absent: no price is set and calls are refused. */
  readonly factors?: Factors;
  /** Prices that rise with the length of the input; absent where they do not. */
  readonly long_context?: ContextTiers;
  /** Rules that replace the price when they apply, the first first; absent for most. */
  readonly rules?: readonly PriceRule[];
  /** What the built-in price leaves out, while it is in force. */
  readonly note?: Text;
  /** What is known of it; absent where nothing is. */
  readonly capabilities?: readonly Capability[];
  /** Its longest input in tokens; absent where it is not known. */
  readonly context?: number;
  /** A virtual model that costs what its answering step costs: it has no factors of its own. */
  readonly steps?: readonly { readonly model: string; readonly group?: string }[];
}

/** The listed models that a virtual one may be billed as, each with the group of its step; none for other models. */
export function stepModels(
  models: readonly CatalogueModel[],
  { steps = [] }: CatalogueModel,
): { item: CatalogueModel; group: string | undefined }[] {
  return steps.flatMap(({ model, group }) => {
    const item = models.find((one) => one.model === model && one.factors);
    return item ? [{ item, group }] : [];
  });
}

export interface Catalogue {
  readonly models: readonly CatalogueModel[];
  /** The groups the caller may use. */
  readonly groups: Readonly<Record<string, GroupChoice>>;
  /** The caller's own group; a guest's is that of new users. */
  readonly user_group: string;
  readonly quota_per_unit: number;
  /** The price of a batch's lines as a share of single calls' (option BatchRatio). */
  readonly batch_ratio: number;
}

/** How a model is billed; null: it has no price. */
export function billingOf({ factors }: CatalogueModel): "ratio" | "call" | null {
  return factors ? (factors.model_price ? "call" : "ratio") : null;
}

/**
 * The price of a model in a group with this ratio, ready for `displayPrices` and `chargeOf`; undefined without a price.
 */
export function catalogPrice(
  { model, factors, long_context, rules }: CatalogueModel,
  ratio: number,
  quotaPerUnit: number,
): CompiledPrice | undefined {
  if (!factors) return undefined;
  const why: Factors = { ...factors, group_ratio: { value: ratio, source: "GroupRatio" } };
  const tables = { QuotaPerUnit: quotaPerUnit, "tool_price_setting.prices": {} };
  return { ...compilePrice(model, "", why, tables, long_context), ...(rules && { rules }) };
}

/** The row of GET /api/pricing; undefined without a price. */
export function priceListRow({ model, vendor, enable_groups, factors }: CatalogueModel): PriceListRow | undefined {
  if (!factors) return undefined;
  return {
    model_name: model,
    quota_type: factors.model_price ? 1 : 0,
    model_ratio: factors.model_ratio?.value ?? 0,
    model_price: factors.model_price?.value ?? 0,
    owner_by: vendor,
    completion_ratio: factors.completion_ratio?.value ?? 1,
    enable_groups: [...enable_groups],
    vendor_id: vendorId(vendor),
    supported_endpoint_types: Object.keys(ENDPOINTS),
  };
}

/** The models in question. */
export const unpricedInput = z.object({ models: z.array(z.string().max(255)).max(5000) });
