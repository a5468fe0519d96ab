/** The calls that an instance serves, as it reports them while something drains. */

/** Calls that an instance serves. */
export interface Running {
  running: number;
  /** By channel, where it has any. */
  channels: Record<string, number>;
  /** By the row of the key, where a channel has several. */
  keys: Record<string, number>;
}
