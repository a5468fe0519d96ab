import { useLingui } from "@lingui/react/macro";
import { type ReactNode, useState } from "react";
import type { OptionKey } from "../../../shared/options";
import { type Row, type RowColumn, RowsTable } from "../../components/rows-table";
import { Button } from "../../ui/button";
import type { Prices, useSavePrices } from "./use-prices";

/** What every form of an option's rows is given. */
export interface PriceFormProps {
  prices: Prices;
  saver: ReturnType<typeof useSavePrices>;
}

interface RowsFormProps<Problem extends string> extends PriceFormProps {
  option: OptionKey;
  label: string;
  hint: ReactNode;
  columns: readonly RowColumn[];
  /** The rows as they are stored. */
  first: readonly Row[];
  /** The option's text, or the first thing that is wrong and the row (from 1) that it is wrong in. */
  read: (rows: readonly Row[]) => { text: string } | { problem: Problem; row: number };
  words: (row: number) => Readonly<Record<Problem, string>>;
}

/** An option whose entries are rows: changed, checked and saved as a whole. */
export function RowsForm<Problem extends string>({
  prices,
  saver,
  option,
  label,
  hint,
  columns,
  first,
  read,
  words,
}: RowsFormProps<Problem>) {
  const { t } = useLingui();
  const [rows, setRows] = useState(first);
  const [tried, setTried] = useState(false);
  const made = read(rows);
  const unchanged = JSON.stringify(rows) === JSON.stringify(first);
  const stored = prices.text(option);
  const save = () => {
    setTried(true);
    if ("text" in made) void saver.saveText(option, stored, unchanged ? stored : made.text).catch(() => false);
  };
  return (
    <div className="grid max-w-[760px] gap-3" role="group" aria-label={label}>
      <p className="text-muted">{hint}</p>
      <RowsTable
        columns={columns}
        rows={rows}
        empty={Object.fromEntries(columns.map(({ key }) => [key, ""]))}
        headed
        onRows={(next) => (setRows([...next]), setTried(false))}
      />
      {tried && "problem" in made ? (
        <p role="alert" className="text-red-fg">
          {words(made.row)[made.problem]}
        </p>
      ) : null}
      <div className="flex gap-2">
        <Button variant="primary" loading={saver.saving} onClick={save}>{t`保存`}</Button>
        <Button disabled={unchanged} onClick={() => (setRows(first), setTried(false))}>{t`撤销修改`}</Button>
      </div>
    </div>
  );
}
