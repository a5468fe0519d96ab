/** Counters of the running process, for metrics and tests. */
export interface RelayStats {
  /** Calls that have not left a log row yet. */
  open_calls: number;
  /** Streams whose body has not ended. */
  open_streams: number;
  /** Realtime sessions that are open; each is an open stream as well. */
  open_sessions: number;
  /** Settles that failed or had no reply for seconds, and were written to the journal. */
  late_settles: number;
  /** Settles whose hold was gone: charged all the same. */
  missing_holds: number;
  /** Conversations with a choice of channels, and those of them that returned to their previous one. */
  sticky_calls: number;
  sticky_hits: number;
}
