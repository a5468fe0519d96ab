import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { OptionKey } from "../../../shared/options";
import { type Row, RowsTable, type RowsTableProps } from "../../components/rows-table";
import { Button } from "../../ui/button";
import { OptionField } from "./option-field";

/**
 * A JSON option as a table; the JSON itself is one press away. `rows` null: the JSON cannot be shown as a table, so
 * only the JSON is.
 */
export function RowsEditor({
  label,
  rows,
  json,
  ...table
}: Omit<RowsTableProps, "rows"> & {
  label: string;
  rows: readonly Row[] | null;
  /** The options behind the table. */
  json: readonly OptionKey[];
}) {
  const { t } = useLingui();
  const [asJson, setAsJson] = useState(false);
  const shown = asJson ? null : rows;
  return (
    <div className="grid gap-2" role="group" aria-label={label}>
      <div className="flex items-center justify-between gap-2">
        <span className="font-medium">{label}</span>
        <Button size="sm" variant="ghost" disabled={rows === null} onClick={() => setAsJson(!asJson)}>
          {asJson ? t`表格编辑` : t`JSON 编辑`}
        </Button>
      </div>
      {shown === null ? json.map((key) => <OptionField key={key} name={key} />) : <RowsTable {...table} rows={shown} />}
    </div>
  );
}
