import { useLingui } from "@lingui/react/macro";
import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { OptionKey } from "../../../shared/options";
import { Button } from "../../ui/button";
import { Checkbox } from "../../ui/checkbox";
import { IconButton } from "../../ui/icon-button";
import { Input } from "../../ui/input";
import { OptionField } from "./option-field";

export type Row = Readonly<Record<string, string | boolean>>;

export interface RowColumn {
  key: string;
  label: string;
  /** A box instead of a text. */
  check?: boolean;
  numeric?: boolean;
}

/**
 * A JSON option as a table; the JSON itself is one press away. `rows` null: the JSON cannot be shown as a table, so only the
 * JSON is.
 */
export function RowsEditor({ label, columns, rows, empty, onRows, json, ordered = false, extra }: {
  label: string;
  columns: readonly RowColumn[];
  rows: readonly Row[] | null;
  /** What a new row begins with. */
  empty: Row;
  onRows: (rows: readonly Row[]) => void;
  /** The options behind the table. */
  json: readonly OptionKey[];
  /** The order means something: rows can be moved. */
  ordered?: boolean;
  /** Shown behind a row. */
  extra?: (row: Row) => ReactNode;
}) {
  const { t } = useLingui();
  const [asJson, setAsJson] = useState(false);
  const shown = asJson ? null : rows;
  const swap = (a: number, b: number) => {
    if (!rows) return;
    const next = [...rows];
    const [first, second] = [next[a], next[b]];
    if (!first || !second) return;
    next[a] = second;
    next[b] = first;
    onRows(next);
  };
  return (
    <div className="grid gap-2" role="group" aria-label={label}>
      <div className="flex items-center justify-between gap-2">
        <span className="font-medium">{label}</span>
        <Button size="sm" variant="ghost" disabled={rows === null} onClick={() => setAsJson(!asJson)}>{asJson ? t`表格编辑` : t`JSON 编辑`}</Button>
      </div>
      {shown === null ? json.map((key) => <OptionField key={key} name={key} />) : (
        <>
          {shown.map((row, index) => (
            // A row is what stands at its place; names change while they are typed.
            <div key={index} className="flex flex-wrap items-center gap-2">
              {columns.map((column) => (
                <Cell key={column.key} column={column} row={row} place={index + 1}
                  onValue={(value) => onRows(shown.map((other, at) => (at === index ? { ...other, [column.key]: value } : other)))} />
              ))}
              {extra?.(row)}
              {ordered ? (
                <>
                  <IconButton size="sm" label={t`上移第 ${index + 1} 行`} disabled={index === 0} onClick={() => swap(index, index - 1)}><ArrowUp /></IconButton>
                  <IconButton size="sm" label={t`下移第 ${index + 1} 行`} disabled={index === shown.length - 1} onClick={() => swap(index, index + 1)}><ArrowDown /></IconButton>
                </>
              ) : null}
              <IconButton size="sm" label={t`删除第 ${index + 1} 行`} onClick={() => onRows(shown.filter((_, at) => at !== index))}><Trash2 /></IconButton>
            </div>
          ))}
          <Button size="sm" className="justify-self-start" onClick={() => onRows([...shown, empty])}><Plus aria-hidden />{t`添加一行`}</Button>
        </>
      )}
    </div>
  );
}

function Cell({ column, row, place, onValue }: { column: RowColumn; row: Row; place: number; onValue: (value: string | boolean) => void }) {
  const { t } = useLingui();
  const value = row[column.key];
  const name = t`${column.label}，第 ${place} 行`;
  if (column.check) {
    return (
      <label className="flex items-center gap-1.5 text-sm">
        <Checkbox aria-label={name} checked={value === true} onCheckedChange={(on) => onValue(on === true)} />
        {column.label}
      </label>
    );
  }
  return (
    <Input
      aria-label={name}
      placeholder={column.label}
      className={column.numeric ? "w-24" : "min-w-28 flex-1"}
      inputMode={column.numeric ? "decimal" : undefined}
      value={String(value ?? "")}
      onChange={(event) => onValue(event.target.value)}
    />
  );
}
