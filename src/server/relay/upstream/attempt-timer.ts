/** The time limits of one attempt, and its cancellation. */
import type { AttemptRecord } from "../../../shared/log";
import { type Failure, failureOf } from "../../protocol/upstream-failure";
import type { Attempted } from "../call/call";
import type { Phase } from "../call/deadlines";
import { thinksInSilence } from "../../protocol/silent-models";
import { pingsOf, type Timeouts, timeoutsFor } from "../call/timeouts";
import { startOf } from "./attempt-record";
import { silenceShare } from "./retry-policy";

/** How long a connection may be probed when no response came within the connect limit. */
const PROBE_MS = 3_000;

export class AttemptTimer {
  readonly #attempt: Attempted;
  readonly #record: AttemptRecord;
  readonly #timeouts: Timeouts;
  readonly #controller = new AbortController();
  /** By the clock of the call's deadlines. */
  readonly #began: number;
  /** From the attempt's beginning; known when the request is sent. */
  #firstByteMs = Infinity;
  #expired: Phase | undefined;
  #unreachable = false;

  constructor(attempt: Attempted, record: AttemptRecord) {
    this.#attempt = attempt;
    this.#record = record;
    const { call, channel } = attempt;
    const { asked, deadlines, progress } = call;
    const { option } = asked.engine.controlPlane;
    this.#timeouts = timeoutsFor(option, channel);
    this.#began = deadlines.now();
    const pingMs = pingsOf(asked, channel);
    if (pingMs !== undefined) deadlines.pings(pingMs);
    // A channel may be given less time than the call has left, never more.
    const rest = progress.began + option.totalTimeoutMs - startOf(attempt, record);
    deadlines.total(Math.min(this.#timeouts.totalMs, rest));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly abort = (): void => this.#controller.abort();

  /** The request is sent to `url`. */
  sent(url: string): void {
    const { call, channel } = this.#attempt;
    const { connectMs } = this.#timeouts;
    this.#firstByteMs = this.#firstByteLimit();
    if (connectMs >= this.#firstByteMs || channel.setting.proxy) return this.awaitFirstByte();
    // fetch does not report when it is connected: when nothing came in time, a second connection is tried.
    call.deadlines.onLimit = (phase) => {
      if (phase !== "connect") return this.#expire(phase);
      this.awaitFirstByte();
      call.asked.engine.reachable(url, PROBE_MS).then(
        (reached) => {
          if (reached || this.#record.status !== 0) return;
          this.#unreachable = true;
          this.abort();
        },
        () => undefined,
      );
    };
    call.deadlines.limit("connect", connectMs);
  }

  /** Connected, or assumed to be: the rest of the time to the first byte starts. */
  awaitFirstByte(): void {
    const { deadlines } = this.#attempt.call;
    deadlines.onLimit = (phase) => this.#expire(phase);
    const gone = deadlines.now() - this.#began;
    deadlines.limit("first byte", Math.max(0, this.#firstByteMs - gone));
  }

  /**
   * A whole answer comes when it is finished, and some models think in silence: both have the whole time. The limit
   * that an operator sets for the channel holds as it is; otherwise a stream leaves time for another channel.
   */
  #firstByteLimit(): number {
    const { call, channel, translation } = this.#attempt;
    if (!call.asked.request.stream || thinksInSilence(translation.upstream_model)) return Infinity;
    const { firstByteMs } = this.#timeouts;
    if (channel.setting.first_byte_timeout !== undefined) return firstByteMs;
    return Math.min(firstByteMs, silenceShare(this.#attempt, startOf(this.#attempt, this.#record)));
  }

  /** The attempt is over. */
  end(): void {
    this.#attempt.call.deadlines.onLimit = undefined;
  }

  /** Why it was cut; undefined: it was not, or not by a time limit. */
  get failure(): Failure | undefined {
    if (this.#expired) return failureOf("timeout", this.#record.status, this.#expired);
    return this.#unreachable ? failureOf("unreachable", 0, "connect") : undefined;
  }

  #expire(phase: Phase): void {
    this.#expired = phase;
    this.abort();
  }
}
