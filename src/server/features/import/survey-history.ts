/** The part of the dry run that is taken by choice: orders, codes, drawings and other jobs. */
import type { Catalogue, Source } from "../../db/foreign/source";
import { HISTORY_ROWS, historyTables, OLD, usedCodeLeft } from "./history";
import { eachOf, type Plan, TableCount, unreadColumns } from "./plan";
import { isLeft, type SourceJob, type SourceOrder } from "./records";
import type { SystemTables } from "./system";
import { RUNNING } from "./systems/family-records";

/** Asks the operator. */
interface Asks {
  ask(id: string, question: string, choices: readonly string[], recommended: string): unknown;
}

const GONE = "of users who are not taken";

/** The tables that are read: those of orders and jobs by choice, and where the source has them. */
export function chosen(tables: SystemTables, catalogue: Catalogue, since: number | undefined): SystemTables {
  const { orders, drawings, tasks, ...rest } = tables;
  if (since === undefined) return rest;
  const there = Object.entries({ orders, drawings, tasks }).filter(([, use]) => use && catalogue.has(use.table));
  return { ...rest, ...Object.fromEntries(there) };
}

export async function codesReport(
  source: Source,
  use: NonNullable<SystemTables["codes"]>,
  users: ReadonlySet<string>,
  since: number | undefined,
) {
  const count = new TableCount(use.table, "redemption codes");
  for await (const { record } of eachOf(source, use)) {
    if (!count.count(record)) continue;
    const left = usedCodeLeft(record, since) ?? (record.used && !users.has(record.used.by) ? GONE : undefined);
    if (left) count.drop(left);
  }
  return count.report;
}

/** Reports of orders, drawings and other jobs, and the question whether those that run may be left. */
export async function historyReports(
  source: Source,
  tables: SystemTables,
  questions: Asks,
  users: ReadonlySet<string>,
  since = 0,
) {
  const reports: Plan["tables"] = [];
  let running = 0;
  for (const [becomes, use, time] of historyTables(tables)) {
    const count = new TableCount(use.table, becomes);
    for await (const { record } of eachOf<SourceOrder | SourceJob>(source, use, HISTORY_ROWS)) {
      if (isLeft(record) && record.left === RUNNING) running++;
      if (!count.count(record)) continue;
      if (!users.has(record.user)) count.drop(GONE);
      else if (time(record) < since) count.drop(OLD);
    }
    reports.push(count.report);
  }
  if (running > 0)
    questions.ask(
      "running-jobs",
      `${running} drawings and other jobs have no end yet. leave: they are not taken, and what fails after the move is not given back. Else wait until they have ended.`,
      ["leave"],
      "leave",
    );
  return reports;
}

/** The log is counted and not read: it may have millions of rows. */
export async function logReport(
  source: Source,
  catalogue: Catalogue,
  { logs }: SystemTables,
): Promise<Plan["tables"][number] | undefined> {
  if (!logs || !catalogue.has(logs.table)) return undefined;
  const { report } = new TableCount(logs.table, "log");
  report.rows = report.taken = await source.count(logs.table);
  report.columns = await unreadColumns(source, catalogue, logs);
  return report;
}
