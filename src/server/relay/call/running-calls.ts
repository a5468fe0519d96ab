/** The calls that channels are at work on: counted while something drains, and ended at its deadline. */
import type { Running } from "../../contracts/drain";
import type { PoolChannel } from "../../contracts/channel";
import type { Deadlines } from "./deadlines";

/** A call, as far as drains concern it. */
export interface RunningCall {
  readonly progress: {
    readonly attempt: { readonly channel: PoolChannel } | undefined;
    /** Its response has ended. */
    readonly over: boolean;
  };
  readonly deadlines: Deadlines;
}

export class RunningCalls {
  readonly #calls = new Set<RunningCall>();

  /** The call has an attempt at a channel. */
  add(call: RunningCall): void {
    this.#calls.add(call);
  }

  /** The call is over. */
  delete(call: object): void {
    this.#calls.delete(call as RunningCall);
  }

  [Symbol.iterator](): IterableIterator<RunningCall> {
    return this.#calls.values();
  }

  /** How many there are, in all and by channel and key. */
  count(): Running {
    const running: Running = { running: this.#calls.size, channels: {}, keys: {} };
    for (const { progress } of this.#calls) {
      const channel = progress.attempt?.channel;
      if (!channel) continue;
      running.channels[channel.id] = (running.channels[channel.id] ?? 0) + 1;
      const key = channel.key_row?.id;
      if (key !== undefined) running.keys[key] = (running.keys[key] ?? 0) + 1;
    }
    return running;
  }
}
