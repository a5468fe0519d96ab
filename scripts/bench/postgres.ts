/**
 * Whole calls on Postgres: `bun run bench postgres [--quick]`. One server of its own, durable as delivered and then
 * without fsync, one user and fifty, without limits and with; Weir on SQLite beside it. Beside the time of both
 * processes it counts commits, WAL and waits for locks: on a busy machine those are the figures to trust.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { startPostgres } from "../../tests/kit/postgres-server";
import { load, median, type Pace } from "./measure";
import { familyCpuMs } from "./procfs";
import { table } from "./report";
import { KINDS, requestBody, SIZES } from "./scenarios";
import { type MeasuredWeir, startMeasuredWeir, startUpstream } from "./targets";

const USERS = 50;
/** Limits of a token that refuse nothing. */
const LIMITS = { rpm: 100_000_000, tpm: 1_000_000_000, concurrency: 10_000 };
/** Between two looks at who waits for a lock. */
const SAMPLE_MS = 50;
/** Postgres counts a transaction of an idle connection at most so much later. */
const COUNTED_MS = 1_200;

export const DURABLE = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" };
const FAST = { fsync: "off", full_page_writes: "off", synchronous_commit: "off" };

interface Round {
  rps: number;
  p50: number;
  p99: number;
  weir_us: number;
  postgres_us: number;
  commits: number;
  wal: number;
  /** Time in which sessions waited for a lock. */
  waited_us: number;
  failed: number;
}

/** What a server of its own has done so far. */
export interface Server {
  pid: number;
  /** Where its `data` is. */
  folder: string;
  admin: SQL;
  set(settings: Record<string, string>): Promise<void>;
  counters(database: string): Promise<{ cpuMs: number; commits: number; wal: number }>;
  stop(): Promise<void>;
}

