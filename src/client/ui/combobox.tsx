import { useLingui } from "@lingui/react/macro";
import { Check, ChevronDown } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import { cn } from "../lib/cn";
import { Popover, PopoverContent, PopoverTrigger } from "./popover";
import { useListKeys } from "./use-list-keys";

export type ComboboxOption = {
  value: string;
  /** What is searched and read. */
  label: string;
  icon?: ReactNode;
  hint?: ReactNode;
};

type ComboboxProps = {
  value: string | null;
  onValueChange: (value: string | null) => void;
  options: readonly ComboboxOption[];
  placeholder?: string;
  /** Offers "none" as the first choice. */
  clearable?: boolean;
  /** Hears what is typed; `options` are then what fits it, found elsewhere. */
  onSearch?: (words: string) => void;
  /** What is typed can be chosen itself. */
  free?: boolean;
  disabled?: boolean;
  id?: string;
  className?: string;
  "aria-label"?: string;
  "aria-labelledby"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
};

/** One of many choices, found by typing. */
export function Combobox({
  value,
  onValueChange,
  options,
  placeholder,
  clearable,
  onSearch,
  free,
  disabled,
  className,
  ...aria
}: ComboboxProps) {
  const listId = useId();
  const [open, setOpen] = useState(false);
  const chosen = options.find((option) => option.value === value);
  const label = aria["aria-label"] ?? placeholder;

  return (
    <Popover
      open={open}
      onOpenChange={(next) => {
        if (next) onSearch?.("");
        setOpen(next);
      }}
    >
      <PopoverTrigger
        type="button"
        role="combobox"
        aria-expanded={open}
        aria-controls={open ? listId : undefined}
        disabled={disabled}
        className={cn("control inline-flex items-center justify-between gap-2", className)}
        {...aria}
      >
        <span className={cn("flex min-w-0 items-center gap-2 truncate", !chosen && "text-muted")}>
          {chosen?.icon}
          <span className="truncate">{chosen?.label ?? value ?? placeholder}</span>
        </span>
        <ChevronDown aria-hidden className="size-4 shrink-0 text-muted" />
      </PopoverTrigger>
      <PopoverContent
        aria-label={label}
        className="flex w-(--radix-popover-trigger-width) min-w-56 flex-col overflow-hidden p-1"
      >
        <OptionSearch
          listId={listId}
          label={label}
          value={value}
          options={options}
          clearable={clearable}
          onSearch={onSearch}
          free={free}
          onChoose={(next) => {
            onValueChange(next);
            setOpen(false);
          }}
        />
      </PopoverContent>
    </Popover>
  );
}

type OptionSearchProps = {
  listId: string;
  label: string | undefined;
  value: string | null;
  options: readonly ComboboxOption[];
  clearable: boolean | undefined;
  onSearch: ((words: string) => void) | undefined;
  free: boolean | undefined;
  onChoose: (value: string | null) => void;
};

/** The search field and the options that match; mounted on opening, so the search starts empty at the chosen option. */
function OptionSearch({ listId, label, value, options, clearable, onSearch, free, onChoose }: OptionSearchProps) {
  const { t } = useLingui();
  const [search, setSearch] = useState("");
  const needle = search.trim().toLowerCase();
  const fitting =
    needle && !onSearch
      ? options.filter((option) => `${option.label}\n${option.value}`.toLowerCase().includes(needle))
      : options;
  const typed = search.trim();
  const isNew = free && typed !== "" && !fitting.some((option) => option.value === typed);
  const shown = isNew ? [...fitting, { value: typed, label: typed }] : fitting;
  const list = useListKeys(
    shown.length,
    (index) => {
      const option = shown[index];
      if (option) onChoose(option.value);
    },
    Math.max(
      0,
      options.findIndex((option) => option.value === value),
    ),
  );

  return (
    <>
      <input
        autoFocus
        value={search}
        role="combobox"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={shown.length > 0 ? `${listId}-${list.active}` : undefined}
        aria-label={t`搜索`}
        placeholder={t`搜索`}
        onChange={(event) => {
          setSearch(event.target.value);
          onSearch?.(event.target.value.trim());
          list.setActive(0);
        }}
        onKeyDown={list.onKeyDown}
        className="control mb-1 shrink-0"
      />
      <ul id={listId} role="listbox" aria-label={label ?? t`选项`} ref={list.ref} className="max-h-64 overflow-y-auto">
        {clearable && !needle && value !== null ? (
          <li role="option" aria-selected={false} className="menu-item text-muted" onClick={() => onChoose(null)}>
            {t`不限`}
          </li>
        ) : null}
        {shown.map((option, index) => (
          <Option
            key={option.value}
            id={`${listId}-${index}`}
            option={option}
            chosen={option.value === value}
            active={index === list.active}
            onPoint={() => list.setActive(index)}
            onChoose={() => onChoose(option.value)}
          />
        ))}
      </ul>
      {shown.length === 0 ? <p className="px-2 py-3 text-muted">{t`没有匹配的选项`}</p> : null}
    </>
  );
}

type OptionProps = {
  id: string;
  option: ComboboxOption;
  chosen: boolean;
  /** The keyboard is on it. */
  active: boolean;
  onPoint: () => void;
  onChoose: () => void;
};

function Option({ id, option, chosen, active, onPoint, onChoose }: OptionProps) {
  return (
    <li
      id={id}
      role="option"
      aria-selected={chosen}
      data-highlighted={active ? "" : undefined}
      onPointerMove={onPoint}
      onClick={onChoose}
      className="menu-item"
    >
      {option.icon}
      <span className="min-w-0 flex-1 truncate">{option.label}</span>
      {option.hint ? <span className="text-xs text-muted">{option.hint}</span> : null}
      {chosen ? <Check aria-hidden className="size-4" /> : null}
    </li>
  );
}
