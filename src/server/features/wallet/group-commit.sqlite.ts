/**
 * Group commit on SQLite: jobs that arrive in one turn of the loop run in one BEGIN IMMEDIATE; their promises resolve
 * after COMMIT. One commit costs more than one job, so the speed comes from the group. A job that *throws* undoes its
 * whole group, which is then run again one job at a time, so only the faulty one fails.
 */
import type { Database } from "bun:sqlite";

const MAX_BATCH = 64;
/**
 * After a group of so many jobs the next one waits a turn of the loop longer, for those that are on their way: a group
 * has a cost that does not depend on its size, and work of one kind done together is a fifth cheaper than in small
 * pieces between other work.
 */
const CROWD = 8;
/** A group takes no more jobs after this long, so that streams are never kept waiting for money. */
const MAX_BATCH_MS = 2;
/** How long a job waits for another process that holds the database (beyond SQLite's own busy timeout). */
const MAX_BUSY_MS = 30_000;
const BUSY_RETRY_MS = 100;

interface Job {
  run(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** What the jobs of a group have gathered: written before COMMIT, forgotten at a rollback. */
interface Unwritten {
  /** The next job is run in a transaction of its own, after a group that threw was undone. */
  alone: boolean;
  write(): void;
  clear(): void;
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");

export class GroupCommit {
  readonly #client: Database;
  readonly #unwritten: Unwritten;
  readonly #begin: ReturnType<Database["prepare"]>;
  readonly #commit: ReturnType<Database["prepare"]>;
  readonly #rollback: ReturnType<Database["prepare"]>;
  #queue: Job[] = [];
  #scheduled = false;
  #busySince = 0;
  #lastSize = 0;

  constructor(client: Database, unwritten: Unwritten) {
    this.#client = client;
    this.#unwritten = unwritten;
    this.#begin = client.prepare("BEGIN IMMEDIATE");
    this.#commit = client.prepare("COMMIT");
    this.#rollback = client.prepare("ROLLBACK");
  }

  get size(): number {
    return this.#queue.length;
  }

  /** Runs a job in the next group. */
  run<T>(job: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // `resolve` gets exactly what `job` returned; the queue itself is untyped.
      this.#queue.push({ run: job, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Waits until everything queued is committed. */
  async flush(): Promise<void> {
    const deadline = performance.now() + MAX_BUSY_MS;
    while (this.#queue.length > 0 && performance.now() < deadline) {
      this.#runGroup();
      if (this.#busySince) await Bun.sleep(BUSY_RETRY_MS);
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const run = (): void => {
      this.#scheduled = false;
      this.#runGroup();
      if (this.#queue.length > 0) this.#schedule();
    };
    setImmediate(this.#lastSize < CROWD ? run : () => void setImmediate(run));
  }

  /** Takes jobs from the queue until 64 or 2 ms, commits, and answers. */
  #runGroup(): void {
    if (this.#queue.length === 0) return;
    try {
      this.#begin.run();
      this.#busySince = 0;
    } catch (error) {
      this.#waitForLock(error);
      return;
    }
    const started = performance.now();
    const queue = this.#queue;
    const results: unknown[] = [];
    try {
      const limit = Math.min(queue.length, MAX_BATCH);
      for (let i = 0; i < limit; i++) {
        results.push((queue[i] as Job).run()); // i < queue.length
        if (performance.now() - started > MAX_BATCH_MS) break;
      }
      this.#unwritten.write();
      this.#commit.run();
    } catch {
      this.#undo();
      const failed = queue.splice(0, Math.min(results.length + 1, MAX_BATCH));
      for (const job of failed) this.#runAlone(job);
      return;
    }
    this.#lastSize = results.length;
    const done = queue.splice(0, results.length);
    for (let i = 0; i < done.length; i++) done[i]?.resolve(results[i]);
  }

  #runAlone(job: Job): void {
    this.#unwritten.alone = true;
    try {
      this.#begin.run();
      const result = job.run();
      this.#unwritten.write();
      this.#commit.run();
      job.resolve(result);
    } catch (error) {
      this.#undo();
      job.reject(error);
    } finally {
      this.#unwritten.alone = false;
    }
  }

  #undo(): void {
    this.#unwritten.clear();
    if (this.#client.inTransaction) this.#rollback.run();
  }

  /** Another process has the write lock: everything stays queued for a while. A lost settle would be a free answer. */
  #waitForLock(error: unknown): void {
    const time = performance.now();
    this.#busySince ||= time;
    if (isBusy(error) && time - this.#busySince < MAX_BUSY_MS) {
      this.#scheduled = true;
      setTimeout(() => {
        this.#scheduled = false;
        this.#schedule();
      }, BUSY_RETRY_MS);
      return;
    }
    this.#busySince = 0;
    const failed = this.#queue;
    this.#queue = [];
    for (const job of failed) job.reject(error);
  }
}
