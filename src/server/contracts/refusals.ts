/** Log rows of refused calls; equal ones are folded into one. */
import type { CallLog } from "./ledger";

export interface Refusals {
  /** Keeps a refusal: as a row, or as a count on one. Never throws. */
  record(row: CallLog, code: string): Promise<void>;
  /** Writes what has been counted; rejects when it cannot be written, and keeps it then. */
  flush(): Promise<void>;
}
