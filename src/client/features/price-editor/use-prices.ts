import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { OptionKey } from "../../../shared/options";
import {
  changedOptions,
  type EditedTables,
  type PriceRow,
  priceRows,
  type RatioTables,
} from "../../../shared/price-rows";
import { type PriceTables, resolvePrice } from "../../../shared/pricing";
import { toastInfo, toastUndo } from "../../lib/toast";
import { trpc } from "../../lib/trpc";

export interface Prices {
  /** The values in force, as the ledger reads them. */
  readonly tables: PriceTables & RatioTables;
  /** The options' texts. */
  readonly text: (key: OptionKey) => string;
  readonly rows: readonly PriceRow[];
  readonly served: readonly string[];
}

/** The price options and the models that channels serve; undefined until they are here. */
export function usePrices() {
  const options = trpc.option.list.useQuery(undefined, { meta: { quiet: true } });
  const values = trpc.pricing.tables.useQuery(undefined, { meta: { quiet: true } });
  const models = trpc.channel.modelsEnabled.useQuery(undefined, { meta: { quiet: true } });
  const prices = useMemo((): Prices | undefined => {
    if (!options.data || !values.data || !models.data) return undefined;
    const texts = new Map(options.data.map(({ key, value }) => [key, value]));
    const tables = values.data;
    const priced = { ...tables, SelfUseModeEnabled: false };
    return {
      tables,
      text: (key) => texts.get(key) ?? "",
      rows: priceRows(tables, models.data, (name) => !resolvePrice(name, "default", "default", priced).unpriced),
      served: models.data,
    };
  }, [options.data, values.data, models.data]);
  return { prices, query: [values, models].find(({ error }) => error) ?? options };
}

/** Stores options, one PUT each, and offers to take it back. Resolves to false when there was nothing to store. */
export function useSavePrices() {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const set = trpc.option.set.useMutation();

  const put = async (changes: readonly { key: string; value: string }[]) => {
    try {
      for (const change of changes) await set.mutateAsync(change);
    } finally {
      await Promise.all([utils.option.list.invalidate(), utils.pricing.invalidate()]);
    }
  };

  return {
    saving: set.isPending,
    /** Writes the tables that differ. Rejects when the server refuses one; the refusal has been shown. */
    save: async (before: EditedTables, after: EditedTables): Promise<boolean> => {
      const changes = changedOptions(before, after);
      if (changes.length === 0) {
        toastInfo(t`你似乎并没有修改什么`);
        return false;
      }
      await put(changes.map(({ key, value }) => ({ key, value })));
      const undo = changes.map(({ key, was }) => ({ key, value: was }));
      toastUndo(t`价格已保存`, () => void put(undo).catch(() => undefined));
      return true;
    },
    /** Writes one option's text. */
    saveText: async (key: OptionKey, before: string, after: string): Promise<boolean> => {
      if (before === after) {
        toastInfo(t`你似乎并没有修改什么`);
        return false;
      }
      await put([{ key, value: after }]);
      toastUndo(t`价格已保存`, () => void put([{ key, value: before }]).catch(() => undefined));
      return true;
    },
  };
}
