import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import { DIMENSIONS, GRANULARITIES, MEASURES, OWN_DIMENSIONS } from "../../../shared/dashboard";
import { DateTimeField } from "../../ui/date-time-field";
import { Input } from "../../ui/input";
import { Label } from "../../ui/label";
import { Select } from "../../ui/select";
import { granularityFor, PRESETS, timeZone } from "./dashboard-range";
import { useDashboardWords } from "./measure";
import type { Dashboard } from "./use-dashboard";

/** Range, what is counted, by what, how finely, and whose. */
export function DashboardToolbar({ dashboard }: { dashboard: Dashboard }) {
  const { t } = useLingui();
  const words = useDashboardWords();
  const id = useId();
  const { admin, url, patch, range, granularity, group_by } = dashboard;
  const zone = timeZone();
  const choices = <T extends string>(values: readonly T[], names: Record<T, string>) =>
    values.map((value) => ({ value, label: names[value] }));
  const pick =
    <T extends string>(values: readonly T[], then: (value: T) => void) =>
    (text: string) => {
      const value = values.find((one) => one === text);
      if (value !== undefined) then(value);
    };

  return (
    <div className="flex flex-wrap items-end gap-x-3 gap-y-2">
      <Field id={`${id}-range`} label={t`时间范围`}>
        <Select
          id={`${id}-range`}
          aria-label={t`时间范围`}
          value={url.range}
          options={[...choices(PRESETS, words.presets), { value: "custom", label: t`自定义` }]}
          onValueChange={pick([...PRESETS, "custom"] as const, (value) =>
            patch(
              value === "custom"
                ? { range: value, from: range.start, to: range.end }
                : { range: value, from: null, to: null },
            ),
          )}
        />
      </Field>
      {url.range === "custom" ? (
        <>
          <Field id={`${id}-from`} label={t`开始时间`}>
            <DateTimeField id={`${id}-from`} value={range.start} onValueChange={(from) => patch({ from })} />
          </Field>
          <Field id={`${id}-to`} label={t`结束时间`}>
            <DateTimeField id={`${id}-to`} value={range.end} onValueChange={(to) => patch({ to })} />
          </Field>
        </>
      ) : null}
      <Field id={`${id}-measure`} label={t`指标`}>
        <Select
          id={`${id}-measure`}
          aria-label={t`指标`}
          value={url.measure}
          options={choices(MEASURES, words.measures)}
          onValueChange={pick(MEASURES, (measure) => patch({ measure }))}
        />
      </Field>
      <Field id={`${id}-by`} label={t`统计维度`}>
        <Select
          id={`${id}-by`}
          aria-label={t`统计维度`}
          value={group_by}
          options={choices(admin ? DIMENSIONS : OWN_DIMENSIONS, words.dimensions)}
          onValueChange={pick(DIMENSIONS, (by) => patch({ by }))}
        />
      </Field>
      <Field id={`${id}-granularity`} label={t`时间粒度`}>
        <Select
          id={`${id}-granularity`}
          aria-label={t`时间粒度`}
          value={granularity}
          options={GRANULARITIES.map((value) => ({
            value,
            label: words.granularities[value],
            disabled: granularityFor(value, range) !== value,
          }))}
          onValueChange={pick(GRANULARITIES, (value) => patch({ granularity: value }))}
        />
      </Field>
      {admin ? (
        <UserField
          key={url.username}
          id={`${id}-user`}
          value={url.username}
          onChange={(username) => patch({ username })}
        />
      ) : null}
      <p className="pb-1.5 text-xs text-muted">{t`时区：${zone}`}</p>
    </div>
  );
}

function Field({ id, label, children }: { id: string; label: string; children: React.ReactNode }) {
  return (
    <div className="grid min-w-28 gap-1">
      <Label htmlFor={id}>{label}</Label>
      {children}
    </div>
  );
}

/** One user alone: asked when the name is complete, not with every letter. */
function UserField({ id, value, onChange }: { id: string; value: string; onChange: (username: string) => void }) {
  const { t } = useLingui();
  const [text, setText] = useState(value);
  return (
    <form
      className="grid gap-1"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim());
      }}
    >
      <Label htmlFor={id}>{t`用户名`}</Label>
      <Input
        id={id}
        type="search"
        value={text}
        placeholder={t`全部用户`}
        maxLength={200}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => text.trim() !== value && onChange(text.trim())}
      />
    </form>
  );
}
