/** Postgres as `weir doctor` sees it. */
import { SQL } from "bun";
import { sharesSessions } from "../db/pooler";
import type { Env } from "../env";
import { LISTENERS, MOST_AHEAD, SILENT_SECONDS, USABLE_CONNECTIONS } from "../features/wallet/instances";
import { type Ask, databaseChecks } from "./doctor-database";
import { checked, type Found, problemText } from "./found";

const CONNECT_SECONDS = 5;
/** The versions that the tests run on, and those that their makers still mend. */
const LEAST_VERSION = 15;
/** A call waits for two commits. */
const SLOW_MS = 20;
const ROUND_TRIPS = 5;
/** Settings that lose committed rows in a crash, and what may then be lost. */
const DURABLE = {
  fsync: "wrong",
  full_page_writes: "wrong",
  synchronous_commit: "note",
} as const satisfies Record<string, Found["state"]>;

export async function postgresChecks({ DATABASE_URL, WEIR_PG_POOL, WEIR_WORKERS, WEIR_SECRET }: Env): Promise<Found[]> {
  const sql = new SQL(DATABASE_URL, { max: 1, connectionTimeout: CONNECT_SECONDS, bigint: false });
  const ask: Ask = async (statement) => (await sql.unsafe(statement)) as Record<string, unknown>[];
  try {
    try {
      await ask("SELECT 1");
    } catch (error) {
      const advice = "Correct DATABASE_URL, start the server, or open the way to it.";
      const found = `the database of DATABASE_URL cannot be reached: ${problemText(error)}`;
      return [{ check: "database", state: "wrong", found, advice }];
    }
    const [tables] = await ask(
      "SELECT to_regclass('meta') IS NOT NULL AND to_regclass('instances') IS NOT NULL AS there",
    );
    const there = tables?.there === true;
    const [stored] = there ? await ask("SELECT value FROM meta WHERE name = 'master_secret'") : [];
    return [
      ...(await checked("database", () => server(ask))),
      ...(await checked("round trip", () => roundTrip(ask))),
      ...(await checked("clock", () => clock(ask))),
      ...(await checked("connections", () => connections(ask, WEIR_PG_POOL, WEIR_WORKERS, there))),
      ...(await checked("pooler", () => pooler(DATABASE_URL))),
      ...(await checked("durability", () => durability(ask))),
      ...(there ? await databaseChecks(ask, WEIR_SECRET || String(stored?.value ?? "")) : [empty]),
      ...(there ? await checked("instances", () => silentInstances(ask)) : []),
      ...(WEIR_SECRET ? [] : [secretInside]),
      ...(await checked("backup", () => archive(ask))),
    ];
  } finally {
    await sql.close({ timeout: 0 });
  }
}

const empty: Found = { check: "schema", state: "ok", found: "the database is empty: the first start makes the tables" };

const secretInside: Found = {
  check: "secret",
  state: "note",
  found: "WEIR_SECRET is not set: the master secret lies in the database, beside what it protects",
  advice: "`weir secret rotate`, and keep the new one in WEIR_SECRET.",
};

