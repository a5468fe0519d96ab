/**
 * The price list: which models a caller may use, in which groups, and the factors of their prices. Cached per user
 * group until the pool or an option changes; both replace their values as a whole, so comparing identities is enough.
 */
import { canonicalModel } from "../../../shared/channel-types";
import { contextLength } from "../../../shared/context-lengths";
import { autoGroups, DEFAULT_GROUP, usableGroups } from "../../../shared/group";
import { capabilitiesOf } from "../../../shared/model-capabilities";
import {
  type Catalogue,
  type CatalogueModel,
  ENDPOINTS,
  priceListRow,
  type PriceList,
  type PriceListRow,
  stepModels,
} from "../../../shared/price-list";
import { priceNoteOf } from "../../../shared/price-rows";
import { longContextOf, resolvePrice } from "../../../shared/pricing";
import { vendorId, vendorOf, vendors } from "../../../shared/vendors";
import type { Services } from "../../contracts/context";
import { groupFacts } from "../group/facts";
import { createPrices, type LivePrices } from "./price";

type Sources = Pick<Services, "options" | "pool">;

interface Kept {
  readonly prices: LivePrices;
  /** The values that the lists were built from. */
  made: readonly unknown[];
  readonly lists: Map<string, Catalogue>;
}

const kept = new WeakMap<Services["options"], Kept>();
/** User groups are few; a limit all the same, because users' rows name them. */
const MAX_LISTS = 100;

/** What is known of a model besides its price. */
function knownOf(model: string): Pick<CatalogueModel, "capabilities" | "context"> {
  const name = canonicalModel(model);
  const capabilities = capabilitiesOf(name);
  const context = contextLength(name);
  return { ...(capabilities.length > 0 && { capabilities }), ...(context !== undefined && { context }) };
}

function build({ options, pool }: Sources, prices: LivePrices, userGroup: string): Catalogue {
  const groups = usableGroups(groupFacts({ options }), userGroup);
  const { tables } = prices.book();
  const virtuals = options.get("VirtualModels");
  const offered = new Map<string, string[]>();
  for (const group of Object.keys(groups)) {
    for (const model of pool.models(group)) offered.set(model, [...(offered.get(model) ?? []), group]);
  }
  const models = [...offered]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([model, enable_groups]): CatalogueModel => {
      const virtual = Object.hasOwn(virtuals, model) ? virtuals[model] : undefined;
      if (virtual && !virtual.fixed_price) {
        const usable = virtual.steps.filter(({ group }) => group === undefined || Object.hasOwn(groups, group));
        const steps = usable.map(({ model: name, group }) => ({
          model: canonicalModel(name),
          ...(group && { group }),
        }));
        return { model, vendor: "", enable_groups, steps };
      }
      const price = resolvePrice(model, userGroup, userGroup, tables);
      const vendor = vendorOf(model)?.key ?? "";
      const facts = { model, vendor, enable_groups, ...knownOf(model) };
      if (price.unpriced) return facts;
      // The group's ratio is not the model's: it is listed once, in `groups`.
      const { group_ratio: _group, user_group_ratio: _own, ...factors } = price.why;
      const long_context = longContextOf(model, tables);
      const note = priceNoteOf(tables, model);
      return {
        ...facts,
        factors,
        ...(long_context.length > 0 && { long_context }),
        ...(price.rules && { rules: price.rules }),
        ...(note && { note }),
      };
    });
  return {
    models,
    groups,
    user_group: userGroup,
    quota_per_unit: tables.QuotaPerUnit,
    batch_ratio: options.get("BatchRatio"),
  };
}

function keptFor(options: Services["options"]): Kept {
  let state = kept.get(options);
  if (!state) kept.set(options, (state = { prices: createPrices(options), made: [], lists: new Map() }));
  return state;
}

/** Those of the named models that have neither price nor ratio, in the order of the names. */
export function unpricedOf({ options }: Pick<Sources, "options">, models: readonly string[]): string[] {
  const { tables } = keptFor(options).prices.book();
  return models.filter((model) => resolvePrice(model, DEFAULT_GROUP, DEFAULT_GROUP, tables).unpriced);
}

/** Models of the groups that a user of `userGroup` may use, sorted by name; no other group is named anywhere in it. */
export function catalogue(sources: Sources, userGroup: string): Catalogue {
  const { options, pool } = sources;
  const state = keptFor(options);
  const made = [
    pool.enabledModels(),
    state.prices.book(),
    options.get("UserUsableGroups"),
    options.get("VirtualModels"),
    options.get("BatchRatio"),
  ];
  if (made.some((source, i) => source !== state.made[i])) {
    state.lists.clear();
    state.made = made;
  }
  let list = state.lists.get(userGroup);
  if (!list) {
    if (state.lists.size >= MAX_LISTS) state.lists.clear();
    list = build(sources, state.prices, userGroup);
    state.lists.set(userGroup, list);
  }
  return list;
}

/** Readers of that list know one price a model: of a virtual one they get the step that costs most. */
function dearestRow(models: readonly CatalogueModel[], virtual: CatalogueModel): PriceListRow | undefined {
  const rows = stepModels(models, virtual).flatMap(({ item }) => priceListRow(item) ?? []);
  const cost = ({ model_price, model_ratio, completion_ratio }: PriceListRow): number =>
    model_price > 0 ? model_price * 500_000 : model_ratio * (1 + completion_ratio);
  const dearest = rows.toSorted((a, b) => cost(b) - cost(a))[0];
  const { model, enable_groups } = virtual;
  return dearest && { ...dearest, model_name: model, enable_groups: [...enable_groups], owner_by: "", vendor_id: 0 };
}

/** GET /api/pricing. A model without a price is left out: it cannot be called, and a price of 0 would mean free. */
export function priceList(sources: Sources, userGroup: string): PriceList {
  const { models, groups } = catalogue(sources, userGroup);
  const names = Object.entries(groups);
  const data = models.flatMap((model) => priceListRow(model) ?? dearestRow(models, model) ?? []);
  const listed = new Set(data.map(({ vendor_id }) => vendor_id));
  return {
    data,
    vendors: vendors.map(({ key, name }) => ({ id: vendorId(key), name: name.en })).filter(({ id }) => listed.has(id)),
    auto_groups: autoGroups(groupFacts(sources), userGroup),
    supported_endpoint: ENDPOINTS,
    group_ratio: Object.fromEntries(names.map(([group, { ratio }]) => [group, ratio])),
    usable_group: Object.fromEntries(names.map(([group, { desc }]) => [group, desc])),
  };
}

/** GET /api/ratio_config: the tables as other gateways copy them; undefined while ExposeRatioEnabled is off. */
export function ratioTables({ options }: Pick<Services, "options">) {
  if (!options.get("ExposeRatioEnabled")) return undefined;
  return {
    model_ratio: options.get("ModelRatio"),
    completion_ratio: options.get("CompletionRatio"),
    cache_ratio: options.get("CacheRatio"),
    create_cache_ratio: options.get("CreateCacheRatio"),
    create_cache_1h_ratio: options.get("CreateCache1hRatio"),
    image_ratio: options.get("ImageRatio"),
    image_completion_ratio: options.get("ImageCompletionRatio"),
    audio_ratio: options.get("AudioRatio"),
    audio_completion_ratio: options.get("AudioCompletionRatio"),
    long_context_ratio: options.get("LongContextRatio"),
    model_price: options.get("ModelPrice"),
  };
}
