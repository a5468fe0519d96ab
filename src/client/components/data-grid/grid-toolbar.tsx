import { useLingui } from "@lingui/react/macro";
import { Download, RotateCw, Search } from "lucide-react";
import { useEffect, useState, type ClipboardEvent, type ReactNode, type Ref } from "react";
import { cn } from "../../lib/cn";
import { DropdownMenu, DropdownMenuContent, DropdownMenuItem, DropdownMenuTrigger } from "../../ui/dropdown-menu";
import { IconButton } from "../../ui/icon-button";
import { parseFilterText } from "./grid-filters";
import type { ExportFormat } from "./types";

const TYPING_PAUSE = 300;

/** The search field; what is typed goes out after a short pause, `key:value` that is pasted becomes filters. */
export function SearchField({
  value,
  onChange,
  placeholder,
  filterKeys,
  onFilters,
  ref,
}: {
  value: string;
  onChange: (value: string) => void;
  placeholder: string;
  filterKeys: readonly string[];
  onFilters: (filters: Record<string, string>) => void;
  ref: Ref<HTMLInputElement>;
}) {
  const { t } = useLingui();
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text.trim()), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);

  const onPaste = (event: ClipboardEvent) => {
    const parsed = parseFilterText(event.clipboardData.getData("text"), filterKeys);
    if (!parsed) return;
    event.preventDefault();
    onFilters(parsed.filters);
    if (parsed.rest) setText(parsed.rest);
  };

  return (
    <span className="relative min-w-40 flex-1 max-sm:basis-full sm:max-w-72">
      <Search aria-hidden className="pointer-events-none absolute inset-y-0 left-2.5 my-auto size-4 text-muted" />
      <input
        ref={ref}
        type="search"
        aria-label={t`搜索列表`}
        aria-keyshortcuts="/"
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onPaste={onPaste}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
        className="control pl-8"
      />
    </span>
  );
}

/** Renews the list. */
export function RefreshButton({ busy, onRefresh }: { busy: boolean; onRefresh: () => void }) {
  const { t } = useLingui();
  return (
    <IconButton label={t`刷新`} shortcut="R" variant="secondary" onClick={onRefresh}>
      <RotateCw className={cn(busy && "animate-spin")} />
    </IconButton>
  );
}

/** The whole filtered list as a file. */
export function ExportMenu({ onExport }: { onExport: (format: ExportFormat) => void }) {
  const { t } = useLingui();
  return (
    <DropdownMenu>
      <DropdownMenuTrigger asChild>
        <IconButton label={t`导出`} variant="secondary">
          <Download />
        </IconButton>
      </DropdownMenuTrigger>
      <DropdownMenuContent>
        <DropdownMenuItem onSelect={() => onExport("csv")}>CSV</DropdownMenuItem>
        <DropdownMenuItem onSelect={() => onExport("jsonl")}>JSONL</DropdownMenuItem>
      </DropdownMenuContent>
    </DropdownMenu>
  );
}

/** What can be done to the selected rows; floats over the list while something is selected. */
export function BulkBar({
  count,
  total,
  allMatching,
  onAllMatching,
  onClear,
  children,
}: {
  count: number;
  /** Rows that match the filters; null when unknown or when the list cannot act on all of them. */
  total: number | null;
  allMatching: boolean;
  onAllMatching: () => void;
  onClear: () => void;
  children: ReactNode;
}) {
  const { t } = useLingui();
  return (
    <div
      role="toolbar"
      aria-label={t`批量操作`}
      className="floating fixed inset-x-4 bottom-6 z-30 mx-auto flex w-fit max-w-[calc(100vw-32px)] flex-wrap items-center gap-2 px-3 py-2"
    >
      <span role="status" className="font-medium tabular-nums">{t`已选择 ${count} 项`}</span>
      {total !== null && !allMatching && total > count ? (
        <button type="button" onClick={onAllMatching} className="min-h-8 text-accent-text hover:underline">
          {t`选择全部 ${total} 项`}
        </button>
      ) : null}
      <span aria-hidden className="h-5 w-px bg-line" />
      {children}
      <button type="button" onClick={onClear} className="min-h-8 px-1 text-ink-2 hover:text-ink">{t`取消选择`}</button>
    </div>
  );
}
