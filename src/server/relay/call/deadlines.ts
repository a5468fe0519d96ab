/** The relay's clock, and the one timer that a call needs. */
import type { Timers } from "../../lib/timers";

/** The phases of a call that have a time limit. */
export type Phase = "connect" | "first byte" | "idle" | "total" | "drain";

/**
 * All deadlines of one call behind a single timer. Moving a deadline later changes a number and no timer: a timer that
 * fires early is set again.
 */
export class Deadlines {
  #limitAt = Infinity;
  #limitPhase: Phase = "total";
  #totalAt = Infinity;
  #pingAt = Infinity;
  #pingEvery = 0;
  #armedFor = Infinity;
  #cancel: (() => void) | undefined;
  /** Called once when a limit has passed; set by the code that is working. */
  onLimit: ((phase: Phase) => void) | undefined;
  /** Called when nothing was sent to the caller for the ping interval. */
  onPing: (() => void) | undefined;

  constructor(
    readonly now: () => number,
    readonly timers: Timers,
  ) {}

  /** Sets the limit of the current phase, `ms` from now; it replaces the one before. */
  limit(phase: Phase, ms: number): void {
    this.#limitPhase = phase;
    this.#limitAt = this.now() + ms;
    this.#arm();
  }

  /**
   * Sets the limit of the whole call, `ms` from now. It counts from the next limit or ping on, or at once with `arm`.
   */
  total(ms: number, arm = false): void {
    this.#totalAt = this.now() + ms;
    if (arm) this.#arm();
  }

  /** Pings after `ms` of silence; 0 = never. Setting the same interval again does not restart it. */
  pings(ms: number): void {
    if (ms === this.#pingEvery) return;
    this.#pingEvery = ms;
    this.#pingAt = ms > 0 ? this.now() + ms : Infinity;
    this.#arm();
  }

  /** Something was sent to the caller: the next ping is a whole interval away. */
  sent(): void {
    if (this.#pingEvery > 0) this.#pingAt = this.now() + this.#pingEvery;
  }

  /** Ends all deadlines. Further limits may be set. */
  clear(): void {
    this.#limitAt = this.#totalAt = this.#pingAt = this.#armedFor = Infinity;
    this.#pingEvery = 0;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(): void {
    const at = Math.min(this.#limitAt, this.#totalAt, this.#pingAt);
    if (at >= this.#armedFor) return;
    this.#cancel?.();
    this.#armedFor = at;
    this.#cancel = this.timers.after(Math.max(0, at - this.now()), () => this.#fire());
  }

  #fire(): void {
    this.#armedFor = Infinity;
    this.#cancel = undefined;
    const now = this.now();
    if (now >= this.#limitAt || now >= this.#totalAt) {
      const phase = now >= this.#limitAt ? this.#limitPhase : "total";
      this.#limitAt = Infinity;
      if (phase === "total") this.#totalAt = Infinity;
      this.onLimit?.(phase);
    } else if (now >= this.#pingAt) {
      this.#pingAt = now + this.#pingEvery;
      this.onPing?.();
    }
    this.#arm();
  }
}
