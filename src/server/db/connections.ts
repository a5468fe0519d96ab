/**
 * Connections to Postgres. None of them can keep a caller waiting for ever.
 *
 * The driver has no timeout for a statement, and `cancel()` needs an answer: on a connection that went silent (its
 * packets are dropped, no RST) a statement waits until TCP gives up, about a quarter of an hour. But the driver closes
 * a connection at once, with its statements (docs/decisions/0044-silent-database.md). So each connection is a separate
 * client, and one timer checks them all: what takes longer than its limit fails with database_unavailable, and its
 * connection is closed. The server has a shorter limit than this process, so a slow database fails the statement itself
 * and keeps its connections. Where all are busy, short statements are sent behind each other on one connection; the
 * time of each begins when the one before it is answered.
 */
import { SQL } from "bun";
import { AppError } from "../../shared/errors";
import { CONNECT_SECONDS, Connection, type Task, type Work } from "./connection";
import { type Connections, type Limit, LIMITS_MS, type Statement } from "./connection-types";
import { isConnectionLost, isTimeout } from "./errors";

/** Longest wait for a free connection. */
const QUEUE_TIMEOUT_MS = 5_000;
const CHECK_MS = 250;
/** A check that comes later than this fails nothing: the process stood still. */
const STALL_MS = 1_000;
/** An idle connection without an answer for so long gets a keepalive, which also finds dead ones. */
const KEEPALIVE_MS = 5_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
/** While a statement takes longer than this, another connection asks the server whether it still runs. */
const PROBE_MS = 5_000;
/** No row: the server finished some time ago or has no such process any more, and its answer never came. */
const STILL_RUNNING = `SELECT 1 FROM pg_stat_activity
  WHERE pid = $1 AND (state = 'active' OR state_change > clock_timestamp() - interval '${PROBE_MS} ms')`;
/** An unused connection is closed after this. */
const IDLE_MS = 30_000;

/** Of one call: the server's limit, the caller's (`ms`), and whether it goes to the front of the queue. */
interface Terms {
  limit: Limit;
  ms: number;
  urgent: boolean;
}
const USUAL: Terms = { limit: "usual", ms: LIMITS_MS.usual, urgent: false };

interface Job<T> {
  work: Work<T>;
  terms: Terms;
  /** It is more than one short statement: nothing may be sent before its end. */
  exclusive: boolean;
  resolve(value: T): void;
  reject(error: unknown): void;
}

interface Queued {
  deadline: number;
  exclusive: boolean;
  limit: Limit;
  start(connection: Connection): void;
  fail(error: unknown): void;
}

/** No answer in time. The statement may have been executed. */
const unavailable = (reason: string) => new AppError("database_unavailable", {}, { cause: new Error(reason) });

export interface ConnectionsOptions {
  url: string;
  /** Most connections. */
  max: number;
  /** Called with the reason when a connection is given up. */
  gaveUp?(reason: string): void;
}

export function openConnections(options: ConnectionsOptions): Connections {
  const pool = new ConnectionPool(options);
  const withTerms = (terms: Terms): Connections => ({
    unsafe: (text, values) => statement(text, values, (work) => pool.run(work, terms, false)),
    begin: (work) => pool.run((sql) => sql.begin(work), terms, true),
    within: (limit, ms = LIMITS_MS[limit]) =>
      withTerms({ limit, ms: Math.min(ms, LIMITS_MS[limit]), urgent: terms.urgent }),
    get urgent() {
      return withTerms({ ...terms, urgent: true });
    },
    listener: () => new SQL(options.url, { max: 1, connectionTimeout: CONNECT_SECONDS }),
    close: (ms = 5000) => pool.close(ms),
  });
  return withTerms(USUAL);
}

function statement<Row>(
  text: string,
  values: unknown[] | undefined,
  run: (work: Work<Row[]>) => Promise<Row[]>,
): Statement<Row> {
  let asArrays = false;
  const lazy: Statement<Row> = {
    values: () => {
      asArrays = true;
      return lazy;
    },
    then: (done, failed) =>
      run((sql) => {
        const query = sql.unsafe<Row[]>(text, values);
        return asArrays ? query.values() : query;
      }).then(done, failed),
  };
  return lazy;
}

