/**
 * The channels of a call once more, after a wait: where no channel is left, those whose failure may pass by itself, and
 * those whose upstream named a wait. So a lone channel is tried again too.
 */
import type { PoolChannel } from "../../contracts/channel";
import type { Failure } from "../../protocol/upstream-failure";
import type { Admitted } from "../call/call";
import type { Closed } from "../routing/cooldown";

/** The first wait before a channel is tried again; each further one is twice as long. */
const FIRST_WAIT_MS = 500;
/** Calls that wait for the same upstream come back spread over this time. */
const SPREAD_MS = 500;

export class NextRound {
  readonly #call: Admitted;
  /** Channels that may be tried again; `from`: not before that moment, epoch milliseconds. */
  readonly #failed: { channel: PoolChannel; from: number }[] = [];
  #rounds = 0;

  constructor(call: Admitted) {
    this.#call = call;
  }

  /** Whether there is a channel that may be tried again. */
  get possible(): boolean {
    return this.#failed.length > 0;
  }

  /** The channel was left with this failure. */
  left(channel: PoolChannel, failure: Failure): void {
    if (failure.retry === "no" || (failure.class !== "transient" && failure.class !== "named_wait")) return;
    this.#failed.push({ channel, from: this.#now() + (failure.retry_after_s ?? 0) * 1000 });
  }

  /**
   * Puts the failed channels back into the selection. Returns the milliseconds to wait before the first of them may be
   * tried, undefined where there is none or the call's time is up before.
   */
  begin(): number | undefined {
    const { asked, selection, progress } = this.#call;
    const failed = this.#failed.splice(0);
    for (const { channel } of failed) selection.requeue(channel);
    const { closed } = selection;
    const wait = closed ? this.#named(closed) : failed.length > 0 ? this.#backoff(failed) : undefined;
    const { now, option } = asked.engine.controlPlane;
    return wait !== undefined && now() + wait - progress.began < option.attemptBudgetMs ? wait : undefined;
  }

  /** Resolves after `ms`, or as soon as the caller leaves. */
  async wait(ms: number): Promise<void> {
    const { asked, progress } = this.#call;
    if (progress.left) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = asked.engine.timers.after(ms, resolve);
    progress.wake = resolve;
    await promise;
    progress.wake = undefined;
    cancel();
  }

  #now(): number {
    return this.#call.asked.engine.controlPlane.now();
  }

  #random(): number {
    return this.#call.asked.engine.routing.keys.random();
  }

  #named({ ms, named }: Closed): number | undefined {
    return named ? ms + this.#random() * SPREAD_MS : undefined;
  }

  /** 0.5 s x 2^n, shortened by up to a half at random, and at least what the upstream asked for. */
  #backoff(failed: readonly { from: number }[]): number {
    const longest = FIRST_WAIT_MS * 2 ** this.#rounds++;
    const asked = Math.min(...failed.map(({ from }) => from)) - this.#now();
    return Math.max(longest * (1 - this.#random() / 2), asked);
  }
}
