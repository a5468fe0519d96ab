/** The evidence that a failed attempt gives about its channel. */

/** The cause of the change, for the log row. */
export interface Evidence {
  request_id?: string;
  model?: string;
}

/** An upstream's response to a call, for the rules of automatic disabling. */
export interface ChannelTrouble extends Evidence {
  /** The upstream's HTTP status, 0 without a response. */
  status: number;
  /** The failure table disables a channel for this (protocol/upstream-failure.ts, after status_code_mapping). */
  disable: boolean;
  /** The upstream's message, '' without one. Keys must be removed from it, because it is stored. */
  message: string;
  /** Whether the caller wrote this phrase: an error that quotes the caller is no evidence. */
  quoted?(phrase: string): boolean;
}