async function server(ask: Ask): Promise<Found[]> {
  const check = "database";
  const [row] = await ask(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name,
       current_database() AS database, pg_encoding_to_char(encoding) AS encoding, pg_is_in_recovery() AS standby,
       current_setting('transaction_read_only') AS read_only,
       has_schema_privilege(current_user, current_schema(), 'CREATE') AS may_create
     FROM pg_database WHERE datname = current_database()`,
  );
  const wrong = (found: string, advice: string): Found => ({ check, state: "wrong", found, advice });
  const problems: Found[] = [];
  const major = Math.floor(Number(row?.version) / 10_000);
  if (major < LEAST_VERSION)
    problems.push(wrong(`Postgres ${row?.name} is older than ${LEAST_VERSION}`, "Upgrade the server."));
  if (row?.encoding !== "UTF8")
    problems.push(
      wrong(`its encoding is ${row?.encoding}`, "Make a database with ENCODING 'UTF8' and move the data there."),
    );
  if (row?.standby === true || row?.read_only === "on")
    problems.push(wrong("it can only be read: a standby, or default_transaction_read_only", "Name the primary."));
  if (row?.may_create !== true)
    problems.push(
      wrong("this user may make no tables there", "GRANT CREATE ON SCHEMA public TO the user, or let it own it."),
    );
  if (problems.length > 0) return problems;
  return [{ check, state: "ok", found: `Postgres ${row?.name}, database ${row?.database}, ${row?.encoding}` }];
}

async function roundTrip(ask: Ask): Promise<Found[]> {
  const times: number[] = [];
  for (let i = 0; i < ROUND_TRIPS; i++) {
    const began = performance.now();
    await ask("SELECT 1");
    times.push(performance.now() - began);
  }
  const ms = Math.min(...times);
  const found = `${ms.toFixed(1)} ms`;
  if (ms < SLOW_MS) return [{ check: "round trip", state: "ok", found }];
  const advice = "Each call waits for it several times: run Weir nearer to its database.";
  return [{ check: "round trip", state: "note", found, advice }];
}

async function clock(ask: Ask): Promise<Found[]> {
  const check = "clock";
  const before = Date.now();
  const [row] = await ask("SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS at");
  const ahead = ((before + Date.now()) / 2 - Number(row?.at)) / 1000;
  const found = `${Math.abs(ahead).toFixed(1)} s ${ahead < 0 ? "behind" : "ahead of"} the database's`;
  if (Math.abs(ahead) <= 1) return [{ check, state: "ok", found }];
  const stopped = Math.abs(ahead) > MOST_AHEAD;
  const advice = stopped
    ? "Set the clocks by NTP: so far apart this machine's timers are stopped."
    : "Set the clocks by NTP.";
  return [{ check, state: stopped ? "wrong" : "note", found, advice }];
}

/** All living instances, at least this one's workers, each with a whole pool. */
async function connections(ask: Ask, pool: number, workers: number, there: boolean): Promise<Found[]> {
  const check = "connections";
  const [row] = await ask(USABLE_CONNECTIONS);
  const [living] = there
    ? await ask(
        `SELECT count(*)::int AS n FROM instances
         WHERE heartbeat_at >= extract(epoch FROM clock_timestamp())::bigint - ${SILENT_SECONDS}`,
      )
    : [];
  const instances = Math.max(Number(living?.n ?? 0), workers);
  const [usable, needed] = [Number(row?.usable), instances * (pool + LISTENERS)];
  const found = `${instances} ${instances === 1 ? "instance" : "instances"} x (WEIR_PG_POOL ${pool} + ${LISTENERS}) = ${needed} of ${usable} that max_connections leaves`;
  if (needed > usable)
    return [
      {
        check,
        state: "wrong",
        found,
        advice: `Set WEIR_PG_POOL to ${Math.max(2, Math.floor(usable / instances) - LISTENERS)} or less, or raise max_connections.`,
      },
    ];
  if (needed + pool + LISTENERS > usable)
    return [{ check, state: "note", found, advice: "There is no room for one more, as an upgrade may need." }];
  return [{ check, state: "ok", found }];
}

async function pooler(url: string): Promise<Found[]> {
  const check = "pooler";
  if (!(await sharesSessions(url))) return [{ check, state: "ok", found: "each session has a connection of its own" }];
  return [
    {
      check,
      state: "wrong",
      found: "DATABASE_URL leads through a pooler that shares sessions",
      advice: "Set pool_mode = session (PgBouncer), or name Postgres itself.",
    },
  ];
}

async function durability(ask: Ask): Promise<Found[]> {
  const check = "durability";
  const rows = await ask(
    `SELECT name, setting FROM pg_settings WHERE setting = 'off' AND name IN (${Object.keys(DURABLE)
      .map((name) => `'${name}'`)
      .join(", ")})`,
  );
  if (rows.length === 0) return [{ check, state: "ok", found: "a commit is on disk" }];
  return rows.map(({ name }) => ({
    check,
    state: DURABLE[name as keyof typeof DURABLE], // asked for by these names
    found: `${String(name)} is off: a crash of the server loses charges${name === "synchronous_commit" ? " of its last moment" : ", or the database"}`,
    advice: `Set ${String(name)} to on.`,
  }));
}

/** Holds of processes that fell silent are swept within a minute where one runs. */
async function silentInstances(ask: Ask): Promise<Found[]> {
  const [row] = await ask(
    `SELECT count(*)::int AS n, coalesce(sum(amount), 0)::float8 AS units FROM holds
     WHERE created_at < extract(epoch FROM clock_timestamp())::bigint - ${4 * SILENT_SECONDS} AND NOT EXISTS (
       SELECT 1 FROM instances i WHERE i.id = holds.instance_id
         AND i.heartbeat_at >= extract(epoch FROM clock_timestamp())::bigint - ${SILENT_SECONDS})`,
  );
  const versions = (
    await ask(
      `SELECT DISTINCT version FROM instances
       WHERE heartbeat_at >= extract(epoch FROM clock_timestamp())::bigint - ${SILENT_SECONDS} ORDER BY version`,
    )
  ).map(({ version }) => String(version));
  const found: Found[] = [];
  if (Number(row?.n) > 0)
    found.push({
      check: "holds",
      state: "note",
      found: `${Number(row?.n)} holds (${Number(row?.units)} units) of processes that have ended`,
      advice: "A running Weir ends them within a minute; if one runs, look into its log for the job sweep.",
    });
  if (versions.length > 1)
    found.push({
      check: "instances",
      state: "note",
      found: `of several releases: ${versions.join(", ")}`,
      advice: "Fine during an upgrade; end it.",
    });
  return found;
}

/** Whether the server archives its log; other ways to save it are not seen from here. */
async function archive(ask: Ask): Promise<Found[]> {
  const check = "backup";
  const [row] = await ask(
    `SELECT current_setting('archive_mode') AS mode, failed_count::int AS failed, last_failed_time > last_archived_time AS failing
     FROM pg_stat_archiver`,
  );
  if (row?.mode === "off") {
    const advice = "Run pg_dump every day (docs/deploy.md), unless the server is saved in another way.";
    return [{ check, state: "note", found: "this server does not archive its write-ahead log", advice }];
  }
  if (row?.failing === true)
    return [{ check, state: "wrong", found: "its last try to archive failed", advice: "Look at archive_command." }];
  return [{ check, state: "ok", found: "the write-ahead log is archived" }];
}
