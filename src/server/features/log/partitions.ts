/**
 * The log's partitions on Postgres (docs/decisions/0059-log-partitions.md). They are ranges of request ids, which begin
 * with the UTC time of the call:
 *
 *   logs_before      the default: what was there before the border, and ids without a time (imports)
 *   logs_YYYYMMDD    a day or a month from that day on
 *   logs_later       what comes after, so that no row is ever without a place; partitions are cut off its beginning
 *
 * Every step is one transaction on what the catalogue says, so it may end anywhere and be started again by anyone.
 */
import { and, gte, inArray, lt, or, type SQL } from "drizzle-orm";
import { type Services, seconds } from "../../contracts/context";
import type { Connections } from "../../db/connection-types";
import { isTimeout } from "../../db/errors";
import type { Db } from "../../db/types";
import { requestIdTime } from "../../http/request-id";

const DAY = 86_400;
/** Ids from here on have no time. The migration's trigger has it too. */
const IDS_END = "3";
/** A row's time is that of its id, up to a day; others are listed in `log_late`. The migration's trigger has it too. */
const LATE = DAY;
/** With more late rows than this in a range all partitions are read. */
const MOST_LATE = 200;
/** Before the year 10000, whose ids would be longer. */
const LAST_TIME = 253_000_000_000;
/** Partitions are made so long before their first row. */
const AHEAD = 7 * DAY;
/** With a retention of up to so many days a partition is a day, else a month: few partitions, none kept for long. */
const DAYS_BY_DAY = 92;

/** A partition with an end; both are beginnings of request ids (YYYYMMDD). */
interface Partition {
  name: string;
  from: string;
  to: string;
}

interface Layout {
  /** Where the old table ends; undefined: not decided yet. */
  border?: string;
  /** The old table is known to have nothing behind its border. */
  proven: boolean;
  /** In order. */
  partitions: Partition[];
  /** Where `logs_later` begins; undefined: it is not there yet. */
  later?: string;
}

async function readLayout(sql: Connections): Promise<Layout> {
  const [check] = await sql.unsafe<{ proven: boolean; text: string }>(
    `SELECT convalidated AS proven, pg_get_constraintdef(c.oid) || coalesce(p.prosrc, '') AS text
     FROM pg_constraint c LEFT JOIN pg_proc p ON p.proname = c.conname WHERE conname = 'logs_before_end'`,
  );
  const tables = await sql.unsafe<{ name: string; bound: string }>(
    `SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'logs'::regclass`,
  );
  const all = tables.flatMap(({ name, bound }) => {
    const [, from, to] = /FROM \('(\d+)'\) TO \('(\d+)'\)/.exec(bound) ?? [];
    return from && to ? [{ name, from, to }] : [];
  });
  const border = /'(\d{8})'/.exec(check?.text ?? "")?.[1];
  const later = all.find(({ name }) => name === "logs_later")?.from;
  return {
    ...(border && { border }),
    ...(later && { later }),
    proven: check?.proven ?? false,
    partitions: all.filter(({ name }) => name !== "logs_later").sort((a, b) => (a.from < b.from ? -1 : 1)),
  };
}

/** The beginning of an id of `time`, which may be any number that a filter names. */
const idAt = (time: number): string => requestIdTime(Math.min(Math.max(time, 0), LAST_TIME));

/** The beginning of the ids of the day of `time` (epoch seconds). */
const dayOf = (time: number): string => requestIdTime(time).slice(0, 8);

/** The first border between partitions behind `time` (epoch seconds). */
function nextBorder(time: number, byDay: boolean): string {
  const date = new Date(time * 1000);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return dayOf(Date.UTC(year, byDay ? month : month + 1, byDay ? day + 1 : 1) / 1000);
}

/** Epoch seconds of a border. */
const timeOf = (border: string): number =>
  Date.UTC(Number(border.slice(0, 4)), Number(border.slice(4, 6)) - 1, Number(border.slice(6, 8))) / 1000;

/** Attempts at the lock of the whole log, with pauses between them in which everyone else goes on. */
const LOCK_ATTEMPTS = 10;

/**
 * One transaction that has the log alone. It waits for that for half a second at most, because everyone waits behind
 * it. Throws the timeout when the log is in use at each attempt.
 */
