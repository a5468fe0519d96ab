/** What is taken by choice, as records of the past: paid orders, used codes, and jobs that have ended. */
import type { SourceCode, SourceJob, SourceOrder } from "./records";
import type { SystemTables, TableUse } from "./system";

/** Rows that are read at once: the answer of a job may be long. */
export const HISTORY_ROWS = 200;

/** Why a row is left that has an end. */
export const OLD = "older than --records";

/** What the rows become, their table, and a row's time in epoch seconds. */
type HistoryTable = readonly [
  becomes: "orders" | "drawings" | "tasks",
  use: TableUse<SourceOrder | SourceJob>,
  time: (record: SourceOrder | SourceJob) => number,
];

const timeOf = (record: SourceOrder | SourceJob): number =>
  "trade_no" in record ? record.create_time : Math.floor(record.submit_time_ms / 1000);

export const historyTables = ({ orders, drawings, tasks }: SystemTables): HistoryTable[] =>
  (
    [
      ["orders", orders],
      ["drawings", drawings],
      ["tasks", tasks],
    ] as const
  ).flatMap(([becomes, use]) => (use ? [[becomes, use, timeOf] as const] : []));

/** Why a used code is not taken as a record; undefined: it is, or it is not used. */
export function usedCodeLeft({ used }: SourceCode, since: number | undefined): string | undefined {
  if (!used) return undefined;
  if (since === undefined) return "used: its units are in the balances";
  if (used.by === "") return "used: the source does not know by whom";
  return used.at < since ? OLD : undefined;
}
