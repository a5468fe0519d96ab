/**
 * One connection to Postgres: a separate client, with the tasks that were sent on it and are not answered yet.
 * connections.ts decides what is sent on which connection.
 */
import { SQL } from "bun";
import { type Limit, LIMITS_MS } from "./connection-types";
import { isConnectionLost } from "./errors";

export const CONNECT_SECONDS = 5;
/** Most short statements under way on one connection. */
const PIPELINE_DEPTH = 8;

/**
 * Set on each new connection, as far as the server's version knows them. Where this process goes silent, the server
 * then frees what it locked: a transaction that waits for us, a statement whose client is gone, a dead connection.
 */
const SERVER_SETTINGS = {
  idle_in_transaction_session_timeout: "10s",
  client_connection_check_interval: "2s",
  tcp_keepalives_idle: "5",
  tcp_keepalives_interval: "2",
  tcp_keepalives_count: "3",
  tcp_user_timeout: "8s",
};
const SET_UP = `SELECT pg_backend_pid() AS pid, set_config(name, value, false)
  FROM (VALUES ${Object.entries(SERVER_SETTINGS)
    .map(([name, value]) => `('${name}', '${value}')`)
    .join(", ")}) AS wanted (name, value)
  JOIN pg_settings USING (name)`;

/** A statement or a transaction. */
export type Work<T> = (sql: SQL) => PromiseLike<T>;

/** All times are milliseconds of performance.now(). */
export interface Task {
  /** When the server could start it. */
  startedAt: number;
  limit: Limit;
  /** When the caller gets its error; the connection is kept until the limit is over. */
  deadline: number;
  /** When the server was last asked whether it still runs; 0 = never. */
  probedAt: number;
  fail(error: unknown): void;
}

export class Connection {
  readonly sql: SQL;
  /** The server's process: 0 before the first statement, -1 when unknown. */
  pid = 0;
  /** The limit that the server was given as its statement_timeout. */
  limit: Limit | undefined;
  /** When the server last answered. */
  heardAt = performance.now();
  /** When a caller last used it. */
  usedAt = performance.now();
  /** The one that runs, then those that were sent behind it. */
  readonly tasks: Task[] = [];
  /** A transaction, a slow statement or a keepalive runs on it: nothing is sent behind those. */
  exclusive = false;
  /** Closed, or being closed. */
  gone = false;

  /** `number`: 1, 2, 3 in the order in which they are opened. */
  constructor(
    url: string,
    readonly number: number,
    closed: (connection: Connection) => void,
  ) {
    this.sql = new SQL(url, {
      max: 1,
      connectionTimeout: CONNECT_SECONDS,
      bigint: false,
      onclose: () => closed(this),
    });
  }

  /** Whether one more short statement may be sent behind those that are under way. */
  takesMore(limit: Limit): boolean {
    return (
      !this.exclusive && !this.gone && limit === "usual" && this.limit === limit && this.tasks.length < PIPELINE_DEPTH
    );
  }

  /** Sends work, after the server's settings where the connection is new or had another limit. Never throws. */
  send<T>(work: Work<T>, limit: Limit): PromiseLike<T> {
    if (this.limit !== limit) return this.#prepare(limit).then(() => work(this.sql));
    try {
      return work(this.sql);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #prepare(limit: Limit): Promise<void> {
    if (this.pid === 0) {
      // Where the platform refuses one of the settings, the connection works without them.
      const [row] = await this.sql.unsafe<{ pid: number }[]>(SET_UP).catch((error: unknown) => {
        if (isConnectionLost(error)) throw error;
        return [];
      });
      this.pid = row?.pid ?? -1;
    }
    if (this.limit === limit) return;
    await this.sql.unsafe(`SET statement_timeout = ${LIMITS_MS[limit] - 1000}`);
    this.limit = limit;
  }

  /** Removes a task that is answered or lost; false when it was removed before. */
  remove(task: Task): boolean {
    const index = this.tasks.indexOf(task);
    if (index < 0) return false;
    this.tasks.splice(index, 1);
    return true;
  }

  /** Moves all its times by `ms` in which this process stood still. */
  shift(ms: number): void {
    this.heardAt += ms;
    this.usedAt += ms;
    for (const task of this.tasks) {
      task.startedAt += ms;
      task.deadline += ms;
    }
  }
}
