/** The pool of channels, with what the control plane does to it. */
import type { Pool } from "./channel";

export interface ChannelPool extends Pool {
  /** Reads the channels again; resolves when a snapshot that is at least as new as the call is in force. */
  reload(): Promise<void>;
  /** Every model that some enabled channel serves, sorted (GET /api/channel/models_enabled). */
  enabledModels(): readonly string[];
  close(): void;
}
