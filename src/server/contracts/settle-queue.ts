/** Ends of calls that the ledger could not take yet. */
import type { CallLedger } from "./ledger";

export interface SettleQueue extends Pick<CallLedger, "later"> {
  /** Ends of calls that wait; holds of unknown fate do not count. */
  size(): number;
  /** The journal has no room for new calls. */
  full(): boolean;
  /** The journal's file, for checks whether its disk can be written. */
  readonly path: string;
  /** One last round, then the files are closed. What still waits is left to the next process. */
  close(): Promise<void>;
}