class ConnectionPool {
  readonly #options: ConnectionsOptions;
  readonly #connections = new Set<Connection>();
  /** In the order in which they were opened (`#pickIdle`). */
  readonly #idle: Connection[] = [];
  readonly #queue: Queued[] = [];
  readonly #timer: ReturnType<typeof setInterval>;
  #checkedAt = performance.now();
  #opened = 0;
  #closed = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#timer.unref();
  }

  run<T>(work: Work<T>, terms: Terms, exclusive: boolean): Promise<T> {
    if (this.#closed) return Promise.reject(unavailable("The database is closed"));
    return new Promise<T>((resolve, reject) => {
      const job: Job<T> = { work, terms, exclusive, resolve, reject };
      const connection = this.#pick(terms.limit, exclusive);
      if (connection) this.#start(connection, job);
      else this.#enqueue(job);
    });
  }

  async close(ms: number): Promise<void> {
    this.#closed = true;
    for (const one of this.#queue.splice(0)) one.fail(unavailable("The database is closed"));
    const until = performance.now() + ms;
    while (performance.now() < until && [...this.#connections].some(({ tasks }) => tasks.length > 0))
      await Bun.sleep(5);
    clearInterval(this.#timer);
    for (const connection of [...this.#connections]) this.#drop(connection, "The database is closed");
  }

  // Choosing a connection

  /** A free connection, a new one where there is room, or a busy one that takes one more. */
  #pick(limit: Limit, exclusive: boolean): Connection | undefined {
    const free = this.#pickIdle(limit);
    if (free) return free;
    if (this.#connections.size < this.#options.max) return this.#open();
    return exclusive || this.#queue.length > 0 ? undefined : this.#leastBusy(limit);
  }

  /**
   * The oldest one with this limit: what is asked most always meets the same few processes of the server, which have
   * its plans and what it reads at hand, and the others may close. Else the newest, whose limit is changed.
   */
  #pickIdle(limit: Limit): Connection | undefined {
    const at = this.#idle.findIndex((one) => one.limit === limit);
    return this.#idle.splice(at, 1)[0];
  }

  #leastBusy(limit: Limit): Connection | undefined {
    let found: Connection | undefined;
    for (const connection of this.#connections)
      if (connection.takesMore(limit) && (!found || connection.tasks.length < found.tasks.length)) found = connection;
    return found;
  }

  #enqueue<T>(job: Job<T>): void {
    const { terms, exclusive, reject } = job;
    const queued: Queued = {
      deadline: performance.now() + Math.min(terms.ms, QUEUE_TIMEOUT_MS),
      exclusive,
      limit: terms.limit,
      fail: reject,
      start: (connection) => this.#start(connection, job),
    };
    if (terms.urgent) this.#queue.unshift(queued);
    else this.#queue.push(queued);
  }

  #start<T>(connection: Connection, { work, terms: { limit, ms }, exclusive, resolve, reject }: Job<T>): void {
    const startedAt = performance.now();
    const task: Task = { startedAt, limit, deadline: startedAt + ms, probedAt: 0, fail: reject };
    connection.tasks.push(task);
    // Nothing may wait behind a slow statement.
    connection.exclusive = exclusive || limit !== "usual";
    connection.send(work, limit).then(
      (value) => {
        // A task that is gone has failed already, with its connection.
        if (!connection.remove(task)) return;
        this.#release(connection);
        resolve(value);
      },
      (error: unknown) => {
        if (!connection.remove(task)) return;
        const lost = isConnectionLost(error);
        if (lost) this.#drop(connection, "The connection was lost");
        else this.#release(connection);
        reject(lost || isTimeout(error) ? new AppError("database_unavailable", {}, { cause: error }) : error);
      },
    );
  }

  /** After a task: starts what is queued, in its order, so that statements sent later do not hold up a transaction. */
  #release(connection: Connection): void {
    if (connection.gone) return;
    connection.heardAt = connection.usedAt = performance.now();
    const [head] = connection.tasks;
    if (head) head.startedAt = Math.max(head.startedAt, connection.heardAt);
    else connection.exclusive = false;
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      if (connection.tasks.length > 0 && (next.exclusive || !connection.takesMore(next.limit))) return;
      this.#queue.shift();
      next.start(connection);
    }
    if (connection.tasks.length > 0) return;
    const younger = this.#idle.findIndex(({ number }) => number > connection.number);
    this.#idle.splice(younger < 0 ? this.#idle.length : younger, 0, connection);
  }

  // Opening and closing

  #open(): Connection {
    const connection = new Connection(this.#options.url, ++this.#opened, (closed) => this.#forget(closed));
    this.#connections.add(connection);
    return connection;
  }

  /** A closed client would open another connection by itself, without the server's settings: so it is never reused. */
  #forget(connection: Connection): void {
    if (connection.gone) return;
    connection.gone = true;
    this.#connections.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    connection.sql.close({ timeout: 0 }).catch(() => {});
    this.#startQueued();
  }

  /** A connection is gone: what is queued gets a free one, or a new one where there is room. */
  #startQueued(): void {
    while (this.#queue.length > 0) {
      const room = this.#connections.size < this.#options.max && !this.#closed;
      const [next] = this.#queue;
      const connection = (next && this.#pickIdle(next.limit)) ?? (room ? this.#open() : undefined);
      if (!connection) return;
      this.#queue.shift()?.start(connection);
    }
  }

  /** Closes a connection; everything on it fails. */
  #drop(connection: Connection, reason: string): void {
    const lost = connection.tasks.splice(0);
    this.#forget(connection);
    for (const task of lost) task.fail(unavailable(reason));
  }

  #giveUp(connection: Connection, reason: string): void {
    if (connection.gone) return;
    this.#options.gaveUp?.(reason);
    this.#drop(connection, reason);
  }

  // The timer

  #check(): void {
    const now = performance.now();
    const late = now - this.#checkedAt - CHECK_MS;
    this.#checkedAt = now;
    if (late > STALL_MS) return this.#shift(late);
    for (const connection of this.#connections) {
      const [head] = connection.tasks;
      if (head) this.#checkBusy(connection, head, now);
      else this.#checkIdle(connection, now);
    }
    for (const one of this.#queue.filter(({ deadline }) => now >= deadline)) {
      this.#queue.splice(this.#queue.indexOf(one), 1);
      one.fail(unavailable("No connection to the database was free in time"));
    }
  }

  /** This process was suspended, or busy without a pause: the answers may be there, unread. */
  #shift(ms: number): void {
    for (const connection of this.#connections) connection.shift(ms);
    for (const one of this.#queue) one.deadline += ms;
  }

  #checkIdle(connection: Connection, now: number): void {
    if (now - connection.usedAt > IDLE_MS) this.#forget(connection);
    else if (now - connection.heardAt > KEEPALIVE_MS) this.#keepAlive(connection);
  }

  /** A statement by which an idle connection shows that it is alive; callers do not get the connection meanwhile. */
  #keepAlive(connection: Connection): void {
    const { usedAt, limit = "usual" } = connection;
    this.#idle.splice(this.#idle.indexOf(connection), 1);
    this.#start(connection, {
      work: (sql) => sql.unsafe("SELECT 1"),
      terms: { limit, ms: KEEPALIVE_TIMEOUT_MS, urgent: false },
      exclusive: true,
      resolve: () => {
        connection.usedAt = usedAt;
      },
      reject: () => this.#giveUp(connection, "An idle connection gave no sign of life"),
    });
  }

  #checkBusy(connection: Connection, head: Task, now: number): void {
    const limitMs = LIMITS_MS[head.limit];
    if (now >= head.startedAt + limitMs) {
      this.#giveUp(connection, `No answer from the database within ${limitMs} ms`);
      // Idle ones without an answer since then are most likely dead too; else the next callers would find out.
      for (const other of [...this.#connections])
        if (other.tasks.length === 0 && other.heardAt < head.startedAt) this.#forget(other);
      return;
    }
    for (const task of connection.tasks) {
      if (now < task.deadline) continue;
      task.deadline = Infinity;
      task.fail(unavailable("The database did not answer in time"));
    }
    if (head.limit !== "usual" && connection.pid > 0 && now - Math.max(head.startedAt, head.probedAt) > PROBE_MS)
      void this.#probe(connection, head);
  }

  /** Asks on another connection whether the server still runs a statement, and gives up one whose answer got lost. */
  async #probe(connection: Connection, task: Task): Promise<void> {
    task.probedAt = performance.now();
    const running = await this.run(
      (sql) => sql.unsafe<unknown[]>(STILL_RUNNING, [connection.pid]),
      { ...USUAL, urgent: true },
      false,
    ).then(
      (rows) => rows.length > 0,
      () => true,
    );
    if (!running && connection.tasks[0] === task)
      this.#giveUp(connection, "The server is done with a statement, and no answer came");
  }
}
