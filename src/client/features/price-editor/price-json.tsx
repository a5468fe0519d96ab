import { useLingui } from "@lingui/react/macro";
import { RotateCcw } from "lucide-react";
import { useState } from "react";
import { optionFacts, optionKeys } from "../../../shared/option-facts";
import { type OptionKey, parseOption } from "../../../shared/options";
import { confirm } from "../../components/confirm";
import { JsonEditor } from "../../components/json-editor";
import { currentLanguage } from "../../lib/i18n";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Select } from "../../ui/select";
import { PriceEffect } from "./price-effect";
import type { Prices, useSavePrices } from "./use-prices";

/** The options that decide prices, by the cards of the registry. */
const jsonOptions: readonly OptionKey[] = optionKeys.filter((key) => {
  const { kind, card } = optionFacts[key];
  return kind === "json" && (card === "pricing" || card === "group");
});

const laidOut = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

/** Every price option as JSON, one at a time; refused here in the words in which the server would refuse it. */
export default function PriceJson({ prices, saver }: { prices: Prices; saver: ReturnType<typeof useSavePrices> }) {
  const { t } = useLingui();
  const [key, setKey] = useState<OptionKey>("ModelRatio");
  const { hint } = optionFacts[key];
  return (
    <div className="grid max-w-[960px] gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Select
          aria-label={t`设置项`}
          className="w-72"
          value={key}
          onValueChange={(next) => setKey(jsonOptions.find((candidate) => candidate === next) ?? "ModelRatio")}
          options={jsonOptions.map((candidate) => ({
            value: candidate,
            label: optionFacts[candidate].label[currentLanguage()],
            hint: candidate,
          }))}
        />
        <ResetRatios />
      </div>
      {hint ? <p className="text-muted">{hint[currentLanguage()]}</p> : null}
      <OneOption key={`${key} ${prices.text(key)}`} optionKey={key} prices={prices} saver={saver} />
    </div>
  );
}

function OneOption({
  optionKey,
  prices,
  saver,
}: {
  optionKey: OptionKey;
  prices: Prices;
  saver: ReturnType<typeof useSavePrices>;
}) {
  const { t } = useLingui();
  const stored = prices.text(optionKey);
  const first = laidOut(stored);
  const [text, setText] = useState(first);
  const [tried, setTried] = useState(false);
  const parsed = parseOption(optionKey, text);
  const save = () => {
    setTried(true);
    // An untouched text is "nothing changed", however it is laid out.
    if (parsed.ok) void saver.saveText(optionKey, stored, text === first ? stored : text).catch(() => false);
  };
  return (
    <>
      <JsonEditor
        aria-label={optionFacts[optionKey].label[currentLanguage()]}
        rows={22}
        value={text}
        onValueChange={setText}
        aria-invalid={tried && !parsed.ok}
      />
      {tried && !parsed.ok ? (
        <p role="alert" className="text-red-fg">
          {parsed.problem[currentLanguage()]}
        </p>
      ) : null}
      {text !== first && optionKey in prices.tables ? (
        <PriceEffect
          before={prices.tables}
          after={parsed.ok ? { ...prices.tables, [optionKey]: parsed.value } : undefined}
        />
      ) : null}
      <div className="flex gap-2">
        <Button variant="primary" loading={saver.saving} onClick={save}>{t`保存`}</Button>
        <Button disabled={text === first} onClick={() => setText(first)}>{t`撤销修改`}</Button>
      </div>
    </>
  );
}

function ResetRatios() {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const reset = trpc.pricing.resetModelRatio.useMutation();
  const run = async () => {
    const agreed = await confirm({
      title: t`重置模型倍率？`,
      description: t`“模型倍率”恢复为内置的价格表，你改过的模型倍率会丢失；其他价格设置不变。`,
      action: t`重置`,
      danger: true,
    });
    if (!agreed) return;
    const { message } = await reset.mutateAsync();
    toastSuccess(message);
    await Promise.all([utils.option.list.invalidate(), utils.pricing.invalidate()]);
  };
  return (
    <Button loading={reset.isPending} onClick={() => void run().catch(() => undefined)}>
      <RotateCcw aria-hidden />
      {t`重置模型倍率`}
    </Button>
  );
}
