/**
 * The load generator, as a separate process: `bun scripts/bench/load.ts '<JSON LoadSpec>'` prints a LoadResult. Closed
 * loop: `concurrency` connections, each sends its next call when the last one is answered.
 */
import { Connection, type Outcome, postBytes } from "./http-client";
import { cpuMs } from "./procfs";

export interface LoadSpec {
  /** Of the endpoint. */
  url: string;
  key: string;
  /** Further keys: the connections take them in turn. */
  keys?: readonly string[];
  body: string;
  concurrency: number;
  warmupMs: number;
  durationMs: number;
  /** The process whose CPU time is counted. */
  pid: number;
}

export interface LoadResult {
  /** Calls answered in the measured time. */
  calls: number;
  /** All calls sent, warm-up included. */
  sent: number;
  /** Calls not answered with 200. */
  failed: number;
  seconds: number;
  /** Milliseconds to the end of the response. */
  p50: number;
  p99: number;
  /** Milliseconds to the first content of a stream; 0 for plain calls. */
  first_p50: number;
  /** CPU of the measured process per call, microseconds. */
  cpu_us: number;
  /** Share of one core this generator itself used: near 1, it is the bottleneck. */
  own_cpu: number;
}

/** The value below which `share` of a sorted list lies. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

export async function runLoad(spec: LoadSpec): Promise<LoadResult> {
  const posts = [spec.key, ...(spec.keys ?? [])].map((key) => postBytes(spec.url, key, spec.body));
  const postOf = new Map<Connection, Uint8Array>();
  const totals: number[] = [];
  const firsts: number[] = [];
  let sent = 0;
  let failed = 0;
  let calls = 0;
  let phase: "warm" | "measure" | "over" = "warm";
  let running = 0;
  let drained: () => void = () => {};

  const next = (connection: Connection): void => {
    if (phase === "over") {
      connection.close();
      if (--running === 0) drained();
      return;
    }
    sent++;
    connection.send(postOf.get(connection) as Uint8Array); // set when it was made
  };
  const done = (connection: Connection, outcome: Outcome): void => {
    if (outcome.status !== 200) failed++;
    if (phase === "measure") {
      calls++;
      totals.push(outcome.endedAt - outcome.startedAt);
      if (outcome.firstAt > 0) firsts.push(outcome.firstAt - outcome.startedAt);
    }
    if (connection.connected) return next(connection);
    // A server may close an idle connection; a refused one must not become a busy loop.
    setTimeout(
      () =>
        void connection.open().then(
          () => next(connection),
          () => --running === 0 && drained(),
        ),
      10,
    );
  };

  const connections = Array.from({ length: spec.concurrency }, (_, i) => {
    const { target, bytes } = posts[i % posts.length] as (typeof posts)[number];
    const connection = new Connection(target, done);
    postOf.set(connection, bytes);
    return connection;
  });
  await Promise.all(connections.map((connection) => connection.open()));
  const over = new Promise<void>((resolve) => (drained = resolve));
  running = connections.length;
  connections.forEach(next);
  await Bun.sleep(spec.warmupMs);

  const cpuBefore = cpuMs(spec.pid);
  const ownBefore = process.cpuUsage();
  const startedAt = performance.now();
  phase = "measure";
  await Bun.sleep(spec.durationMs);
  phase = "over";
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = cpuMs(spec.pid) - cpuBefore;
  const own = process.cpuUsage(ownBefore);
  await Promise.race([over, Bun.sleep(10_000)]);

  totals.sort((a, b) => a - b);
  firsts.sort((a, b) => a - b);
  return {
    calls,
    sent,
    failed,
    seconds,
    p50: percentile(totals, 0.5),
    p99: percentile(totals, 0.99),
    first_p50: percentile(firsts, 0.5),
    cpu_us: calls > 0 ? (cpu * 1000) / calls : 0,
    own_cpu: (own.user + own.system) / 1e6 / seconds,
  };
}

if (import.meta.main) {
  const result = await runLoad(JSON.parse(process.argv[2] ?? "{}") as LoadSpec);
  console.log(JSON.stringify(result));
  process.exit(0);
}
