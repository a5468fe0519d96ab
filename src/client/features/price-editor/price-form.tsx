import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import {
  type EditedTables,
  numbersOf,
  priceNoteOf,
  type PriceNumbers,
  withNumbers,
  withTiers,
} from "../../../shared/price-rows";
import { longContextOf } from "../../../shared/pricing";
import { FieldFrame, FormRow, FormStack } from "../../components/form-field";
import { RowsTable } from "../../components/rows-table";
import { Button } from "../../ui/button";
import { Drawer } from "../../ui/drawer";
import { Input } from "../../ui/input";
import { SwitchField } from "../../ui/switch";
import { PriceNote } from "../pricing/price-note";
import { unitOf } from "../pricing/prices";
import { type FieldErrors, fieldNames, inUnit, numbersFrom, textsOf, tokenFields, type Unit } from "./price-fields";
import { PriceEffect } from "./price-effect";
import { tierRows, tiersFrom } from "./tier-rows";
import type { Prices } from "./use-prices";

export const NEW = "new";

interface PriceFormProps {
  tables: Prices["tables"];
  /** Models that get the price; empty: a new one whose name is asked for. */
  names: readonly string[];
  /** Names that have a price already. */
  taken: ReadonlySet<string>;
  saving: boolean;
  onSave: (after: EditedTables) => Promise<boolean>;
  onClose: () => void;
}

/** The price of one model, of a new one, or the same for several: dollars first, ratios on demand. */
export function PriceForm({ tables, names, taken, saving, onSave, onClose }: PriceFormProps) {
  const { t } = useLingui();
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
   * The tables with what is typed. Tiers that nobody touched stay what they are, also those of an entry that ends in
   * `*`.
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

  return (
    <Drawer
      open
      onOpenChange={(next) => !next && onClose()}
      title={
        count === 0 ? (
          t`添加模型价格`
        ) : count === 1 ? (
          <span className="font-mono text-sm">{only}</span>
        ) : (
          t`设置 ${count} 个模型的价格`
        )
      }
      footer={
        <>
          <Button variant="primary" loading={saving} onClick={() => void save()}>{t`保存`}</Button>
          <Button onClick={onClose}>{t`取消`}</Button>
        </>
      }
    >
      <FormStack>
        {count === 0 ? (
          <TextField
            label={t`模型名称`}
            hint={t`以 * 结尾的名称匹配所有以此开头的模型`}
            mono
            value={name}
            error={errors.name}
            onValue={(text) => (setName(text), setErrors({}))}
          />
        ) : null}
        <TextField
          label={bySecond ? t`每秒价格（美元）` : t`每次价格（美元）`}
          hint={bySecond ? t`填写后按秒计费，忽略下面的价格` : t`填写后按次计费，忽略下面的价格`}
          value={texts.ModelPrice}
          error={errors.ModelPrice}
          onValue={(text) => change("ModelPrice", text)}
        />
        <div className="flex items-center justify-between gap-3 border-t border-line pt-3">
          <h3 className="text-md">{unit === "usd" ? t`按量价格（美元 / 百万 Token）` : t`按量倍率`}</h3>
          <SwitchField label={t`用倍率编辑`} checked={unit === "ratio"} onCheckedChange={switchUnit} />
        </div>
        <FormRow>
          {tokenFields.map((key) => (
            <TextField
              key={key}
              label={t(fieldNames[key][unit])}
              disabled={fixed}
              value={texts[key]}
              error={errors[key]}
              onValue={(text) => change(key, text)}
            />
          ))}
        </FormRow>
        {only === undefined || count > 1 ? null : <PriceNote note={priceNoteOf(tables, only)} />}
        <p className="text-xs text-muted">{t`留空的价格按输入价格与默认倍率计算。`}</p>
        {count <= 1 ? (
          <div className="grid gap-2 border-t border-line pt-3" role="group" aria-label={t`长输入的价格`}>
            <h3 className="text-md">{t`长输入的价格`}</h3>
            <p className="text-xs text-muted">{t`输入超过所填 Token 数的调用，整次按输入与输出的倍数计费`}</p>
            <RowsTable
              columns={[
                { key: "over", label: t`超过 Token 数` },
                { key: "input", label: t`输入倍数`, numeric: true },
                { key: "output", label: t`输出倍数`, numeric: true },
              ]}
              rows={tiers}
              empty={{ over: "", input: "2", output: "1.5" }}
              disabled={fixed}
              headed
              onRows={(next) => (setTiers([...next]), setTried(false))}
            />
            {tried && !fixed && !wantedTiers ? (
              <p
                role="alert"
                className="text-xs text-red-fg"
              >{t`每一档的 Token 数须为互不相同的正整数，倍数须大于 0 且不超过 1000`}</p>
            ) : null}
          </div>
        ) : null}
        <PriceEffect before={tables} after={after} />
      </FormStack>
    </Drawer>
  );
}

function TextField({
  label,
  hint,
  value,
  error,
  onValue,
  disabled,
  mono,
}: {
  label: string;
  hint?: string;
  value: string;
  error: FieldErrors["name"];
  onValue: (text: string) => void;
  disabled?: boolean;
  mono?: boolean;
}) {
  const id = useId();
  const { i18n } = useLingui();
  return (
    <FieldFrame id={id} label={label} hint={hint} error={error ? i18n._(error) : undefined}>
      <Input
        id={id}
        inputMode={mono ? "text" : "decimal"}
        autoComplete="off"
        spellCheck={false}
        className={mono ? "font-mono" : "tabular-nums"}
        value={value}
        disabled={disabled}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? `${id}-error` : hint ? `${id}-hint` : undefined}
        onChange={(event) => onValue(event.target.value)}
      />
    </FieldFrame>
  );
}
