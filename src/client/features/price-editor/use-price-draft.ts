import { msg } from "@lingui/core/macro";
import { useState } from "react";
import { type EditedTables, numbersOf, type PriceNumbers, withNumbers, withTiers } from "../../../shared/price-rows";
import { longContextOf } from "../../../shared/pricing";
import { unitOf } from "../pricing/price-unit";
import { type FieldErrors, inUnit, numbersFrom, textsOf, type Unit } from "./price-fields";
import { tierRows, tiersFrom } from "./tier-rows";
import type { Prices } from "./use-prices";

export interface PriceDraftOptions {
  tables: Prices["tables"];
  /** Models that get the price; empty: a new one whose name is asked for. */
  names: readonly string[];
  /** Names that have a price already. */
  taken: ReadonlySet<string>;
  onSave: (after: EditedTables) => Promise<boolean>;
  onClose: () => void;
}

export type PriceDraft = ReturnType<typeof usePriceDraft>;

/** A price while it is typed, and the tables as they would be with it. */
export function usePriceDraft({ tables, names, taken, onSave, onClose }: PriceDraftOptions) {
  const [only] = names;
  const stored: PriceNumbers = names.length === 1 && only !== undefined ? numbersOf(tables, only) : {};
  const [name, setName] = useState("");
  const [unit, setUnit] = useState<Unit>("usd");
  const [texts, setTexts] = useState(() => textsOf(stored, "usd"));
  const [errors, setErrors] = useState<FieldErrors>({});
  const inForce = only === undefined || names.length > 1 ? [] : longContextOf(only, tables);
  const [tiers, setTiers] = useState(() => tierRows(inForce));
  const [tried, setTried] = useState(false);
  const fixed = texts.ModelPrice.trim() !== "";
  const count = names.length;

  const read = numbersFrom(texts, unit, stored);
  const wantedTiers = tiersFrom(tiers);
  const targets = count === 0 ? [name.trim()].filter(Boolean) : names;
  const bySecond = targets.length > 0 && targets.every((model) => unitOf(model) === "second");
  /**
   * The tables with what is typed. Unedited tiers stay what they are, also those of an entry that ends in `*`.
   */
  const draft = (): Prices["tables"] | undefined => {
    if ("errors" in read || targets.length === 0 || !(fixed || wantedTiers)) return undefined;
    const priced = { ...tables, ...withNumbers(tables, new Map(targets.map((model) => [model, read.numbers]))) };
    const [model] = targets;
    const touched = JSON.stringify(tiers) !== JSON.stringify(tierRows(inForce));
    if (fixed || !wantedTiers || model === undefined || targets.length > 1 || !touched) return priced;
    const bare = withTiers(priced, model, undefined);
    // An empty entry of its own takes back what an entry for many models gives.
    return wantedTiers.length === 0 && longContextOf(model, bare).length === 0
      ? bare
      : withTiers(priced, model, wantedTiers);
  };
  const after = draft();

  const save = async () => {
    setTried(true);
    const wrong: FieldErrors = "errors" in read ? { ...read.errors } : {};
    const named = name.trim();
    if (count === 0 && named === "") wrong.name = msg`请输入模型名称`;
    if (count === 0 && taken.has(named)) wrong.name = msg`模型名称已存在`;
    setErrors(wrong);
    if (!after || wrong.name) return;
    if (await onSave(after).catch(() => false)) onClose();
  };
  const change = (key: keyof typeof texts, text: string) => {
    setTexts({ ...texts, [key]: text });
    setErrors({});
  };
  const switchUnit = (ratios: boolean) => {
    const next = ratios ? "ratio" : "usd";
    setTexts(inUnit(texts, unit, next, stored));
    setUnit(next);
  };

  return {
    name,
    setName: (text: string) => (setName(text), setErrors({})),
    unit,
    switchUnit,
    texts,
    change,
    errors,
    /** A price for each call, or each second: prices by the token do not count. */
    fixed,
    bySecond,
    tiers,
    setTiers: (rows: typeof tiers) => (setTiers(rows), setTried(false)),
    tiersAreWrong: tried && !fixed && !wantedTiers,
    after,
    save: () => void save(),
  };
}
