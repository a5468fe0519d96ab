import { useLingui } from "@lingui/react/macro";
import { useId } from "react";
import { priceNoteOf } from "../../../shared/price-rows";
import type { priceTableKeys } from "../../../shared/pricing";
import { FieldFrame, FormRow, FormStack } from "../../components/form-field";
import { RowsTable } from "../../components/rows-table";
import { Button } from "../../ui/button";
import { Collapsible } from "../../ui/collapsible";
import { Drawer } from "../../ui/drawer";
import { Input } from "../../ui/input";
import { SwitchField } from "../../ui/switch";
import OptionHistory from "../setting/option-history";
import { PriceNote } from "../pricing/price-note";
import { type FieldErrors, fieldNames, tokenFields } from "./price-fields";
import { PriceEffect } from "./price-effect";
import { type PriceDraft, type PriceDraftOptions, usePriceDraft } from "./use-price-draft";

/** The tables that have a member for each model. */
const PRICE_KEYS = [
  "ModelPrice",
  "ModelRatio",
  "CompletionRatio",
  "CacheRatio",
  "CreateCacheRatio",
  "CreateCache1hRatio",
  "ImageRatio",
  "ImageCompletionRatio",
  "AudioRatio",
  "AudioCompletionRatio",
  "LongContextRatio",
] as const satisfies readonly (typeof priceTableKeys)[number][];

interface PriceFormProps extends PriceDraftOptions {
  saving: boolean;
}

/** The price of one model, of a new one, or the same for several: dollars first, ratios on demand. */
export default function PriceForm(props: PriceFormProps) {
  const { tables, names, saving, onClose } = props;
  const { t } = useLingui();
  const [only] = names;
  const count = names.length;
  const draft = usePriceDraft(props);
  const { unit, texts, errors, fixed, bySecond, change } = draft;

  return (
    <Drawer
      open
      modal={false}
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
          <span className="mr-auto" />
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button variant="primary" loading={saving} onClick={draft.save}>{t`保存`}</Button>
        </>
      }
    >
      <FormStack>
        {count === 0 ? (
          <TextField
            label={t`模型名称`}
            hint={t`以 * 结尾的名称匹配所有以此开头的模型`}
            mono
            value={draft.name}
            error={errors.name}
            onValue={draft.setName}
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
          <SwitchField label={t`用倍率编辑`} checked={unit === "ratio"} onCheckedChange={draft.switchUnit} />
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
        {count <= 1 ? <TierFields draft={draft} /> : null}
        <PriceEffect before={tables} after={draft.after} />
        {only === undefined || count > 1 ? null : (
          <Collapsible title={t`价格的修改历史`}>
            {/* What was typed began from the price that is replaced. */}
            <OptionHistory keys={PRICE_KEYS} member={only} onRestored={onClose} />
          </Collapsible>
        )}
      </FormStack>
    </Drawer>
  );
}

/** Other prices for long inputs. */
function TierFields({ draft: { tiers, setTiers, fixed, tiersAreWrong } }: { draft: PriceDraft }) {
  const { t } = useLingui();
  return (
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
        onRows={(next) => setTiers([...next])}
      />
      {tiersAreWrong ? (
        <p
          role="alert"
          className="text-xs text-red-fg"
        >{t`每一档的 Token 数须为互不相同的正整数，倍数须大于 0 且不超过 1000`}</p>
      ) : null}
    </div>
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
