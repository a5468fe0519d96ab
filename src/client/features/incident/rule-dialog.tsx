import { useLingui } from "@lingui/react/macro";
import { type ReactNode, useId, useState } from "react";
import {
  ALERT_SUBJECTS,
  type AlertRule,
  MEASURES,
  RULE_KINDS,
  type RuleKind,
  SEVERITIES,
} from "../../../shared/alert-rules";
import { ruleText, SUBJECT_NAMES } from "../../../shared/alert-rule-text";
import { ACCOUNTS } from "../../../shared/alert-targets";
import { EVENTS } from "../../../shared/events";
import { MEASURE_NAMES, SEVERITY_NAMES } from "../../../shared/incidents";
import type { Text } from "../../../shared/text";
import { FieldFrame, FormRow, FormStack } from "../../components/form-field";
import { currentLanguage } from "../../lib/i18n";
import { quotaText } from "../../lib/quota-text";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";
import { NumberField } from "../../ui/number-field";
import { Select } from "../../ui/select";
import { SwitchField } from "../../ui/switch";
import { TokenInput } from "../../ui/token-input";
import { draftOf, FIELDS, type RuleDraft, ruleOf } from "./rule-draft";

const KINDS = Object.keys(RULE_KINDS) as RuleKind[]; // its own keys
const warnings = Object.entries(EVENTS).flatMap(([name, { level }]) => (level === "warning" ? [name] : []));
const events = [...warnings, ...Object.keys(EVENTS).filter((name) => !warnings.includes(name))];

interface RuleDialogProps {
  /** undefined: a new one. */
  rule: AlertRule | undefined;
  /** Names that are taken. */
  names: readonly string[];
  onSave: (rule: AlertRule) => void;
  onClose: () => void;
}

/** One rule as a form. Nothing is stored before the settings are saved. */
export function RuleDialog({ rule, names, onSave, onClose }: RuleDialogProps) {
  const { t } = useLingui();
  const [draft, setDraft] = useState(() => draftOf(rule));
  const [tried, setTried] = useState(false);
  const lang = currentLanguage();
  const made = ruleOf(draft, rule?.on);
  const taken = draft.name.trim() !== rule?.name && names.includes(draft.name.trim());
  const problem = taken ? t`已有同名的规则` : "problem" in made ? made.problem : undefined;
  const set = <K extends keyof RuleDraft>(key: K, value: RuleDraft[K]) => setDraft((now) => ({ ...now, [key]: value }));
  const submit = () => {
    setTried(true);
    if ("rule" in made && !taken) onSave(made.rule);
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={rule ? t`编辑规则` : t`添加规则`}
      footer={
        <>
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button variant="primary" onClick={submit}>{t`确定`}</Button>
        </>
      }
    >
      <FormStack>
        <FormRow>
          <Field label={t`名称`} required>
            {(id) => (
              <Input id={id} value={draft.name} maxLength={60} onChange={(event) => set("name", event.target.value)} />
            )}
          </Field>
          <Choice
            label={t`类型`}
            value={draft.kind}
            options={KINDS}
            names={RULE_KINDS}
            onChange={(kind) => set("kind", kind)}
          />
        </FormRow>
        <KindFields draft={draft} set={set} />
        <FormRow>
          <Choice
            label={t`级别`}
            value={draft.severity}
            options={SEVERITIES}
            names={SEVERITY_NAMES}
            onChange={(severity) => set("severity", severity)}
          />
          <TargetsField value={draft.targets} onChange={(targets) => set("targets", targets)} />
        </FormRow>
        <p className="rounded-md bg-sunken px-3 py-2 text-ink-2" aria-live="polite">
          {"rule" in made ? ruleText(made.rule, lang, quotaText) : t`还不完整`}
        </p>
        {tried && problem !== undefined ? (
          <p role="alert" className="text-xs text-red-fg">
            {problem}
          </p>
        ) : null}
      </FormStack>
    </Dialog>
  );
}

type SetDraft = <K extends keyof RuleDraft>(key: K, value: RuleDraft[K]) => void;