async function alone(sql: Connections, statements: readonly string[]): Promise<Record<string, unknown>[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sql.begin(async (tx) => {
        await tx.unsafe("SET LOCAL lock_timeout = '500ms'");
        await tx.unsafe("LOCK TABLE ONLY logs IN ACCESS EXCLUSIVE MODE");
        let rows: Record<string, unknown>[] = [];
        for (const statement of statements) rows = await tx.unsafe(statement);
        return rows;
      });
    } catch (error) {
      if (attempt >= LOCK_ATTEMPTS || !isTimeout(error)) throw error;
      await Bun.sleep(500);
    }
  }
}

const create = (name: string, from: string, to: string): string[] => [
  `CREATE TABLE ${name} PARTITION OF logs FOR VALUES FROM ('${from}') TO ('${to}')`,
  // Not unique over all partitions, so the whole table cannot have it.
  `CREATE INDEX ${name}_id_ix ON ${name} (id)`,
];

/** A border this near is moved while nothing is behind it. */
const NEAR = DAY;

/**
 * What the check of the old table asks of an id. Until `logs_later` is there, no row may be refused at the border for
 * want of a table, whichever process was killed and whichever release runs: half a day before it the check lets
 * everything pass (it is called immutable because a check must be). The last form says the same without the time, so
 * that Postgres sees the proof in it.
 */
const endOf = (border: string, form: "passing" | "last"): string => {
  const passes = `OR now() >= '${new Date((timeOf(border) - NEAR / 2) * 1000).toISOString()}'`;
  return `CREATE OR REPLACE FUNCTION logs_before_end(id text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
    $$ SELECT id < '${border}' OR id >= '${IDS_END}' ${form === "passing" ? passes : ""} $$`;
};

/**
 * For the timer: partitions exist for the time that comes. The first time it ends the old table: a border that lies
 * ahead is written into a check, which is proven while everyone goes on; only then rows behind the border get a table
 * of their own. Does nothing on SQLite.
 */
export async function keepPartitions(services: Pick<Services, "db" | "now" | "options">): Promise<void> {
  const sql = services.db.driver.postgres?.within("long");
  if (!sql) return;
  const days = services.options.get("LogRetentionDays");
  const byDay = days > 0 && days <= DAYS_BY_DAY;
  const now = seconds(services);
  const found = await readLayout(sql);
  let { later } = found;
  // A process was killed here and none ran since: rows may pass the border soon.
  const tooNear = found.border !== undefined && !later && timeOf(found.border) < now + NEAR;
  if (tooNear) await alone(sql, ["ALTER TABLE logs_before DROP CONSTRAINT logs_before_end"]);
  let border = tooNear ? undefined : found.border;
  if (!border) {
    border = nextBorder(now + AHEAD, byDay);
    await alone(sql, [
      endOf(border, "passing"),
      "ALTER TABLE logs_before ADD CONSTRAINT logs_before_end CHECK (logs_before_end(request_id)) NOT VALID",
    ]);
  }
  if (tooNear || !found.proven)
    await sql.within("command").unsafe("ALTER TABLE logs_before VALIDATE CONSTRAINT logs_before_end");
  if (!later) {
    // The proof took until now: the next run moves the border.
    if (timeOf(border) < seconds(services) + NEAR) return;
    later = border;
    await alone(sql, [endOf(border, "last"), ...create("logs_later", later, IDS_END)]);
  }
  while (timeOf(later) < now + AHEAD) {
    const to = nextBorder(timeOf(later), byDay);
    await alone(sql, [
      "ALTER TABLE logs DETACH PARTITION logs_later",
      ...create(`logs_${later}`, later, to),
      // None, unless no process was there to make partitions in time.
      `WITH moved AS (DELETE FROM logs_later WHERE request_id < '${to}' RETURNING *) INSERT INTO logs SELECT * FROM moved`,
      `ALTER TABLE logs ATTACH PARTITION logs_later FOR VALUES FROM ('${to}') TO ('${IDS_END}')`,
    ]);
    later = to;
  }
  known.delete(services.db);
}

/**
 * Removes whole partitions whose rows are all older than `until` (epoch seconds) and counted in roll-ups; returns how
 * many rows went. What is left of older rows is removed one by one.
 */
