/**
 * Batches of ledger verbs on Postgres: what waits goes in one statement, one round trip and one commit. A verb that
 * finds nothing under way is sent at the end of its turn of the loop; what arrives meanwhile is the next batch. No
 * timer is waited for.
 *
 * A user is in one batch at a time, because their row is locked until it commits; a second lane takes the others'.
 * Users take turns in filling a batch, so one with many verbs gets what the others leave. One whose row stays locked
 * leaves the lanes to the others.
 */
import { AppError } from "../../../shared/errors";
import type { Connections } from "../../db/connection-types";
import { isLockTimeout, isTransient, isUniqueViolation } from "../../db/errors";
import { isUnavailable } from "../../lib/unavailable";

const LANES = 2;
const MOST_VERBS = 64;
const MAX_TRIES = 6;
/** A verb is given up after this time, waiting and retries included: its caller waits. */
const MAX_MS = 10_000;
const WATCH_MS = 250;

/** Sends a batch; resolves with an answer for each verb. `again`: an earlier attempt may have been committed. */
export type Send<Verb, Answer> = (
  on: Connections,
  batch: { lane: string; number: number; again: boolean; verbs: readonly Verb[] },
) => PromiseLike<readonly Answer[]>;

/** `user_id`: 0 where it is not known. `rank`: verbs of a lower one come first in their batch. */
interface Batchable {
  readonly request_id: string;
  readonly user_id: number;
  readonly rank: number;
}

interface Waiting<Verb, Answer> {
  readonly verb: Verb;
  /** performance.now() at which its caller gets an error. */
  readonly deadline: number;
  readonly answered: Promise<Answer>;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

interface Lane {
  readonly name: string;
  batches: number;
  sending: boolean;
}

export class VerbBatches<Verb extends Batchable, Answer> {
  readonly #client: Connections;
  readonly #send: Send<Verb, Answer>;
  readonly #lanes: readonly Lane[];
  /** By user, the users in the order of their turns. */
  readonly #queues = new Map<number, Waiting<Verb, Answer>[]>();
  /** Users in a batch that is under way. */
  readonly #busy = new Set<number>();
  /** Without an answer, the oldest first. */
  readonly #open = new Set<Waiting<Verb, Answer>>();
  #scheduled = false;
  #watch: ReturnType<typeof setInterval> | undefined;

  constructor(client: Connections, send: Send<Verb, Answer>) {
    this.#client = client;
    this.#send = send;
    const name = crypto.randomUUID();
    this.#lanes = Array.from({ length: LANES }, (_, i) => ({ name: `${name}/${i}`, batches: 0, sending: false }));
  }

  /** Verbs without an answer. */
  get size(): number {
    return this.#open.size;
  }