/** The fields of the rule's kind. */
function KindFields({ draft, set }: { draft: RuleDraft; set: SetDraft }) {
  const { t } = useLingui();
  const has = (field: keyof RuleDraft): boolean => FIELDS[draft.kind].includes(field);
  const number = (
    key: "minutes" | "percent" | "at_least" | "figure" | "hours" | "days",
    label: string,
    unit?: string,
  ) =>
    has(key) ? (
      <Field label={label}>
        {(id) => (
          <NumberField id={id} value={draft[key]} unit={unit} min={0} onValueChange={(value) => set(key, value)} />
        )}
      </Field>
    ) : null;
  return (
    <>
      {has("per") ? (
        <FormRow>
          <Choice
            label={t`对象`}
            value={draft.per}
            options={ALERT_SUBJECTS}
            names={SUBJECT_NAMES}
            onChange={(per) => set("per", per)}
          />
          {draft.per === "server" ? null : (
            <Field label={t`仅限`} hint={t`渠道和用户填 ID，模型和分组填名称；留空为全部`}>
              {(id) => <TokenInput id={id} value={draft.only} onValueChange={(only) => set("only", only)} />}
            </Field>
          )}
        </FormRow>
      ) : null}
      {has("measure") ? (
        <FormRow>
          <Choice
            label={t`指标`}
            value={draft.measure}
            options={MEASURES}
            names={MEASURE_NAMES}
            onChange={(measure) => set("measure", measure)}
          />
          {has("direction") ? (
            <Choice
              label={t`方向`}
              value={draft.direction}
              options={["up", "down"]}
              names={{ up: { zh: "上升", en: "Up" }, down: { zh: "下降", en: "Down" } }}
              onChange={(direction) => set("direction", direction)}
            />
          ) : (
            <Choice
              label={t`条件`}
              value={draft.bound}
              options={["over", "under"]}
              names={{ over: { zh: "达到或超过", en: "At least" }, under: { zh: "不超过", en: "At most" } }}
              onChange={(bound) => set("bound", bound)}
            />
          )}
        </FormRow>
      ) : null}
      {has("events") ? (
        <Field label={t`事件`} hint={t`事件的名称，例如 channel_auto_disabled`}>
          {(id) => (
            <TokenInput
              id={id}
              value={draft.events}
              suggestions={events}
              freeText={false}
              onValueChange={(value) => set("events", value)}
            />
          )}
        </Field>
      ) : null}
      {has("steps") ? (
        <Field label={t`档位（%）`}>
          {(id) => <TokenInput id={id} value={draft.steps} onValueChange={(steps) => set("steps", steps)} />}
        </Field>
      ) : null}
      {has("owner") ? (
        <SwitchField
          label={t`同时通知预算的所有者`}
          checked={draft.owner}
          onCheckedChange={(owner) => set("owner", owner)}
        />
      ) : null}
      <FormRow>
        {number("figure", draft.measure === "quota" ? t`数值（额度）` : t`数值`)}
        {number("percent", t`百分比`, "%")}
        {number("minutes", draft.kind === "event" ? t`无新事件后结束` : t`时间窗口`, t`分钟`)}
        {number("at_least", t`至少调用数`)}
        {number("hours", t`少于`, t`小时`)}
        {number("days", t`提前`, t`天`)}
      </FormRow>
    </>
  );
}

function Field({
  label,
  hint,
  required,
  children,
}: {
  label: string;
  hint?: string;
  required?: boolean;
  children: (id: string) => ReactNode;
}) {
  const id = useId();
  return (
    <FieldFrame id={id} label={label} hint={hint} required={required}>
      {children(id)}
    </FieldFrame>
  );
}

function Choice<Value extends string>({
  label,
  value,
  options,
  names,
  onChange,
}: {
  label: string;
  value: Value;
  options: readonly Value[];
  names: Readonly<Record<Value, Text>>;
  onChange: (value: Value) => void;
}) {
  const lang = currentLanguage();
  return (
    <Field label={label}>
      {(id) => (
        <Select
          id={id}
          value={value}
          options={options.map((one) => ({ value: one, label: names[one][lang] }))}
          onValueChange={(next) => {
            const chosen = options.find((one) => one === next);
            if (chosen !== undefined) onChange(chosen);
          }}
        />
      )}
    </Field>
  );
}

function TargetsField({ value, onChange }: { value: string[]; onChange: (targets: string[]) => void }) {
  const { t } = useLingui();
  const targets = trpc.incident.targets.useQuery(undefined, { meta: { quiet: true } });
  const names = [ACCOUNTS, ...(targets.data ?? []).map(({ name }) => name)];
  return (
    <Field label={t`通知到`} hint={t`留空为全部；accounts 是超级管理员`}>
      {(id) => <TokenInput id={id} value={value} suggestions={names} onValueChange={onChange} />}
    </Field>
  );
}
