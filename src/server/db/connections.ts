/**
 * Connections to Postgres, none of which can keep anybody waiting for ever.
 *
 * The driver has no time-out for a statement, and `cancel()` needs an answer: on a connection that went silent (its
 * packets are dropped, no RST) a statement waits until TCP gives up, about a quarter of an hour. But it closes a
 * connection at once, with its statements, when told to (docs/decisions/0044-silent-database.md). So each connection is
 * a client of its own here, and one timer looks at them all: what takes longer than its limit fails with
 * database_unavailable, and its connection is closed. The server has a shorter limit than we, so a database that is
 * slow says so itself and keeps its connections. Where all are busy, short statements are sent behind each other on one
 * connection; the time of each begins when the one before it is answered.
 */
import { SQL } from "bun";
import { AppError } from "../../shared/errors";
import { isConnectionLost, isTimeout } from "./errors";
import { type Connections, type Limit, LIMITS_MS, type Statement } from "./connection-types";

/** Nobody waits longer for a connection to be free. */
const WAIT_MS = 5_000;
/** The timer looks so often. */
const LOOK_MS = 250;
/** A look that comes later than this judges nobody. */
const LATE_MS = 1_000;
/**
 * A connection that has not been heard of for so long is asked for a sign of life: a keepalive, which also finds the
 * dead among the idle.
 */
const QUIET_MS = 5_000;
/** And is given so long to answer. */
const SIGN_MS = 5_000;
/** What takes longer than this is asked about on another connection, again and again: is the server still at it? */
const PROBE_MS = 5_000;
/** No row: the server has been done for a while, or has no such process any more, and we have not heard of it. */
const STILL_AT_IT = `SELECT 1 FROM pg_stat_activity
  WHERE pid = $1 AND (state = 'active' OR state_change > clock_timestamp() - interval '${PROBE_MS} ms')`;
/** A connection that nobody needed for so long is closed. */
const IDLE_MS = 30_000;
/** Short statements that may be under way on one connection. */
const DEPTH = 8;
const CONNECT_SECONDS = 5;

/**
 * What the server is told about a new connection, as far as its version knows it. If we go silent, it gives up what we
 * locked: a transaction that waits for us, a statement whose client is gone, a connection without a sign of life.
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

interface Terms {
  limit: Limit;
  ms: number;
  urgent: boolean;
}

type Work<T> = (sql: SQL) => PromiseLike<T>;

interface Lane {
  readonly sql: SQL;
  /** The server process, 0 before the first statement. */
  pid: number;
  /** What the server was told. */
  limit: Limit | undefined;
  /** When the server was last heard of, and when somebody last used it. */
  heard: number;
  used: number;
  /** What runs on it, and what was sent behind that. */
  readonly tasks: Task[];
  /** A transaction runs on it, or a sign of life: nothing is sent behind those. */
  alone: boolean;
  gone: boolean;
}

interface Task {
  /** When the server could begin with it. */
  since: number;
  limit: Limit;
  /** When the caller is told that it failed; the connection has until the end of the limit. */
  until: number;
  fail(error: unknown): void;
  /** When the server was last asked about it. */
  probed: number;
}

interface Waiting {
  until: number;
  /** It needs a connection of its own. */
  alone: boolean;
  limit: Limit;
  start(lane: Lane): void;
  fail(error: unknown): void;
}

/** No answer came in time; what was asked may have been done. */
const silent = (reason: string) => new AppError("database_unavailable", {}, { cause: new Error(reason) });

export interface ConnectionsOptions {
  url: string;
  /** Most connections. */
  max: number;
  /** Hears why a connection was given up. */
  gaveUp?(reason: string): void;
}

