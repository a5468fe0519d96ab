import { useLingui } from "@lingui/react/macro";
import { ListFilter, X } from "lucide-react";
import { type ReactNode, useId } from "react";
import { formatTime } from "../../lib/format";
import { Button } from "../../ui/button";
import { Combobox } from "../../ui/combobox";
import { DateTimeField } from "../../ui/date-time-field";
import { Input } from "../../ui/input";
import { Label } from "../../ui/label";
import { Popover, PopoverContent, PopoverTrigger } from "../../ui/popover";
import type { FilterControlProps, GridFilter } from "./types";

type FiltersProps = {
  filters: readonly GridFilter[];
  values: Readonly<Record<string, string>>;
  onChange: (changes: Record<string, string>) => void;
};

/** The panel with all filters of a list. */
export function FilterPanel({
  filters,
  values,
  onChange,
  open,
  onOpenChange,
}: FiltersProps & {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const { t } = useLingui();
  const id = useId();
  const active = inForce(filters, values).length;
  return (
    <Popover open={open} onOpenChange={onOpenChange}>
      <PopoverTrigger asChild>
        <Button aria-keyshortcuts="F">
          <ListFilter aria-hidden />
          {t`筛选`}
          {active > 0 ? (
            <span className="rounded-sm bg-accent-soft px-1 text-xs text-accent-text">{active}</span>
          ) : null}
        </Button>
      </PopoverTrigger>
      <PopoverContent aria-label={t`筛选`} className="w-[min(320px,calc(100vw-32px))]">
        <div className="grid gap-3">
          {filters.map((filter) => (
            <div key={filter.key} className="grid gap-1">
              <Label id={`${id}-${filter.key}-label`} htmlFor={`${id}-${filter.key}`}>
                {filter.label}
              </Label>
              <FilterControl
                id={`${id}-${filter.key}`}
                filter={filter}
                value={values[filter.key] ?? ""}
                onChange={(value) => onChange({ [filter.key]: value })}
              />
            </div>
          ))}
          <div className="flex justify-between border-t border-line pt-3">
            <Button
              variant="ghost"
              onClick={() => onChange(Object.fromEntries(filters.map((filter) => [filter.key, ""])))}
            >
              {t`清除筛选`}
            </Button>
            <Button variant="primary" onClick={() => onOpenChange(false)}>{t`完成`}</Button>
          </div>
        </div>
      </PopoverContent>
    </Popover>
  );
}

const inForce = (filters: readonly GridFilter[], values: Readonly<Record<string, string>>) =>
  filters.filter((filter) => values[filter.key] && !(filter.kind === "time" && filter.unset));

function FilterControl({ filter, ...props }: FilterControlProps & { filter: GridFilter }) {
  const { t } = useLingui();
  const { id, value, onChange } = props;
  if (filter.kind === "own") return filter.control(props);
  if (filter.kind === "choice") {
    return (
      <Combobox
        id={id}
        aria-labelledby={`${id}-label ${id}`}
        value={value || null}
        onValueChange={(next) => onChange(next ?? "")}
        options={filter.options}
        placeholder={t`不限`}
        clearable
      />
    );
  }
  if (filter.kind === "time") {
    return (
      <DateTimeField
        id={id}
        value={value ? Number(value) : null}
        onValueChange={(seconds) => onChange(seconds === null ? "" : String(seconds))}
      />
    );
  }
  // Each key would be a request: the text goes out when the field is left or Enter is pressed.
  return (
    <Input
      id={id}
      key={value}
      defaultValue={value}
      placeholder={filter.placeholder}
      onBlur={(event) => event.target.value.trim() !== value && onChange(event.target.value.trim())}
      onKeyDown={(event) => event.key === "Enter" && onChange(event.currentTarget.value.trim())}
    />
  );
}

/** The filters in force, each with its way out: `状态 是 自动禁用 ✕`. */
export function FilterChips({ filters, values, onChange }: FiltersProps) {
  const { t } = useLingui();
  const active = inForce(filters, values);
  if (active.length === 0) return null;
  return (
    <ul aria-label={t`当前筛选`} className="flex flex-wrap gap-1.5">
      {active.map((filter) => {
        const value = values[filter.key] ?? "";
        const shown = filterText(filter, value);
        const label = filter.label;
        return (
          <li
            key={filter.key}
            className="flex h-7 max-w-full items-center rounded-md border border-line bg-surface pl-2 text-xs"
          >
            <span className="truncate">
              <span className="text-muted">{filter.label}</span> {filter.kind === "text" ? t`包含` : t`是`}{" "}
              <span className="font-medium">{shown}</span>
            </span>
            <button
              type="button"
              aria-label={t`移除筛选：${label}`}
              onClick={() => onChange({ [filter.key]: "" })}
              className="inline-flex size-7 items-center justify-center rounded-md text-muted hover:text-ink"
            >
              <X aria-hidden className="size-3" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function filterText(filter: GridFilter, value: string): ReactNode {
  if (filter.kind === "own") return filter.shown(value);
  if (filter.kind === "choice") return filter.options.find((option) => option.value === value)?.label ?? value;
  return filter.kind === "time" ? formatTime(Number(value)) : value;
}

/**
 * Reads a pasted `status:3 group:vip rest` into filters; words without a known key are the search text.
 * Null when no word names a filter.
 */
export function parseFilterText(
  text: string,
  keys: readonly string[],
): { filters: Record<string, string>; rest: string } | null {
  const filters: Record<string, string> = {};
  const rest: string[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const [, key, value] = /^([\w-]+):(.+)$/.exec(word) ?? [];
    if (key && value && keys.includes(key)) filters[key] = value;
    else rest.push(word);
  }
  return Object.keys(filters).length > 0 ? { filters, rest: rest.join(" ") } : null;
}
