import { useLingui } from "@lingui/react/macro";
import { ArrowDown, ArrowUp, Trash2 } from "lucide-react";
import { useId } from "react";
import { contextLength } from "../../../shared/context-lengths";
import { STEP_REASONS, stepReasons } from "../../../shared/virtual-models";
import { FieldFrame } from "../../components/form-field";
import { currentLanguage } from "../../lib/i18n";
import { CheckboxField } from "../../ui/checkbox";
import { Combobox } from "../../ui/combobox";
import { IconButton } from "../../ui/icon-button";
import { NumberField } from "../../ui/number-field";
import type { StepDraft } from "./virtual-draft";

interface VirtualStepFieldsProps {
  step: StepDraft;
  /** From 1. */
  place: number;
  last: boolean;
  weighted: boolean;
  models: readonly string[];
  groups: readonly string[];
  onChange: (change: Partial<StepDraft>) => void;
  onMove: (by: 1 | -1) => void;
  /** undefined: it is the only step. */
  onRemove: (() => void) | undefined;
}

const choices = (names: readonly string[], chosen: string | null) =>
  [...new Set([...(chosen === null ? [] : [chosen]), ...names])].map((name) => ({ value: name, label: name }));

/** One step of a virtual model: which model in which group, and for what a call comes here. */
export function VirtualStepFields({ step, place, last, weighted, models, groups, ...act }: VirtualStepFieldsProps) {
  const { t } = useLingui();
  const id = useId();
  const { onChange, onMove, onRemove } = act;
  return (
    <li className="grid gap-3 rounded-lg border border-line bg-surface p-3" aria-label={t`第 ${place} 步`}>
      <div className="flex items-center justify-between gap-2">
        <span className="font-medium">{t`第 ${place} 步`}</span>
        <span className="flex">
          <IconButton label={t`上移`} disabled={place === 1} onClick={() => onMove(-1)}>
            <ArrowUp />
          </IconButton>
          <IconButton label={t`下移`} disabled={last} onClick={() => onMove(1)}>
            <ArrowDown />
          </IconButton>
          <IconButton label={t`删除步骤`} disabled={!onRemove} onClick={onRemove}>
            <Trash2 />
          </IconButton>
        </span>
      </div>
      <div className="grid gap-3 sm:grid-cols-2">
        <FieldFrame id={`${id}-model`} label={t`模型`} required>
          <Combobox
            id={`${id}-model`}
            aria-labelledby={`${id}-model-label`}
            placeholder={t`选择模型`}
            value={step.model}
            options={choices(models, step.model)}
            onValueChange={(model) => onChange({ model })}
          />
        </FieldFrame>
        <FieldFrame id={`${id}-group`} label={t`分组`} hint={t`留空为调用方自己的分组`}>
          <Combobox
            id={`${id}-group`}
            aria-labelledby={`${id}-group-label`}
            aria-describedby={`${id}-group-hint`}
            clearable
            value={step.group}
            options={choices(groups, step.group)}
            onValueChange={(group) => onChange({ group })}
          />
        </FieldFrame>
        {weighted ? (
          <FieldFrame id={`${id}-weight`} label={t`权重`}>
            <NumberField
              id={`${id}-weight`}
              min={0}
              step={1}
              value={step.weight}
              onValueChange={(weight) => onChange({ weight })}
            />
          </FieldFrame>
        ) : null}
        <FieldFrame id={`${id}-most`} label={t`输入上限`} hint={t`留空则由渠道和已知的上下文长度决定`}>
          <NumberField
            id={`${id}-most`}
            aria-describedby={`${id}-most-hint`}
            min={1}
            step={1}
            unit="Token"
            placeholder={String(contextLength(step.model ?? "") ?? "")}
            value={step.max_input_tokens}
            onValueChange={(max_input_tokens) => onChange({ max_input_tokens })}
          />
        </FieldFrame>
      </div>
      {place === 1 && !weighted ? null : (
        <fieldset className="grid gap-1">
          <legend className="mb-1 font-medium">{t`转到此步的原因`}</legend>
          <div className="grid gap-1 sm:grid-cols-2">
            {stepReasons.map((reason) => (
              <CheckboxField
                key={reason}
                label={STEP_REASONS[reason][currentLanguage()]}
                checked={step.on.includes(reason)}
                onCheckedChange={(checked) =>
                  onChange({ on: checked === true ? [...step.on, reason] : step.on.filter((one) => one !== reason) })
                }
              />
            ))}
          </div>
        </fieldset>
      )}
    </li>
  );
}