export function openConnections({ url, max, gaveUp }: ConnectionsOptions): Connections {
  const lanes = new Set<Lane>();
  /** Free ones; the last one back is the first one out, so that the others may close. */
  const idle: Lane[] = [];
  const waiting: Waiting[] = [];
  let closed = false;

  function open(): Lane {
    const lane: Lane = {
      sql: new SQL(url, {
        max: 1,
        connectionTimeout: CONNECT_SECONDS,
        bigint: false,
        onclose: () => forget(lane),
      }),
      pid: 0,
      limit: undefined,
      heard: performance.now(),
      used: performance.now(),
      tasks: [],
      alone: false,
      gone: false,
    };
    lanes.add(lane);
    return lane;
  }

  /** It is closed, or will be: its client would open another one, with nothing of what the server was told. */
  function forget(lane: Lane): void {
    if (lane.gone) return;
    lane.gone = true;
    lanes.delete(lane);
    const place = idle.indexOf(lane);
    if (place >= 0) idle.splice(place, 1);
    lane.sql.close({ timeout: 0 }).catch(() => {});
    serveNext();
  }

  function drop(lane: Lane, reason: string): void {
    const lost = lane.tasks.splice(0);
    forget(lane);
    for (const task of lost) task.fail(silent(reason));
  }

  function giveUp(lane: Lane, reason: string): void {
    if (lane.gone) return;
    gaveUp?.(reason);
    drop(lane, reason);
  }

  /** Whoever waits gets a free connection, or a new one where there is room. */
  function serveNext(): void {
    while (waiting.length > 0) {
      const lane = idle.pop() ?? (lanes.size < max && !closed ? open() : undefined);
      if (!lane) return;
      waiting.shift()?.start(lane);
    }
  }

  /** One more short statement may be sent behind those that are under way. */
  const takesMore = (lane: Lane, limit: Limit): boolean =>
    !lane.alone && !lane.gone && limit === "usual" && lane.limit === limit && lane.tasks.length < DEPTH;

  /** The busy connection with the least to do that takes one more. */
  function leastBusy(limit: Limit): Lane | undefined {
    let found: Lane | undefined;
    for (const lane of lanes)
      if (takesMore(lane, limit) && (!found || lane.tasks.length < found.tasks.length)) found = lane;
    return found;
  }

  /**
   * A task is over. Those that wait come in their order, so that a transaction is not kept waiting by statements behind
   * it.
   */
  function handBack(lane: Lane, task: Task): void {
    lane.tasks.splice(lane.tasks.indexOf(task), 1);
    if (lane.gone) return;
    lane.heard = lane.used = performance.now();
    const [head] = lane.tasks;
    if (head) head.since = Math.max(head.since, lane.heard);
    else lane.alone = false;
    for (let next = waiting[0]; next; next = waiting[0]) {
      if (lane.tasks.length > 0 && (next.alone || !takesMore(lane, next.limit))) return;
      waiting.shift();
      next.start(lane);
    }
    if (lane.tasks.length === 0) idle.push(lane);
  }

  /**
   * Tells the server what it has to know before the work: what is new to the connection, and another limit than the
   * last.
   */
  async function prepare(lane: Lane, limit: Limit): Promise<void> {
    if (lane.pid === 0) {
      // A server that refuses one of them (its platform has none such) is used without.
      const [row] = await lane.sql.unsafe<{ pid: number }[]>(SET_UP).catch((error: unknown) => {
        if (isConnectionLost(error)) throw error;
        return [];
      });
      lane.pid = row?.pid ?? -1;
    }
    if (lane.limit === limit) return;
    await lane.sql.unsafe(`SET statement_timeout = ${LIMITS_MS[limit] - 1000}`);
    lane.limit = limit;
  }

  function begin<T>(lane: Lane, work: Work<T>, limit: Limit): PromiseLike<T> {
    if (lane.limit !== limit) return prepare(lane, limit).then(() => work(lane.sql));
    try {
      return work(lane.sql);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  function start<T>(
    lane: Lane,
    work: Work<T>,
    { limit, ms }: Terms,
    alone: boolean,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ): void {
    const since = performance.now();
    const task: Task = { since, limit, until: since + ms, fail: reject, probed: 0 };
    lane.tasks.push(task);
    // What may take long must keep nobody waiting behind it.
    lane.alone = alone || limit !== "usual";
    begin(lane, work, limit).then(
      (value) => {
        if (!lane.tasks.includes(task)) return;
        handBack(lane, task);
        resolve(value);
      },
      (error: unknown) => {
        // Its own time was up: it has failed already.
        if (!lane.tasks.includes(task)) return;
        const lost = isConnectionLost(error);
        if (lost) {
          lane.tasks.splice(lane.tasks.indexOf(task), 1);
          drop(lane, "The connection was lost");
        } else handBack(lane, task);
        reject(lost || isTimeout(error) ? new AppError("database_unavailable", {}, { cause: error }) : error);
      },
    );
  }

  /** `alone`: it is no single statement. */
  function run<T>(work: Work<T>, terms: Terms, alone: boolean): Promise<T> {
    if (closed) return Promise.reject(silent("The database is closed"));
    return new Promise<T>((resolve, reject) => {
      const lane =
        idle.pop() ?? (lanes.size < max ? open() : alone || waiting.length > 0 ? undefined : leastBusy(terms.limit));
      if (lane) return start(lane, work, terms, alone, resolve, reject);
      const until = performance.now() + Math.min(terms.ms, WAIT_MS);
      const next: Waiting = {
        until,
        alone,
        limit: terms.limit,
        fail: reject,
        start: (free) => start(free, work, terms, alone, resolve, reject),
      };
      if (terms.urgent) waiting.unshift(next);
      else waiting.push(next);
    });
  }

  /** A sign of life from an idle connection; nobody else gets it meanwhile. */
  function ask(lane: Lane): void {
    const { used } = lane;
    idle.splice(idle.indexOf(lane), 1);
    const back = () => {
      lane.used = used;
    };
    start(
      lane,
      (sql) => sql.unsafe("SELECT 1"),
      { limit: lane.limit ?? "usual", ms: SIGN_MS, urgent: false },
      true,
      back,
      () => giveUp(lane, "An idle connection gave no sign of life"),
    );
  }

  /** The server has long been at it: asks on another connection whether it still is. */
  async function probe(lane: Lane, task: Task): Promise<void> {
    task.probed = performance.now();
    const busy = await all.urgent.unsafe(STILL_AT_IT, [lane.pid]).then(
      (rows) => rows.length > 0,
      () => true,
    );
    if (!busy && lane.tasks[0] === task) giveUp(lane, "The server is done with a statement, and no answer came");
  }

  /** This process stood still (suspended, or busy without a pause): the answers may be here, unread. */
  function forgive(late: number): void {
    for (const lane of lanes) {
      lane.heard += late;
      lane.used += late;
      for (const task of lane.tasks) {
        task.since += late;
        task.until += late;
      }
    }
    for (const one of waiting) one.until += late;
  }

  let looked = performance.now();
  function look(): void {
    const now = performance.now();
    const late = now - looked - LOOK_MS;
    looked = now;
    if (late > LATE_MS) return forgive(late);
    for (const lane of lanes) {
      const [task] = lane.tasks;
      if (!task) {
        if (now - lane.used > IDLE_MS) forget(lane);
        else if (now - lane.heard > QUIET_MS) ask(lane);
      } else if (now >= task.since + LIMITS_MS[task.limit]) {
        giveUp(lane, `No answer from the database within ${LIMITS_MS[task.limit]} ms`);
        // Those that were not heard of since are most likely dead too, and the next callers would have to find out.
        for (const other of [...lanes]) if (other.tasks.length === 0 && other.heard < task.since) forget(other);
      } else {
        for (const one of lane.tasks) {
          if (now < one.until) continue;
          one.until = Infinity;
          one.fail(silent("The database did not answer in time"));
        }
        if (task.limit !== "usual" && lane.pid > 0 && now - Math.max(task.since, task.probed) > PROBE_MS)
          void probe(lane, task);
      }
    }
    for (const one of waiting.filter(({ until }) => now >= until)) {
      waiting.splice(waiting.indexOf(one), 1);
      one.fail(silent("No connection to the database was free in time"));
    }
  }
  const timer = setInterval(look, LOOK_MS);
  timer.unref();

  const doors = (terms: Terms): Connections => ({
    unsafe: (text, values) => statement(text, values, (work) => run(work, terms, false)),
    begin: (work) => run((sql) => sql.begin(work), terms, true),
    within: (limit, ms = LIMITS_MS[limit]) =>
      doors({ limit, ms: Math.min(ms, LIMITS_MS[limit]), urgent: terms.urgent }),
    get urgent() {
      return doors({ ...terms, urgent: true });
    },
    listener: () => new SQL(url, { max: 1, connectionTimeout: CONNECT_SECONDS }),
    close: async (ms = 5000) => {
      closed = true;
      for (const one of waiting.splice(0)) one.fail(silent("The database is closed"));
      for (
        const until = performance.now() + ms;
        performance.now() < until && [...lanes].some(({ tasks }) => tasks.length > 0);
      )
        await Bun.sleep(5);
      clearInterval(timer);
      for (const lane of [...lanes]) drop(lane, "The database is closed");
    },
  });
  const all = doors({ limit: "usual", ms: LIMITS_MS.usual, urgent: false });
  return all;
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