/** `settings` over those of the tests. */
export async function startServer(settings: Record<string, string | number> = {}): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "weir-bench-postgres-"));
  const { server, url } = await startPostgres(folder, { max_wal_size: "1GB", ...settings });
  // Databases of this process are made there.
  process.env.WEIR_TEST_POSTGRES_URL = url;
  const admin = new SQL(`${url}/postgres`, { max: 1 });
  const pid = server.pid as number; // it has started
  return {
    pid,
    folder,
    admin,
    set: async (changed) => {
      for (const [name, value] of Object.entries(changed)) await admin.unsafe(`ALTER SYSTEM SET ${name} = '${value}'`);
      await admin.unsafe("SELECT pg_reload_conf()");
      await admin.unsafe("CHECKPOINT");
    },
    counters: async (database) => {
      const cpu = familyCpuMs(pid);
      const [row] = await admin`SELECT xact_commit::float8 AS commits,
        pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS wal
        FROM pg_stat_database WHERE datname = ${database}`;
      return { cpuMs: cpu, commits: Number(row.commits), wal: Number(row.wal) };
    },
    stop: async () => {
      await admin.close();
      const ended = new Promise((resolve) => server.on("exit", resolve));
      server.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Milliseconds in which sessions waited for locks, until the returned function is called. */
function watchLocks(server: Server, database: string): () => Promise<number> {
  let over = false;
  const watching = (async () => {
    let waited = 0;
    let last = performance.now();
    while (!over) {
      await Bun.sleep(SAMPLE_MS);
      const [row] = await server.admin`SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = ${database} AND wait_event_type = 'Lock'`;
      const now = performance.now();
      waited += Number(row.n) * (now - last);
      last = now;
    }
    return waited;
  })();
  return () => ((over = true), watching);
}

async function oneRound(weir: MeasuredWeir, keys: string[], concurrency: number, pace: Pace, server: Server) {
  const database = weir.engine === "postgres" ? new URL(weir.weir.databaseUrl).pathname.slice(1) : "";
  const { model, stream } = KINDS.plain;
  const body = requestBody(SIZES["1 KB"], model, stream);
  const [key = "", ...others] = keys;
  const { durationMs, warmupMs } = pace;
  const url = `${weir.url}/v1/chat/completions`;
  const before = database ? await server.counters(database) : undefined;
  const locks = database ? watchLocks(server, database) : undefined;
  const result = await load({ url, key, keys: others, pid: weir.pid, body, concurrency, durationMs, warmupMs });
  const waited = (await locks?.()) ?? 0;
  if (database) await Bun.sleep(COUNTED_MS);
  const after = database ? await server.counters(database) : undefined;
  const perCall = (of: "cpuMs" | "commits" | "wal") => (before && after ? (after[of] - before[of]) / result.sent : 0);
  const round: Round = {
    rps: result.calls / result.seconds,
    p50: result.p50,
    p99: result.p99,
    weir_us: result.cpu_us,
    postgres_us: perCall("cpuMs") * 1000,
    commits: perCall("commits"),
    wal: perCall("wal"),
    waited_us: (waited * 1000) / result.sent,
    failed: result.failed,
  };
  return round;
}

/** A key of each user, without limits and with. */
async function keysOf({ weir }: MeasuredWeir): Promise<Record<"free" | "limited", string[]>> {
  const keys = { free: [] as string[], limited: [] as string[] };
  for (let i = 0; i < USERS; i++) {
    const user = await weir.newUser({ quota: 1_000_000_000_000 });
    keys.free.push((await weir.newToken({}, user)).key);
    keys.limited.push((await weir.newToken(LIMITS, user)).key);
  }
  return keys;
}

/** Returns the table as Markdown. */
export async function benchPostgres(
  pace: Pace,
  command: readonly string[] | undefined,
  say: (text: string) => void,
): Promise<string> {
  const stops: (() => Promise<void>)[] = [];
  try {
    const server = await startServer();
    stops.push(server.stop);
    const upstream = await startUpstream();
    stops.push(upstream.stop);
    const weirs = [];
    for (const engine of ["sqlite", "postgres"] as const) {
      const weir = await startMeasuredWeir(engine, upstream.url, command);
      stops.push(weir.stop);
      weirs.push({ weir, keys: await keysOf(weir) });
    }
    const rows: string[][] = [];
    for (const [callers, users, limits] of [
      [1, 1, "free"],
      [1, 1, "limited"],
      [64, 1, "free"],
      [64, 1, "limited"],
      [64, USERS, "free"],
      [64, USERS, "limited"],
    ] as const) {
      const what = `${callers} at once, users: ${users}${limits === "limited" ? ", with limits" : ""}`;
      const measured = new Map<string, Round[]>();
      for (let i = 0; i < pace.rounds; i++) {
        for (const { weir, keys } of weirs) {
          for (const durable of weir.engine === "postgres" ? [true, false] : [true]) {
            if (weir.engine === "postgres") await server.set(durable ? DURABLE : FAST);
            const name = durable ? weir.name : `${weir.name} without fsync`;
            say(`${what}: ${name}`);
            const round = await oneRound(weir, keys[limits].slice(0, users), callers, pace, server);
            measured.set(name, [...(measured.get(name) ?? []), round]);
          }
        }
      }
      for (const [name, rounds] of measured) rows.push([what, name, ...cells(rounds)]);
    }
    for (const { weir } of weirs) {
      const findings = await weir.weir.audit();
      if (findings.length > 0) throw new Error(`${weir.name}: the audit found ${findings.length} rows`);
    }
    return `1 KB plain, medians of ${pace.rounds} rounds of ${pace.durationMs / 1000} s, all processes on one machine. With limits: requests and tokens a minute and calls at once of each token. The audits of both are clean.

${table(["", "Process", "requests/s", "p50 ms", "p99 ms", "Weir us/call", "Postgres us/call", "commits/call", "WAL B/call", "waits for locks us/call", "failed"], rows)}
`;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function cells(rounds: readonly Round[]): string[] {
  const of = (name: keyof Round) => median(rounds.map((round) => round[name]));
  return [
    of("rps").toFixed(0),
    of("p50").toFixed(2),
    of("p99").toFixed(1),
    of("weir_us").toFixed(0),
    of("postgres_us").toFixed(0),
    of("commits").toFixed(2),
    of("wal").toFixed(0),
    of("waited_us").toFixed(0),
    String(rounds.reduce((sum, { failed }) => sum + failed, 0)),
  ];
}
