import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import { numbersOf, type PriceNumbers, type RatioTables, withNumbers } from "../../../shared/price-rows";
import { FieldFrame, FormRow, FormStack } from "../../components/form-field";
import { Button } from "../../ui/button";
import { Drawer } from "../../ui/drawer";
import { Input } from "../../ui/input";
import { SwitchField } from "../../ui/switch";
import { type FieldErrors, fieldNames, inUnit, numbersFrom, textsOf, tokenFields, type Unit } from "./price-fields";

export const NEW = "new";

interface PriceFormProps {
  tables: RatioTables;
  /** Models that get the price; empty: a new one whose name is asked for. */
  names: readonly string[];
  /** Names that have a price already. */
  taken: ReadonlySet<string>;
  saving: boolean;
  onSave: (after: RatioTables) => Promise<boolean>;
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
  const fixed = texts.ModelPrice.trim() !== "";
  const count = names.length;

  const save = async () => {
    const read = numbersFrom(texts, unit, stored);
    const wrong: FieldErrors = "errors" in read ? { ...read.errors } : {};
    const named = name.trim();
    if (count === 0 && named === "") wrong.name = msg`请输入模型名称`;
    if (count === 0 && taken.has(named)) wrong.name = msg`模型名称已存在`;
    setErrors(wrong);
    if ("errors" in read || wrong.name) return;
    const after = withNumbers(tables, new Map((count === 0 ? [named] : names).map((model) => [model, read.numbers])));
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
      title={count === 0 ? t`添加模型价格` : count === 1 ? <span className="font-mono text-sm">{only}</span> : t`设置 ${count} 个模型的价格`}
      footer={
        <>
          <Button variant="primary" loading={saving} onClick={() => void save()}>{t`保存`}</Button>
          <Button onClick={onClose}>{t`取消`}</Button>
        </>
      }
    >
      <FormStack>
        {count === 0 ? <TextField label={t`模型名称`} hint={t`以 * 结尾的名称匹配所有以此开头的模型`} mono value={name} error={errors.name} onValue={(text) => (setName(text), setErrors({}))} /> : null}
        <TextField label={t`每次价格（美元）`} hint={t`填写后按次计费，忽略下面的价格`} value={texts.ModelPrice} error={errors.ModelPrice} onValue={(text) => change("ModelPrice", text)} />
        <div className="flex items-center justify-between gap-3 border-t border-line pt-3">
          <h3 className="text-md">{unit === "usd" ? t`按量价格（美元 / 百万 Token）` : t`按量倍率`}</h3>
          <SwitchField label={t`用倍率编辑`} checked={unit === "ratio"} onCheckedChange={switchUnit} />
        </div>
        <FormRow>
          {tokenFields.map((key) => (
            <TextField key={key} label={t(fieldNames[key][unit])} disabled={fixed} value={texts[key]} error={errors[key]} onValue={(text) => change(key, text)} />
          ))}
        </FormRow>
        <p className="text-xs text-muted">{t`留空的价格按输入价格与默认倍率计算。`}</p>
      </FormStack>
    </Drawer>
  );
}

function TextField({ label, hint, value, error, onValue, disabled, mono }: {
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
