/** What a failed attempt says about its channel. */

/** What led to the change, for the log row. */
export interface Evidence {
  request_id?: string;
  model?: string;
}

/** What an upstream did to a call, for the rules of automatic disabling. */
export interface ChannelTrouble extends Evidence {
  /** The upstream's HTTP status, 0 when none came. */
  status: number;
  /** The failure table says that this disables a channel (protocol/upstream-failure.ts, after status_code_mapping). */
  disable: boolean;
  /** The upstream's own words, '' without any. Keys must be cut out of them: they are kept. */
  message: string;
  /** Whether the caller wrote this phrase: an error that quotes the caller is no evidence. */
  quoted?(phrase: string): boolean;
}
