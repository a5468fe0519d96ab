/** Ends of calls that the ledger could not record yet. */
import type { CallLedger } from "./ledger";

export interface SettleQueue extends Pick<CallLedger, "later"> {
  /** Ends of calls that wait; holds of unknown state do not count. */
  size(): number;
  /** The journal has no room for new calls. */
  full(): boolean;
  /** The journal's file, for checks that its disk can be written. */
  readonly path: string;
  /** Makes one last round, then closes the files. The next process takes over the remaining entries. */
  close(): Promise<void>;
}
