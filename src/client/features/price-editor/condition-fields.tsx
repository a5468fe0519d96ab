import { useLingui } from "@lingui/react/macro";
import { Plus, Trash2 } from "lucide-react";
import { type ReactNode, useId } from "react";
import type { DateRange, HourWindow, NumberRange, RuleConditions } from "../../../shared/price-rules";
import { dayName } from "../../../shared/price-rule-text";
import { FieldFrame } from "../../components/form-field";
import { currentLanguage } from "../../lib/i18n";
import { Button } from "../../ui/button";
import { CheckboxField } from "../../ui/checkbox";
import { Combobox } from "../../ui/combobox";
import { IconButton } from "../../ui/icon-button";
import { Input } from "../../ui/input";
import { NumberField } from "../../ui/number-field";
import { Select } from "../../ui/select";
import { TokenInput } from "../../ui/token-input";
import { conditionNames } from "../pricing/condition-names";
import { type ConditionKind, emptyCondition, withNumber } from "./rule-draft";

/** Values that vendors use; any other may be typed. */
const SUGGESTED = {
  service_tier: ["default", "flex", "priority"],
  region: ["us", "eu", "global"],
  size: ["1024x1024", "1024x1536", "1536x1024", "1024x1792", "1792x1024"],
  quality: ["low", "medium", "high", "standard", "hd"],
  resolution: ["480p", "720p", "1080p", "4k"],
} as const satisfies Partial<Record<ConditionKind, readonly string[]>>;

/** The reader's time zone. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const zones = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")].map((zone) => ({
  value: zone,
  label: zone,
}));

interface ConditionFieldsProps {
  kind: ConditionKind;
  when: RuleConditions;
  onChange: (change: RuleConditions) => void;
}

/** The fields of one condition of a rule. */
export function ConditionFields({ kind, when, onChange }: ConditionFieldsProps) {
  const { t } = useLingui();
  switch (kind) {
    case "hours":
      return (
        <Several
          items={when.hours ?? []}
          more={() => emptyCondition("hours", when.hours?.at(-1)?.zone ?? ownZone()).hours ?? []}
          addLabel={t`添加时段`}
          removeLabel={(place) => t`删除时段 ${place}`}
          onItems={(hours) => onChange({ hours })}
        >
          {(window, change) => <WindowFields window={window} onChange={change} />}
        </Several>
      );
    case "dates":
      return (
        <Several
          items={when.dates ?? []}
          more={() => emptyCondition("dates", when.dates?.at(-1)?.zone ?? ownZone()).dates ?? []}
          addLabel={t`添加日期`}
          removeLabel={(place) => t`删除日期 ${place}`}
          onItems={(dates) => onChange({ dates })}
        >
          {(range, change) => <DateFields range={range} onChange={change} />}
        </Several>
      );
    case "input":
      return <RangeFields range={when.input ?? {}} unit="Token" onChange={(input) => onChange({ input })} />;
    case "seconds":
      return <RangeFields range={when.seconds ?? {}} unit={t`秒`} onChange={(seconds) => onChange({ seconds })} />;
    case "cached":
      return (
        <Select
          aria-label={t(conditionNames.cached)}
          className="sm:max-w-72"
          value={String(when.cached)}
          options={[
            { value: "true", label: t`输入有一部分命中缓存` },
            { value: "false", label: t`输入没有命中缓存` },
          ]}
          onValueChange={(next) => onChange({ cached: next === "true" })}
        />
      );
    case "batch":
      return <p className="text-muted">{t`经 /v1/batches 提交的调用；这条规则的价格代替批处理倍率。`}</p>;
    case "member":
      return (
        <MemberFields member={when.member ?? { path: "", values: [] }} onChange={(member) => onChange({ member })} />
      );
    default:
      return (
        <TokenInput
          aria-label={t(conditionNames[kind])}
          placeholder={t`其中之一`}
          value={when[kind] ?? []}
          suggestions={SUGGESTED[kind]}
          onValueChange={(values) => onChange({ [kind]: values })}
        />
      );
  }
}

/** Several of a kind, one of which is enough; the last one stays. */
function Several<Item>({
  items,
  more,
  addLabel,
  removeLabel,
  onItems,
  children,
}: {
  items: Item[];
  more: () => Item[];
  addLabel: string;
  removeLabel: (place: number) => string;
  onItems: (items: Item[]) => void;
  children: (item: Item, onChange: (item: Item) => void) => ReactNode;
}) {
  return (
    <>
      {items.map((item, index) => (
        // Keyed by position: they have no names.
        <div key={index} className="flex items-start gap-2">
          <div className="grid min-w-0 flex-1 gap-2">
            {children(item, (next) => onItems(items.map((one, at) => (at === index ? next : one))))}
          </div>
          {items.length > 1 ? (
            <IconButton
              size="sm"
              label={removeLabel(index + 1)}
              onClick={() => onItems(items.filter((_, at) => at !== index))}
            >
              <Trash2 />
            </IconButton>
          ) : null}
        </div>
      ))}
      <Button size="sm" className="justify-self-start" onClick={() => onItems([...items, ...more()])}>
        <Plus aria-hidden />
        {addLabel}
      </Button>
    </>
  );
}

const ALL_DAYS = [1, 2, 3, 4, 5, 6, 7];

