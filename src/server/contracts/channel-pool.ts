/** The pool of channels, with the control plane's operations on it. */
import type { Pool } from "./channel";

export interface ChannelPool extends Pool {
  /** Reads the channels again; resolves when a snapshot at least as new as the call is in use. */
  reload(): Promise<void>;
  /** Every model that some enabled channel serves, sorted (GET /api/channel/models_enabled). */
  enabledModels(): readonly string[];
  close(): void;
}
