import { useLingui } from "@lingui/react/macro";
import { useId, useMemo, useState } from "react";
import { cn } from "../../lib/cn";
import { Button } from "../../ui/button";
import { Checkbox } from "../../ui/checkbox";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";
import { UnpricedBadge } from "./unpriced";

/** How the upstream's list compares with the chosen models, each part in its own order. */
export function compareModels(chosen: readonly string[], upstream: readonly string[]) {
  const offered = new Set(upstream);
  const present = new Set(chosen);
  return {
    added: [...offered].filter((model) => !present.has(model)),
    kept: chosen.filter((model) => offered.has(model)),
    gone: chosen.filter((model) => !offered.has(model)),
  };
}

type Part = keyof ReturnType<typeof compareModels>;

/** Choosing from what the upstream offers: what is new, what is chosen already, and what the upstream no longer has. */
export function FetchModelsDialog({
  chosen,
  upstream,
  unpriced = [],
  onApply,
  onClose,
}: {
  chosen: readonly string[];
  upstream: readonly string[];
  /** Those of both lists that have no price. */
  unpriced?: readonly string[];
  onApply: (models: string[]) => void;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const id = useId();
  const parts = useMemo(() => compareModels(chosen, upstream), [chosen, upstream]);
  const [part, setPart] = useState<Part>(parts.added.length > 0 || parts.kept.length === 0 ? "added" : "kept");
  const [search, setSearch] = useState("");
  const [ticked, setTicked] = useState<ReadonlySet<string>>(() => new Set(chosen));

  const priceless = useMemo(() => new Set(unpriced), [unpriced]);
  const needle = search.trim().toLowerCase();
  const shown = parts[part].filter((model) => model.toLowerCase().includes(needle));
  const shownTicked = shown.filter((model) => ticked.has(model)).length;
  const mark = (models: readonly string[], on: boolean) =>
    setTicked((current) => {
      const next = new Set(current);
      for (const model of models) {
        if (on) next.add(model);
        else next.delete(model);
      }
      return next;
    });
  const result = [...chosen, ...parts.added].filter((model) => ticked.has(model));
  const tabs: readonly { part: Part; label: string }[] = [
    { part: "added", label: t`新增 ${parts.added.length}` },
    { part: "kept", label: t`已选 ${parts.kept.length}` },
    { part: "gone", label: t`上游已无 ${parts.gone.length}` },
  ];

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`上游模型列表`}
      footer={
        <>
          <span role="status" className="mr-auto self-center text-ink-2">{t`将选择 ${result.length} 个模型`}</span>
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button variant="primary" onClick={() => onApply(result)}>{t`应用`}</Button>
        </>
      }
    >
      <div className="grid gap-2 pt-1">
        <div role="group" aria-label={t`比较结果`} className="flex flex-wrap gap-1">
          {tabs.map((tab) => (
            <Button
              key={tab.part}
              size="sm"
              variant="ghost"
              aria-pressed={tab.part === part}
              className={cn(tab.part === part && "bg-accent-soft text-accent-text")}
              onClick={() => setPart(tab.part)}
            >
              {tab.label}
            </Button>
          ))}
        </div>
        <Input
          type="search"
          aria-label={t`筛选模型`}
          placeholder={t`筛选模型`}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        {shown.length > 0 ? (
          <>
            <div className="flex items-center gap-2 border-b border-line pb-2">
              <Checkbox
                id={`${id}-all`}
                checked={shownTicked === shown.length ? true : shownTicked > 0 ? "indeterminate" : false}
                onCheckedChange={(on) => mark(shown, on === true)}
              />
              <label htmlFor={`${id}-all`} className="font-medium">{t`全选（${shown.length}）`}</label>
            </div>
            <ModelBoxes id={id} models={shown} {...{ ticked, priceless }} onTick={(model, on) => mark([model], on)} />
          </>
        ) : (
          <p className="py-8 text-center text-muted">{needle ? t`没有匹配的模型` : t`没有模型`}</p>
        )}
      </div>
    </Dialog>
  );
}

type ModelBoxesProps = {
  /** The boxes' ids begin with it. */
  id: string;
  models: readonly string[];
  ticked: ReadonlySet<string>;
  priceless: ReadonlySet<string>;
  onTick: (model: string, on: boolean) => void;
};

function ModelBoxes({ id, models, ticked, priceless, onTick }: ModelBoxesProps) {
  return (
    <ul className="h-72 overflow-y-auto">
      {models.map((model, index) => (
        <li key={model} className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-10">
          <Checkbox
            id={`${id}-${index}`}
            checked={ticked.has(model)}
            onCheckedChange={(on) => onTick(model, on === true)}
          />
          <label htmlFor={`${id}-${index}`} className="min-w-0 flex-1 font-mono text-xs wrap-anywhere">
            {model}
          </label>
          {priceless.has(model) ? <UnpricedBadge /> : null}
        </li>
      ))}
    </ul>
  );
}
