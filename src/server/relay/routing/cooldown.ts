/**
 * (channel, model) pairs that are left alone for a while after a failure. In memory: real traffic finds out again.
 *
 * When the time is over the pair is half open: one call at a time probes it while the others still pass it over. A
 * probe that fails doubles the pause (a pause that the upstream named with Retry-After stays as named); one that is
 * answered ends the matter.
 */
import type { Failure } from "../../protocol/upstream-failure";
import type { CooldownState } from "../../contracts/dry-run";

/** Longest pause. */
const MAX_MS = 600_000;
/** A pair nobody asked for so long after its pause begins anew. */
const FORGET_MS = 600_000;

interface Pause {
  /** Epoch milliseconds. */
  until: number;
  /** When the failure that began or lengthened the pause was seen. */
  since: number;
  /** The first pause in milliseconds, and how often it was doubled. */
  first: number;
  doubled: number;
  /** Who probes. */
  probe: object | undefined;
}

export class Cooldown {
  readonly #pauses = new Map<string, Pause>();

  constructor(readonly now: () => number) {}

  /** Leaves the pair alone for `ms` from now, or longer when it already is. */
  add(channel: number | string, model: string, ms: number): void {
    if (ms <= 0) return;
    const key = `${channel} ${model}`;
    const now = this.now();
    const pause = this.#pauses.get(key);
    if (pause) {
      pause.until = Math.max(pause.until, now + ms);
      pause.since = now;
      return;
    }
    this.#pauses.set(key, { until: now + ms, since: now, first: ms, doubled: 0, probe: undefined });
    if (this.#pauses.size > 1000) this.#sweep(now);
  }

  /** Where the pair stands for a call that looks for a channel. */
  standing(channel: number | string, model: string): CooldownState {
    if (this.#pauses.size === 0) return "ready";
    const pause = this.#pauses.get(`${channel} ${model}`);
    if (!pause) return "ready";
    const rest = pause.until - this.now();
    if (rest > 0) return rest;
    return pause.probe ? "probing" : "ready";
  }

  /** `attempt` goes to the pair now: when it is half open and nobody probes it, this is the probe. */
  begin(channel: number | string, model: string, attempt: object): void {
    if (this.#pauses.size === 0) return;
    const pause = this.#pauses.get(`${channel} ${model}`);
    if (pause && pause.until <= this.now()) pause.probe ??= attempt;
  }

  /** The attempt that began at `started` was answered: the pair works again. */
  served(channel: number | string, model: string, started: number): void {
    if (this.#pauses.size === 0) return;
    const key = `${channel} ${model}`;
    const pause = this.#pauses.get(key);
    // What was asked before the failure says nothing about the time after it.
    if (pause && started >= pause.since) this.#pauses.delete(key);
  }

  /** The attempt that began at `started` failed. */
  failed(
    channel: number | string,
    model: string,
    attempt: object,
    started: number,
    failure: Pick<Failure, "cool_ms" | "retry_after_s" | "owner">,
  ): void {
    const pause = this.#pauses.size > 0 ? this.#pauses.get(`${channel} ${model}`) : undefined;
    const now = this.now();
    if (!pause || pause.until > now || started < pause.since) {
      if (pause?.probe === attempt) pause.probe = undefined;
      return this.add(channel, model, failure.cool_ms);
    }
    // An upstream that finds fault with the request is there again.
    if (failure.owner === "caller") return this.served(channel, model, started);
    if (pause.probe === attempt) pause.probe = undefined;
    if (now - pause.until > FORGET_MS) pause.doubled = -1;
    pause.doubled++;
    pause.since = now;
    const doubled = Math.min(MAX_MS, (failure.cool_ms || pause.first) * 2 ** pause.doubled);
    pause.until = now + (failure.retry_after_s === undefined ? doubled : failure.cool_ms);
  }

  #sweep(now: number): void {
    for (const [key, { until, probe }] of this.#pauses) if (!probe && now - until > FORGET_MS) this.#pauses.delete(key);
  }
}
