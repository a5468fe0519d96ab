/** Notices to operators and users. */
import type { StatusReason } from "../../shared/channel-operations";

export interface Notices {
  /** A user was charged: their balance may be low now. */
  charged(user_id: number): void;
  /** A channel, or one of its keys, was disabled automatically. */
  channelDisabled(id: number, reason: StatusReason): void;
}
