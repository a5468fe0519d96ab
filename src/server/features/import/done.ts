/** What a run did. */
import type { Written } from "./user-rows";
import type { HistoryWritten } from "./write-history";
import type { LogsWritten } from "./write-logs";

export interface Done {
  users: Written;
  channels: number;
  codes: number;
  /** What was taken by choice: new rows, of codes those that were used. Absent in reports of older releases. */
  records?: HistoryWritten & { codes: number };
  logs: LogsWritten;
  /** Options that could not be set: key -> why. */
  options: Record<string, string>;
  /** The source changed meanwhile: run again when it has stopped. */
  moved: boolean;
  /** False: interrupted; the next run goes on. */
  finished: boolean;
}
