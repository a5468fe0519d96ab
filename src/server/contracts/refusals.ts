/** Log rows of refused calls; equal ones are folded into one. */
import type { CallLog } from "./ledger";

export interface Refusals {
  /** Records a refusal: as a row, or as a count on one. Never throws. */
  record(row: CallLog, code: string): Promise<void>;
  /** Writes the counts; when they cannot be written it rejects and keeps them. */
  flush(): Promise<void>;
}
