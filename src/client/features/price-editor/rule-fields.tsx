import { useLingui } from "@lingui/react/macro";
import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import { useId } from "react";
import { ruleText, RULE_KINDS } from "../../../shared/price-rule-text";
import { isCallers, parseRules, type RuleConditions, type RuleKind } from "../../../shared/price-rules";
import { FieldFrame } from "../../components/form-field";
import { currentLanguage } from "../../lib/i18n";
import { Button } from "../../ui/button";
import { CheckboxField } from "../../ui/checkbox";
import { DropdownMenu, DropdownMenuContent, DropdownMenuItem, DropdownMenuTrigger } from "../../ui/dropdown-menu";
import { IconButton } from "../../ui/icon-button";
import { Input } from "../../ui/input";
import { NumberField } from "../../ui/number-field";
import { Select } from "../../ui/select";
import { conditionNames } from "../pricing/condition-names";
import { ConditionFields, ownZone } from "./condition-fields";
import { type ConditionKind, emptyCondition, outcomeKinds, type RuleDraft, ruleOf, withNumber } from "./rule-draft";

interface RuleFieldsProps {
  rule: RuleDraft;
  /** From 1. */
  place: number;
  last: boolean;
  onChange: (change: Partial<RuleDraft>) => void;
  onMove: (by: 1 | -1) => void;
  onRemove: () => void;
}

/** One rule: its name, when it applies, what it does to the price, and all of it as a sentence. */
export function RuleFields({ rule, place, last, onChange, onMove, onRemove }: RuleFieldsProps) {
  const { t } = useLingui();
  const id = useId();
  const kinds = Object.keys(conditionNames) as ConditionKind[]; // its own keys
  const used = kinds.filter((kind) => rule.when[kind] !== undefined);
  const parsed = parseRules([ruleOf(rule)]);
  const [sentence] = "rules" in parsed ? parsed.rules : [];
  return (
    <li className="grid gap-3 rounded-lg border border-line bg-surface p-3" aria-label={t`第 ${place} 条规则`}>
      <div className="flex items-end justify-between gap-2">
        <FieldFrame id={`${id}-name`} label={t`第 ${place} 条规则的名称`} className="min-w-0 flex-1 sm:max-w-72">
          <Input
            id={`${id}-name`}
            autoComplete="off"
            maxLength={60}
            value={rule.name}
            onChange={(event) => onChange({ name: event.target.value })}
          />
        </FieldFrame>
        <span className="flex">
          <IconButton label={t`上移`} disabled={place === 1} onClick={() => onMove(-1)}>
            <ArrowUp />
          </IconButton>
          <IconButton label={t`下移`} disabled={last} onClick={() => onMove(1)}>
            <ArrowDown />
          </IconButton>
          <IconButton label={t`删除规则`} onClick={onRemove}>
            <Trash2 />
          </IconButton>
        </span>
      </div>
      {used.map((kind) => (
        <fieldset key={kind} className="grid min-w-0 gap-2 border-t border-line pt-2">
          <legend className="sr-only">{t(conditionNames[kind])}</legend>
          <div className="flex items-center justify-between gap-2">
            <span aria-hidden className="font-medium">{t`当：${t(conditionNames[kind])}`}</span>
            <IconButton
              size="sm"
              label={t`删除条件：${t(conditionNames[kind])}`}
              onClick={() => onChange({ when: without(rule.when, kind) })}
            >
              <Trash2 />
            </IconButton>
          </div>
          <ConditionFields
            kind={kind}
            when={rule.when}
            onChange={(change) => onChange({ when: { ...rule.when, ...change } })}
          />
        </fieldset>
      ))}
      <DropdownMenu>
        <DropdownMenuTrigger asChild>
          <Button size="sm" className="justify-self-start" disabled={used.length === kinds.length}>
            <Plus aria-hidden />
            {t`添加条件`}
          </Button>
        </DropdownMenuTrigger>
        <DropdownMenuContent align="start">
          {kinds
            .filter((kind) => !used.includes(kind))
            .map((kind) => (
              <DropdownMenuItem
                key={kind}
                onSelect={() => onChange({ when: { ...rule.when, ...emptyCondition(kind, ownZone()) } })}
              >
                {t(conditionNames[kind])}
              </DropdownMenuItem>
            ))}
        </DropdownMenuContent>
      </DropdownMenu>
      <Outcome rule={rule} onChange={onChange} />
      {isCallers(rule) ? (
        <CheckboxField
          label={t`调用者可借此降低价格`}
          hint={t`这一条件由调用者在请求中填写：不勾选时规则只会让价格更高`}
          checked={rule.cheaper}
          onCheckedChange={(on) => onChange({ cheaper: on === true })}
        />
      ) : null}
      <p className={sentence ? "text-ink-2" : "text-red-fg"} role="status">
        {sentence ? ruleText(sentence, currentLanguage()) : t`这条规则还不完整`}
      </p>
    </li>
  );
}

function without(when: RuleConditions, kind: ConditionKind): RuleConditions {
  const { [kind]: _, ...others } = when;
  return others;
}

/** What the rule does to the price. */
function Outcome({ rule, onChange }: Pick<RuleFieldsProps, "rule" | "onChange">) {
  const { t } = useLingui();
  const id = useId();
  const names = { factor: t`整个价格乘以`, parts: t`输入、输出分别乘以`, usd: t`改为美元价格` };
  const number = (label: string, key: "factor" | "input" | "output") => (
    <Amount label={label} value={rule[key]} onValue={(value) => onChange({ [key]: value })} />
  );
  return (
    <div className="grid grid-cols-2 gap-2 border-t border-line pt-2 sm:grid-cols-3">
      <FieldFrame id={id} label={t`则`} className="col-span-2 sm:col-span-1">
        <Select
          id={id}
          aria-labelledby={`${id}-label`}
          value={rule.outcome}
          options={outcomeKinds.map((kind) => ({ value: kind, label: names[kind] }))}
          onValueChange={(next) => onChange({ outcome: outcomeKinds.find((kind) => kind === next) ?? "factor" })}
        />
      </FieldFrame>
      {rule.outcome === "factor" ? number(t`倍数`, "factor") : null}
      {rule.outcome === "parts" ? (
        <>
          {number(t`输入倍数`, "input")}
          {number(t`输出倍数`, "output")}
        </>
      ) : null}
      {rule.outcome === "usd" ? (
        <>
          <p className="col-span-2 self-end text-xs text-muted">{t`每百万 Token 的美元价格；留空的种类按普通价格`}</p>
          {(Object.keys(RULE_KINDS) as RuleKind[]).map((kind) => (
            <Amount
              key={kind}
              label={RULE_KINDS[kind][currentLanguage()]}
              value={rule.usd[kind] ?? null}
              onValue={(value) => onChange({ usd: withNumber(rule.usd, kind, value) })}
            />
          ))}
        </>
      ) : null}
    </div>
  );
}

function Amount({
  label,
  value,
  onValue,
}: {
  label: string;
  value: number | null;
  onValue: (value: number | null) => void;
}) {
  const id = useId();
  return (
    <FieldFrame id={id} label={<span className="inline-block first-letter:uppercase">{label}</span>}>
      <NumberField id={id} min={0} step="any" value={value} onValueChange={onValue} />
    </FieldFrame>
  );
}
