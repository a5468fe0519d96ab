import { t } from "@lingui/core/macro";
import { CSV_MARK, csvLine } from "../../../shared/csv";
import { MAX_LIST_SIZE } from "../../../shared/list-size";
import { downloadText } from "../../lib/download";
import { runExport } from "../../lib/export-run";
import { formatNumber } from "../../lib/format";
import type { ExportedValue, ExportFormat, GridColumn } from "./types";

const TYPES: Readonly<Record<ExportFormat, string>> = { csv: "text/csv", jsonl: "application/x-ndjson" };

interface Exported<R extends object> {
  /** Of the list. */
  name: string;
  format: ExportFormat;
  /** Those that the user sees, in their order. */
  columns: readonly GridColumn<R>[];
  /** Null when not known. */
  total: number | null;
  readPage: (page: number, pageSize: number) => Promise<readonly R[]>;
  rowId: (row: R) => string;
}

const cellOf = (value: ExportedValue) => (value instanceof Date ? value.toISOString() : (value ?? ""));

/**
 * Saves the whole list as a file, read page by page. A row that moves to a later page meanwhile, because others came
 * before it, stands there once.
 */
export function exportRows<R extends object>(list: Exported<R>): Promise<void> {
  const { format, columns } = list;
  return runExport(async (report, signal) => {
    const parts: string[] = [];
    const seen = new Set<string>();
    for (let page = 1; ; page += 1) {
      const rows = await list.readPage(page, MAX_LIST_SIZE);
      signal.throwIfAborted();
      for (const row of rows) {
        const id = list.rowId(row);
        if (seen.has(id)) continue;
        seen.add(id);
        const values = Object.assign({}, ...columns.map((column) => column.exported?.(row))) as Record<
          string,
          ExportedValue
        >;
        if (format === "jsonl") parts.push(`${JSON.stringify(values)}\n`);
        else {
          if (parts.length === 0) parts.push(CSV_MARK, csvLine(Object.keys(values)));
          parts.push(csvLine(Object.values(values).map(cellOf)));
        }
      }
      if (rows.length < MAX_LIST_SIZE) break;
      const [done, all] = [formatNumber(seen.size), formatNumber(list.total ?? 0)];
      // A list may count something else than the rows of its file, such as tags.
      report((list.total ?? 0) < seen.size ? t`${done} 行` : t`${done} / ${all} 行`);
    }
    if (seen.size === 0) return null;
    const time = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
    const name = `weir-${list.name}-${time}.${format}`;
    downloadText(name, parts, TYPES[format]);
    return name;
  });
}
