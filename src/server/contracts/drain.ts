/** Taking a channel, a key or an instance out of service without breaking its calls. */

export interface Drain {
  /** No new calls since then, epoch seconds. */
  since: number;
  /** Running calls are ended then, epoch seconds; 0 = they take as long as they take. */
  deadline: number;
}

/** The drain of a row; undefined: it does not drain. */
export const drainOf = (row: { draining_since: number; drain_deadline: number }): Drain | undefined =>
  row.draining_since > 0 ? { since: row.draining_since, deadline: row.drain_deadline } : undefined;

/** Calls that an instance serves. */
export interface Running {
  running: number;
  /** By channel, where it has any. */
  channels: Record<string, number>;
  /** By the row of the key, where a channel has several. */
  keys: Record<string, number>;
}
