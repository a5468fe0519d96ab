/** Ends of calls that the ledger could not take yet. */
import type { CallLedger } from "./ledger";

export interface SettleQueue extends Pick<CallLedger, "later"> {
  /** Ends of calls that wait; holds of unknown fate are none. */
  size(): number;
  /** The journal has no room for new calls. */
  full(): boolean;
  /** The journal's file, for who asks whether its disk can be written. */
  readonly path: string;
  /** A last round, then the files are given back. What still waits is the next process's. */
  close(): Promise<void>;
}
