/**
 * Cooldown of (channel, model) pairs after a failure. In memory: after a restart real traffic finds the failures again.
 *
 * When the time is over the pair is half open: one call at a time probes it while the others still skip it. A failed
 * probe doubles the cooldown (one that the upstream named with Retry-After stays as named); a successful one ends it.
 */
import type { Failure } from "../../protocol/upstream-failure";
import type { CooldownState } from "../../contracts/dry-run";

/** Longest cooldown. */
const MAX_MS = 600_000;
/** A pair without an attempt for so long after its cooldown starts over. */
const FORGET_MS = 600_000;

interface Pause {
  /** Epoch milliseconds. */
  until: number;
  /** When the failure that began or extended the cooldown was seen. */
  since: number;
  /** The first cooldown in milliseconds, and how often it was doubled. */
  first: number;
  doubled: number;
  /** The attempt that probes. */
  probe: object | undefined;
  /** The channel as it was when its account failed: changing it ends what is known of the account. */
  account: object | undefined;
  /** The upstream said when to come again. */
  named: boolean;
}

/** A pair that no call may be sent to. */
export interface Closed {
  /** Milliseconds until one may. */
  ms: number;
  /** The upstream named the wait; else the account failed. */
  named: boolean;
}

/** What a failure says about the pair. */
export type CoolingFailure = Pick<Failure, "cool_ms" | "retry_after_s" | "owner"> & Partial<Pick<Failure, "class">>;

/** An account that is being probed is asked about again after so long. */
const PROBED_MS = 1_000;

export class Cooldown {
  readonly #pauses = new Map<string, Pause>();

  constructor(readonly now: () => number) {}

  /**
   * Puts the pair in cooldown for `ms` from now, or extends the current one. `account`: the channel whose account
   * failed, where that is the cause. `named`: the upstream named the wait.
   */
  add(channel: number | string, model: string, ms: number, account?: object, named = false): void {
    if (ms <= 0) return;
    const key = `${channel} ${model}`;
    const now = this.now();
    const pause = this.#pauses.get(key);
    if (pause) {
      pause.until = Math.max(pause.until, now + ms);
      pause.since = now;
      pause.account = account ?? pause.account;
      pause.named ||= named;
      return;
    }
    this.#pauses.set(key, { until: now + ms, since: now, first: ms, doubled: 0, probe: undefined, account, named });
    if (this.#pauses.size > 1000) this.#sweep(now);
  }

  /** The state of the pair for a call that selects a channel. */
  standing(channel: number | string, model: string): CooldownState {
    if (this.#pauses.size === 0) return "ready";
    const pause = this.#pauses.get(`${channel} ${model}`);
    if (!pause) return "ready";
    const rest = pause.until - this.now();
    if (rest > 0) return rest;
    return pause.probe ? "probing" : "ready";
  }

  /**
   * Whether no call may be sent to the pair: the account of this very channel failed (after its cooldown one call at a
   * time is sent), or the upstream named a wait. undefined: calls may be sent.
   */
  closed(channel: number | string, model: string, account: object): Closed | undefined {
    if (this.#pauses.size === 0) return undefined;
    const pause = this.#pauses.get(`${channel} ${model}`);
    if (!pause) return undefined;
    const rest = pause.until - this.now();
    if (pause.account === account) {
      if (rest > 0) return { ms: rest, named: false };
      return pause.probe && { ms: PROBED_MS, named: false };
    }
    return pause.named && rest > 0 ? { ms: rest, named: true } : undefined;
  }

  /** `attempt` starts at the pair: when it is half open and no probe is running, this is the probe. */
  begin(channel: number | string, model: string, attempt: object): void {
    if (this.#pauses.size === 0) return;
    const pause = this.#pauses.get(`${channel} ${model}`);
    if (pause && pause.until <= this.now()) pause.probe ??= attempt;
  }

  /** The attempt that began at `started` succeeded: the pair works again. */
  served(channel: number | string, model: string, started: number): void {
    if (this.#pauses.size === 0) return;
    const key = `${channel} ${model}`;
    const pause = this.#pauses.get(key);
    // An attempt from before the failure says nothing about the time after it.
    if (pause && started >= pause.since) this.#pauses.delete(key);
  }

  /** The attempt ended without saying anything about the pair: its caller has left. */
  left(channel: number | string, model: string, attempt: object): void {
    const pause = this.#pauses.get(`${channel} ${model}`);
    if (pause?.probe === attempt) pause.probe = undefined;
  }

  /** The channel or key answered a test: it works again, whatever the model. */
  works(channel: number | string): void {
    for (const key of this.#pauses.keys()) if (key.startsWith(`${channel} `)) this.#pauses.delete(key);
  }

  /** The attempt that began at `started` failed. `account`: the channel, where it is its account that fails. */
  failed(
    channel: number | string,
    model: string,
    attempt: object,
    started: number,
    failure: CoolingFailure,
    account?: object,
  ): void {
    const named = failure.class === "named_wait";
    const pause = this.#pauses.size > 0 ? this.#pauses.get(`${channel} ${model}`) : undefined;
    const now = this.now();
    if (!pause || pause.until > now || started < pause.since) {
      if (pause?.probe === attempt) pause.probe = undefined;
      return this.add(channel, model, failure.cool_ms, account, named);
    }
    // An upstream that rejects the request is reachable again.
    if (failure.owner === "caller") return this.served(channel, model, started);
    if (pause.probe === attempt) pause.probe = undefined;
    if (now - pause.until > FORGET_MS) pause.doubled = -1;
    pause.doubled++;
    pause.since = now;
    pause.account = account;
    pause.named = named;
    const doubled = Math.min(MAX_MS, (failure.cool_ms || pause.first) * 2 ** pause.doubled);
    pause.until = now + (failure.retry_after_s === undefined ? doubled : failure.cool_ms);
  }

  #sweep(now: number): void {
    for (const [key, { until, probe }] of this.#pauses) if (!probe && now - until > FORGET_MS) this.#pauses.delete(key);
  }
}
