import { useLingui } from "@lingui/react/macro";
import { Plus } from "lucide-react";
import { useId, useState } from "react";
import { defaultValue, parseOption } from "../../../shared/options";
import { MOST_STEPS, type VirtualModels } from "../../../shared/virtual-models";
import { FieldFrame } from "../../components/form-field";
import { currentLanguage } from "../../lib/i18n";
import { moved } from "../../lib/moved";
import { trpc } from "../../lib/trpc";
import { textParam, useUrlState } from "../../lib/url-state";
import { Button } from "../../ui/button";
import { Combobox } from "../../ui/combobox";
import { Input } from "../../ui/input";
import { SwitchField } from "../../ui/switch";
import type { Prices, useSavePrices } from "./use-prices";
import { draftOf, emptyStep, type VirtualDraft, withDraft } from "./virtual-draft";
import { VirtualStepFields } from "./virtual-step-fields";

const KEY = "VirtualModels";
const PARAMS = { virtual: textParam() };

interface VirtualModelsProps {
  prices: Prices;
  saver: ReturnType<typeof useSavePrices>;
}

/** Names that stand for a ladder of models: chosen or new, and edited step by step. */
export default function VirtualModelsEditor({ prices, saver }: VirtualModelsProps) {
  const { t } = useLingui();
  const id = useId();
  const [{ virtual: name }, patch] = useUrlState(PARAMS);
  const parsed = parseOption(KEY, prices.text(KEY) || "{}");
  const all: VirtualModels = parsed.ok ? parsed.value : defaultValue(KEY);
  const known = Object.hasOwn(all, name);
  return (
    <div className="grid max-w-[960px] gap-4">
      <p className="text-muted">{t`虚拟模型是一个名称，代表一组按顺序或按权重尝试的模型。调用从第一步开始，因某个原因失败时转到写有该原因的下一步；按实际应答的模型计费，或按此名称的固定价格计费。`}</p>
      <div className="flex flex-wrap items-end gap-2">
        <FieldFrame id={id} label={t`虚拟模型`} className="w-72">
          <Combobox
            id={id}
            aria-labelledby={`${id}-label`}
            placeholder={t`选择虚拟模型`}
            value={known ? name : null}
            options={Object.keys(all).map((one) => ({ value: one, label: one }))}
            onValueChange={(next) => patch({ virtual: next ?? "" })}
          />
        </FieldFrame>
        <Button disabled={!known} onClick={() => patch({ virtual: "" })}>
          <Plus aria-hidden />
          {t`新建`}
        </Button>
      </div>
      <VirtualForm
        key={`${known ? name : ""} ${prices.text(KEY)}`}
        before={known ? name : null}
        all={all}
        prices={prices}
        saver={saver}
        onSaved={(saved) => patch({ virtual: saved })}
      />
    </div>
  );
}

interface VirtualFormProps extends VirtualModelsProps {
  /** The name as stored; null: a new one. */
  before: string | null;
  all: VirtualModels;
  /** "": it was removed. */
  onSaved: (name: string) => void;
}

function VirtualForm({ before, all, prices, saver, onSaved }: VirtualFormProps) {
  const { t } = useLingui();
  const id = useId();
  const first = draftOf(before ?? "", before === null ? undefined : all[before]);
  const [draft, setDraft] = useState<VirtualDraft>(first);
  const [tried, setTried] = useState(false);
  const groups = trpc.group.list.useQuery(undefined, { staleTime: 60_000, meta: { quiet: true } });
  const set = (change: Partial<VirtualDraft>) => {
    setDraft({ ...draft, ...change });
    setTried(false);
  };
  const next = withDraft(all, before, draft);
  const taken = draft.name.trim() !== before && Object.hasOwn(all, draft.name.trim());
  const parsed = parseOption(KEY, JSON.stringify(next));
  const complaint = draft.steps.some(({ model }) => model === null)
    ? t`请为每一步选择模型`
    : taken
      ? t`已有同名的虚拟模型`
      : parsed.ok
        ? undefined
        : parsed.problem[currentLanguage()];
  const store = (value: VirtualModels, saved: string) =>
    void saver
      .saveText(KEY, prices.text(KEY), JSON.stringify(value, null, 2))
      .then((changed) => changed && onSaved(saved))
      .catch(() => false);
  const unchanged = JSON.stringify(draft) === JSON.stringify(first);
  const { [before ?? ""]: _, ...others } = all;
  const nextId = Math.max(...draft.steps.map((step) => step.id)) + 1;
  return (
    <div className="grid gap-4" role="group" aria-label={before ?? t`新的虚拟模型`}>
      <FieldFrame
        id={`${id}-name`}
        label={t`名称`}
        hint={t`调用时使用的模型名，不能与渠道的模型同名`}
        className="max-w-72"
      >
        <Input
          id={`${id}-name`}
          aria-describedby={`${id}-name-hint`}
          autoComplete="off"
          maxLength={255}
          value={draft.name}
          onChange={(event) => set({ name: event.target.value })}
        />
      </FieldFrame>
      <div className="grid max-w-[560px] gap-1">
        <SwitchField
          label={t`按权重选择第一步`}
          hint={t`关闭时按顺序从第一步开始`}
          checked={draft.weighted}
          onCheckedChange={(weighted) => set({ weighted })}
        />
        <SwitchField
          label={t`固定价格`}
          hint={t`按“可视化编辑”中为此名称设置的价格计费，无论哪一步应答`}
          checked={draft.fixed}
          onCheckedChange={(fixed) => set({ fixed })}
        />
      </div>
      <ol className="grid gap-3" aria-label={t`步骤`}>
        {draft.steps.map((step, index) => (
          <VirtualStepFields
            key={step.id}
            step={step}
            place={index + 1}
            last={index === draft.steps.length - 1}
            weighted={draft.weighted}
            models={prices.served}
            groups={groups.data ?? []}
            onChange={(change) =>
              set({ steps: draft.steps.map((one) => (one.id === step.id ? { ...one, ...change } : one)) })
            }
            onMove={(by) => set({ steps: moved(draft.steps, index, by) })}
            onRemove={
              draft.steps.length > 1 ? () => set({ steps: draft.steps.filter((one) => one.id !== step.id) }) : undefined
            }
          />
        ))}
      </ol>
      <Button
        className="justify-self-start"
        disabled={draft.steps.length >= MOST_STEPS}
        onClick={() => set({ steps: [...draft.steps, emptyStep(nextId)] })}
      >
        <Plus aria-hidden />
        {t`添加步骤`}
      </Button>
      {tried && complaint !== undefined ? (
        <p role="alert" className="text-red-fg">
          {complaint}
        </p>
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Button
          variant="primary"
          loading={saver.saving}
          onClick={() => {
            setTried(true);
            if (complaint === undefined) store(next, draft.name.trim());
          }}
        >{t`保存`}</Button>
        <Button disabled={unchanged} onClick={() => (setDraft(first), setTried(false))}>{t`撤销修改`}</Button>
        {before === null ? null : <Button onClick={() => store(others, "")}>{t`删除`}</Button>}
      </div>
    </div>
  );
}