function WindowFields({ window, onChange }: { window: HourWindow; onChange: (window: HourWindow) => void }) {
  const { t } = useLingui();
  const id = useId();
  const { days = ALL_DAYS, except = [], ...always } = window;
  const build = (next: { days?: number[]; except?: string[] } & Partial<HourWindow>): void => {
    const all = { ...always, days, except, ...next };
    const { days: on, except: without, ...clock } = all;
    const every = ALL_DAYS.every((day) => on.includes(day));
    onChange({ ...clock, ...(!every && { days: on }), ...(without.length > 0 && { except: without }) });
  };
  return (
    <>
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
        <Field label={t`从`}>
          {(field) => (
            <Input
              id={field}
              type="time"
              value={always.from}
              onChange={(event) => build({ from: event.target.value })}
            />
          )}
        </Field>
        <Field label={t`到`} hint={t`00:00 为当天结束`}>
          {(field) => (
            <Input
              id={field}
              type="time"
              value={always.to === "24:00" ? "00:00" : always.to}
              onChange={(event) => build({ to: event.target.value === "00:00" ? "24:00" : event.target.value })}
            />
          )}
        </Field>
        <Zone zone={always.zone} onZone={(zone) => build({ zone })} className="col-span-2 sm:col-span-1" />
      </div>
      <div className="flex flex-wrap gap-x-4 gap-y-1" role="group" aria-label={t`开始的日子`}>
        {ALL_DAYS.map((day) => (
          <CheckboxField
            key={day}
            label={dayName(day, currentLanguage())}
            checked={days.includes(day)}
            onCheckedChange={(on) =>
              build({ days: on === true ? [...days, day].sort((a, b) => a - b) : days.filter((one) => one !== day) })
            }
          />
        ))}
      </div>
      <FieldFrame id={id} label={t`除外的日期`}>
        <TokenInput
          id={id}
          aria-labelledby={`${id}-label`}
          placeholder="2027-01-01"
          value={except}
          validate={(date) => (/^\d{4}-\d{2}-\d{2}$/.test(date) ? null : t`请写成 2027-01-01 的形式`)}
          onValueChange={(dates) => build({ except: dates })}
        />
      </FieldFrame>
    </>
  );
}

function DateFields({ range, onChange }: { range: DateRange; onChange: (range: DateRange) => void }) {
  const { t } = useLingui();
  const set = (key: "from" | "until", value: string): void => {
    const { [key]: _, ...others } = range;
    onChange(value === "" ? others : { ...others, [key]: value });
  };
  return (
    <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
      <Field label={t`第一天`}>
        {(field) => (
          <Input
            id={field}
            type="date"
            value={range.from ?? ""}
            onChange={(event) => set("from", event.target.value)}
          />
        )}
      </Field>
      <Field label={t`最后一天`}>
        {(field) => (
          <Input
            id={field}
            type="date"
            value={range.until ?? ""}
            onChange={(event) => set("until", event.target.value)}
          />
        )}
      </Field>
      <Zone zone={range.zone} onZone={(zone) => onChange({ ...range, zone })} className="col-span-2 sm:col-span-1" />
    </div>
  );
}

function RangeFields({
  range,
  unit,
  onChange,
}: {
  range: NumberRange;
  unit: string;
  onChange: (range: NumberRange) => void;
}) {
  const { t } = useLingui();
  const field = (key: keyof NumberRange, label: string) => (
    <Field label={label}>
      {(id) => (
        <NumberField
          id={id}
          min={0}
          unit={unit}
          value={range[key] ?? null}
          onValueChange={(value) => onChange(withNumber(range, key, value))}
        />
      )}
    </Field>
  );
  return (
    <div className="grid grid-cols-2 gap-2 sm:max-w-[480px]">
      {field("over", t`超过`)}
      {field("up_to", t`至多`)}
    </div>
  );
}

type Member = NonNullable<RuleConditions["member"]>;

function MemberFields({ member, onChange }: { member: Member; onChange: (member: Member) => void }) {
  const { t } = useLingui();
  return (
    <div className="grid gap-2 sm:grid-cols-2">
      <Field label={t`成员（各级名称以点相连）`}>
        {(id) => (
          <Input
            id={id}
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            placeholder="metadata.speed"
            value={member.path}
            onChange={(event) => onChange({ ...member, path: event.target.value })}
          />
        )}
      </Field>
      <Field label={t`值（其中之一）`}>
        {(id) => (
          <TokenInput
            id={id}
            aria-labelledby={`${id}-label`}
            value={member.values}
            onValueChange={(values) => onChange({ ...member, values })}
          />
        )}
      </Field>
    </div>
  );
}

function Zone({ zone, onZone, className }: { zone: string; onZone: (zone: string) => void; className: string }) {
  const { t } = useLingui();
  return (
    <Field label={t`时区`} className={className}>
      {(id) => (
        <Combobox
          id={id}
          aria-labelledby={`${id}-label`}
          value={zone}
          options={zones}
          onValueChange={(next) => next !== null && onZone(next)}
        />
      )}
    </Field>
  );
}

function Field({
  label,
  hint,
  className,
  children,
}: {
  label: string;
  hint?: string;
  className?: string;
  children: (id: string) => ReactNode;
}) {
  const id = useId();
  return (
    <FieldFrame id={id} label={label} hint={hint} className={className}>
      {children(id)}
    </FieldFrame>
  );
}