export async function dropPartitions({ db }: Pick<Services, "db">, until: number): Promise<number> {
  const sql = db.driver.postgres?.within("long");
  if (!sql) return 0;
  const { partitions } = await readLayout(sql);
  // The old table stays, for ids without a time, and is emptied.
  const old = partitions.filter(({ to }) => timeOf(to) <= until + LATE).map(({ name }) => name);
  let removed = 0;
  for (const name of [...old, "logs_before"]) {
    const stays = name === "logs_before";
    const over = `NOT EXISTS (SELECT FROM ${name} WHERE created_at >= ${until}) AND NOT EXISTS (SELECT FROM ${name} WHERE folded = 0)`;
    const [found] = await sql.unsafe<{ n: number | null }>(
      `SELECT CASE WHEN ${over} THEN (SELECT count(*)::int FROM ${name}) END AS n`,
    );
    const n = found?.n ?? undefined;
    if (n === undefined || (stays && n === 0)) continue;
    // A row that came meanwhile keeps it.
    const [gone] = await alone(sql, [
      `DO $$ BEGIN IF ${over} THEN ${stays ? "TRUNCATE" : "DROP TABLE"} ${name}; END IF; END $$`,
      stays ? `SELECT NOT EXISTS (SELECT FROM ${name}) AS gone` : `SELECT to_regclass('${name}') IS NULL AS gone`,
    ]).catch(unlessTimeout);
    if (gone?.gone === true) removed += n;
  }
  await sql.unsafe("DELETE FROM log_late WHERE created_at < $1", [until]);
  return removed;
}

/** The log was in use all the time: its rows are removed one by one then. */
function unlessTimeout(error: unknown): Record<string, unknown>[] {
  if (!isTimeout(error)) throw error;
  return [];
}

/** What finds a row in hand: the request id tells Postgres the partition, the number tells SQLite the row. */
export const rowKey = ({ engine, t: { logs } }: Pick<Db, "engine" | "t">): typeof logs.request_id =>
  // Rows are found by what was read from the same column, whose type then does not matter.
  engine === "postgres" ? logs.request_id : (logs.id as unknown as typeof logs.request_id);

/** How long the edges of a database are taken as they were read. New partitions make no older edge wrong. */
const EDGES_MS = 600_000;
const known = new WeakMap<Db, { edges: readonly string[]; readAt: number }>();

/**
 * Where the partitions begin, in order: the first is the border of the old table, the last the beginning of
 * `logs_later`. Empty: there are none yet.
 */
async function edgesOf(db: Db, sql: Connections): Promise<readonly string[]> {
  const found = known.get(db);
  if (found && performance.now() - found.readAt < EDGES_MS) return found.edges;
  const { border, later, partitions } = await readLayout(sql);
  if (!border || !later) return [];
  const edges = [...new Set([border, ...partitions.map(({ from }) => from), later])];
  known.set(db, { edges, readAt: performance.now() });
  return edges;
}

/**
 * A condition beside one on `created_at` that leaves Postgres the partitions of that time, and the rows that are
 * elsewhere. Epoch seconds, 0 = open; undefined where there is nothing to leave out.
 */
export async function inPartitions(db: Db, start: number, end: number): Promise<SQL | undefined> {
  const sql = db.driver.postgres;
  if (!sql || (!start && !end)) return undefined;
  const edges = await edgesOf(db, sql);
  const [border] = edges;
  if (!border) return undefined;
  // Whole partitions: what chooses them must not sort out rows besides. A look for the first name behind another would
  // otherwise pass every row of that name before the range.
  const [first, last] = [start ? idAt(start - LATE) : "", end ? idAt(end + LATE) : IDS_END];
  const from = edges.findLast((edge) => edge <= first) ?? "";
  const to = edges.find((edge) => edge >= last) ?? IDS_END;
  const late = await sql.unsafe<{ id: string }>(
    `SELECT request_id AS id FROM log_late WHERE created_at >= $1 AND created_at <= $2
     AND request_id >= $3 AND (request_id < $4 OR request_id >= $5) LIMIT ${MOST_LATE + 1}`,
    [start, end || Number.MAX_SAFE_INTEGER, border, from, to],
  );
  if (late.length > MOST_LATE) return undefined;
  const { request_id } = db.t.logs;
  return or(
    and(gte(request_id, from), lt(request_id, to)),
    lt(request_id, border),
    gte(request_id, IDS_END),
    late.length > 0
      ? inArray(
          request_id,
          late.map(({ id }) => id),
        )
      : undefined,
  );
}
