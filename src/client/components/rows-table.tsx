import { useLingui } from "@lingui/react/macro";
import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "../lib/cn";
import { Button } from "../ui/button";
import { Checkbox } from "../ui/checkbox";
import { IconButton } from "../ui/icon-button";
import { Input } from "../ui/input";

export type Row = Readonly<Record<string, string | boolean>>;

export interface RowColumn {
  key: string;
  label: string;
  /** A box instead of a text. */
  check?: boolean;
  numeric?: boolean;
  /** YYYY-MM-DD. */
  date?: boolean;
}

export interface RowsTableProps {
  columns: readonly RowColumn[];
  rows: readonly Row[];
  /** What a new row begins with. */
  empty: Row;
  onRows: (rows: readonly Row[]) => void;
  /** The order means something: rows can be moved. */
  ordered?: boolean;
  /** The columns' names stand above the first row; else only where a field is empty. */
  headed?: boolean;
  disabled?: boolean;
  /** Shown behind a row. */
  extra?: (row: Row) => ReactNode;
}

/** A short list as rows of fields: added, changed, removed and, where the order means something, moved. */
export function RowsTable({
  columns,
  rows,
  empty,
  onRows,
  ordered = false,
  headed = false,
  disabled = false,
  extra,
}: RowsTableProps) {
  const { t } = useLingui();
  const swap = (a: number, b: number) => {
    const next = [...rows];
    const [first, second] = [next[a], next[b]];
    if (!first || !second) return;
    next[a] = second;
    next[b] = first;
    onRows(next);
  };
  return (
    <>
      {rows.map((row, index) => (
        // Rows are keyed by position: names change while they are typed.
        <div key={index} className={cn("flex flex-wrap gap-2", headed ? "items-end" : "items-center")}>
          {columns.map((column) => (
            <Cell
              key={column.key}
              column={column}
              row={row}
              place={index + 1}
              headed={headed && index === 0}
              disabled={disabled}
              onValue={(value) =>
                onRows(rows.map((other, at) => (at === index ? { ...other, [column.key]: value } : other)))
              }
            />
          ))}
          {extra?.(row)}
          {ordered ? (
            <>
              <IconButton
                size="sm"
                label={t`上移第 ${index + 1} 行`}
                disabled={disabled || index === 0}
                onClick={() => swap(index, index - 1)}
              >
                <ArrowUp />
              </IconButton>
              <IconButton
                size="sm"
                label={t`下移第 ${index + 1} 行`}
                disabled={disabled || index === rows.length - 1}
                onClick={() => swap(index, index + 1)}
              >
                <ArrowDown />
              </IconButton>
            </>
          ) : null}
          <IconButton
            size="sm"
            label={t`删除第 ${index + 1} 行`}
            disabled={disabled}
            onClick={() => onRows(rows.filter((_, at) => at !== index))}
          >
            <Trash2 />
          </IconButton>
        </div>
      ))}
      <Button size="sm" className="justify-self-start" disabled={disabled} onClick={() => onRows([...rows, empty])}>
        <Plus aria-hidden />
        {t`添加一行`}
      </Button>
    </>
  );
}

function Cell({
  column,
  row,
  place,
  headed,
  disabled,
  onValue,
}: {
  column: RowColumn;
  row: Row;
  place: number;
  headed: boolean;
  disabled: boolean;
  onValue: (value: string | boolean) => void;
}) {
  const { t } = useLingui();
  const value = row[column.key];
  const name = t`${column.label}，第 ${place} 行`;
  if (column.check) {
    return (
      <label className="flex items-center gap-1.5 text-sm">
        <Checkbox
          aria-label={name}
          disabled={disabled}
          checked={value === true}
          onCheckedChange={(on) => onValue(on === true)}
        />
        {column.label}
      </label>
    );
  }
  return (
    <div className={column.numeric ? "w-24" : column.date ? "w-40" : "min-w-28 flex-1"}>
      {headed ? (
        <span aria-hidden className="mb-1 block truncate text-xs text-muted" title={column.label}>
          {column.label}
        </span>
      ) : null}
      <Input
        aria-label={name}
        placeholder={column.label}
        type={column.date ? "date" : "text"}
        inputMode={column.numeric ? "decimal" : undefined}
        value={String(value ?? "")}
        disabled={disabled}
        onChange={(event) => onValue(event.target.value)}
      />
    </div>
  );
}
