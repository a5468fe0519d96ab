import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import { type EditedTables, numbersOf, withNumbers } from "../../../shared/price-rows";
import { FieldFrame } from "../../components/form-field";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";
import { PriceEffect } from "./price-effect";
import type { Prices } from "./use-prices";

/** Twelve decimals, as everywhere (shared/price-rows). */
const times = (value: number, factor: number): number => Number((value * factor).toFixed(12));

/**
 * Raises or lowers the prices of several models by the same factor: a fixed price, and the model ratio that all token
 * prices are multiples of.
 */
export default function ScaleDialog({
  tables,
  names,
  saving,
  onSave,
  onClose,
}: {
  tables: Prices["tables"];
  names: readonly string[];
  saving: boolean;
  onSave: (after: EditedTables) => Promise<boolean>;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const id = useId();
  const [text, setText] = useState("1");
  const [error, setError] = useState("");
  const count = names.length;

  const factor = /^(\d+\.?\d*|\.\d+)$/.test(text.trim()) ? Number(text) : Number.NaN;
  const scaled = () => {
    if (!(factor > 0 && factor <= 1000)) return undefined;
    const changes = names.map((name) => {
      const numbers = numbersOf(tables, name);
      const { ModelPrice, ModelRatio } = numbers;
      return [
        name,
        {
          ...numbers,
          ...(ModelPrice !== undefined && { ModelPrice: times(ModelPrice, factor) }),
          ...(ModelRatio !== undefined && { ModelRatio: times(ModelRatio, factor) }),
        },
      ] as const;
    });
    return withNumbers(tables, new Map(changes));
  };
  const after = scaled();
  const save = async () => {
    if (!after) return setError(t`请输入大于 0、不超过 1000 的数字`);
    if (await onSave(after).catch(() => false)) onClose();
  };

  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onClose()}
      title={t`按比例调整 ${count} 个模型的价格`}
      footer={
        <>
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button variant="primary" loading={saving} onClick={() => void save()}>{t`保存`}</Button>
        </>
      }
    >
      <FieldFrame id={id} label={t`倍数`} hint={t`1.2 表示涨价两成，0.8 表示降价两成`} error={error || undefined}>
        <Input
          id={id}
          inputMode="decimal"
          autoComplete="off"
          value={text}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? `${id}-error` : `${id}-hint`}
          onChange={(event) => (setText(event.target.value), setError(""))}
        />
      </FieldFrame>
      <PriceEffect before={tables} after={after && { ...tables, ...after }} />
    </Dialog>
  );
}