  run(verb: Verb): Promise<Answer> {
    const { promise: answered, resolve, reject } = Promise.withResolvers<Answer>();
    const one: Waiting<Verb, Answer> = { verb, deadline: performance.now() + MAX_MS, answered, resolve, reject };
    this.#open.add(one);
    const queue = this.#queues.get(verb.user_id);
    if (queue) queue.push(one);
    else this.#queues.set(verb.user_id, [one]);
    if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        this.#start();
      });
    }
    return answered;
  }

  /** Starts a batch on each free lane. */
  #start(): void {
    for (const lane of this.#lanes) {
      if (lane.sending) continue;
      const batch = this.#take();
      if (batch.length === 0) break;
      void this.#ride(lane, batch);
    }
    if (this.#queues.size > 0) this.#watchOpen();
  }

  /** The next batch: one verb of each free user in turn, until it is full. No request is in it twice. */
  #take(): Waiting<Verb, Answer>[] {
    const batch: Waiting<Verb, Answer>[] = [];
    const requests = new Set<string>();
    let users = [...this.#queues.keys()].filter((user) => !this.#busy.has(user));
    const taken = new Set<number>();
    while (users.length > 0 && batch.length < MOST_VERBS) {
      users = users.filter((user) => {
        const queue = this.#queues.get(user);
        // Those whose time is over have got their error.
        while (queue?.[0] && !this.#open.has(queue[0])) queue.shift();
        const next = queue?.[0];
        if (!next) this.#queues.delete(user);
        if (!next || batch.length === MOST_VERBS || requests.has(next.verb.request_id)) return false;
        queue.shift();
        requests.add(next.verb.request_id);
        taken.add(user);
        batch.push(next);
        return true;
      });
    }
    for (const user of taken) {
      const queue = this.#queues.get(user);
      // The next turn is that of those who have waited.
      this.#queues.delete(user);
      if (queue && queue.length > 0) this.#queues.set(user, queue);
    }
    return batch.sort((a, b) => a.verb.rank - b.verb.rank);
  }

  async #ride(lane: Lane, batch: Waiting<Verb, Answer>[]): Promise<void> {
    const users = new Set(batch.map(({ verb }) => verb.user_id));
    for (const user of users) this.#busy.add(user);
    lane.sending = true;
    const locked = Map.groupBy(await this.#answer(lane, batch), ({ verb }) => verb.user_id);
    lane.sending = false;
    for (const [user, verbs] of locked) void this.#wait(lane, user, verbs);
    for (const user of users) if (!locked.has(user)) this.#busy.delete(user);
    this.#start();
  }

  /** The verbs of a user whose row stays locked: each alone, beside the lanes. */
  async #wait(lane: Lane, user: number, verbs: Waiting<Verb, Answer>[]): Promise<void> {
    for (const one of verbs) if (this.#open.has(one)) await this.#answer(lane, [one]);
    this.#busy.delete(user);
    this.#start();
  }

  /**
   * Answers the verbs of a batch but those that it returns, which wait for a locked row or were the last ones beside
   * such a verb; never rejects. A batch that fails was undone as a whole: each half is tried, until the verb at fault
   * is alone.
   */
  async #answer(lane: Lane, batch: Waiting<Verb, Answer>[]): Promise<Waiting<Verb, Answer>[]> {
    try {
      const answers = await this.#attempts(lane, batch);
      batch.forEach((one, i) => this.#end(one, () => one.resolve(answers[i] as Answer)));
      return [];
    } catch (error) {
      const locked = isLockTimeout(error);
      if (batch.length === 1 || (isPassing(error) && !locked)) {
        for (const one of batch) this.#end(one, () => one.reject(error));
        return [];
      }
      const middle = batch.length >> 1;
      const waiting: Waiting<Verb, Answer>[] = [];
      for (const half of [batch.slice(0, middle), batch.slice(middle)])
        waiting.push(...(locked && half.length === 1 ? half : await this.#answer(lane, half)));
      return waiting;
    }
  }

  async #attempts(lane: Lane, batch: Waiting<Verb, Answer>[]): Promise<readonly Answer[]> {
    const number = ++lane.batches;
    const verbs = batch.map(({ verb }) => verb);
    const until = Math.max(...batch.map(({ deadline }) => deadline));
    for (let tries = 1; ; tries++) {
      try {
        const on = tries === 1 ? this.#client : this.#client.within("usual", until - performance.now());
        return await this.#send(on, { lane: lane.name, number, again: tries > 1, verbs });
      } catch (error) {
        if (isLockTimeout(error) && verbs.length > 1) throw error;
        if (tries >= MAX_TRIES || !isPassing(error) || performance.now() >= until) throw error;
        this.#watchOpen();
        await Bun.sleep(2 ** tries * 5 * (0.5 + Math.random()));
      }
    }
  }

  #end(one: Waiting<Verb, Answer>, tell: () => void): void {
    this.#open.delete(one);
    tell();
  }

  /** While something waits or is tried again: verbs whose time is over get their error. */
  #watchOpen(): void {
    this.#watch ??= setInterval(() => {
      const now = performance.now();
      for (const one of this.#open) {
        if (now < one.deadline) return;
        const cause = new Error("The ledger's statement was not answered in time");
        this.#end(one, () => one.reject(new AppError("database_unavailable", {}, { cause })));
      }
      if (this.#open.size > 0) return;
      clearInterval(this.#watch);
      this.#watch = undefined;
    }, WATCH_MS);
  }

  /** Waits until everything has its answer. */
  async flush(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled([...this.#open].map(({ answered }) => answered));
  }
}

/**
 * Another attempt may succeed: after a deadlock, a lost or silent connection, or a log row that another process wrote
 * meanwhile.
 */
const isPassing = (error: unknown): boolean => isTransient(error) || isUnavailable(error) || isUniqueViolation(error);
