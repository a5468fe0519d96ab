/**
 * What experiments with nodes share: several real processes on one durable Postgres of their own, calls at a fixed
 * rate whatever the answers take, and the book of the trials (tests/kit/trial/).
 */
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { DURABLE, type Server, startServer } from "../../../scripts/bench/postgres";
import { type CallRecord, fateOf, modelsOf, type PlannedCall } from "../../kit/trial/calls";
import { startTestbed, type Testbed, type TestbedOptions } from "../../kit/trial/testbed";

/** A wait for a lock that is longer is in the server's log. */
export const NOTED_WAIT_MS = 20;
/** How long the ledger has to agree with the book: a sweep needs half a minute of steady heartbeats. */
const REST_MS = 150_000;
/** Calls of the load that are open at the same time at most: beyond them the machine does not carry the rate. */
const MOST_OPEN = 2000;

export interface Experiment {
  /** One line: what is done. */
  readonly what: string;
  run(lab: Lab): Promise<void>;
}

export interface Lab {
  /** Calls a second, in all. */
  readonly rate: number;
  /** Of the experiments that last as long as one likes. */
  readonly minutes: number;
  readonly server: Server;
  /** Nodes as operators run them (no haste), stopped with the lab. */
  start(options: Pick<TestbedOptions, "count" | "others">): Promise<Testbed>;
  /** Prints a line of the result. */
  say(line: string): void;
  /** A promise that must hold. */
  expect(holds: boolean, what: string): void;
  /** At rest the ledger agrees with the book, and nothing is left. */
  compare(bed: Testbed): Promise<void>;
}

/** Runs one experiment on a server of its own; returns what did not hold. */
export async function runExperiment(
  { run }: Experiment,
  { rate, minutes, say }: Pick<Lab, "rate" | "minutes" | "say">,
): Promise<{ broken: string[]; output: string }> {
  const broken: string[] = [];
  const beds: Testbed[] = [];
  const server = await startServer({
    ...DURABLE,
    logging_collector: "on",
    log_filename: "server.log",
    log_min_messages: "log",
    log_lock_waits: "on",
    deadlock_timeout: `${NOTED_WAIT_MS}ms`,
  });
  const expect = (holds: boolean, what: string): void => {
    if (!holds) broken.push(what);
    if (!holds) say(`  DID NOT HOLD: ${what}`);
  };
  let output = "";
  try {
    await run({
      rate,
      minutes,
      server,
      say,
      expect,
      start: async (options) => {
        const bed = await startTestbed({ engine: "postgres", hurried: false, ...options });
        beds.push(bed);
        return bed;
      },
      compare: async (bed) => {
        const began = performance.now();
        const lines = await bed.settle(REST_MS);
        for (const line of lines) expect(false, line);
        const counts = [...bed.tally]
          .filter(([subject]) => subject.startsWith("callers"))
          .map(([subject, fates]) => `${subject}: ${[...fates].map(([fate, n]) => `${n} ${fate}`).join(", ")}`);
        say(`  ${counts.join("; ")}`);
        if (lines.length === 0) say(`  the books agree to the unit, ${since(began)} s after the end of the calls`);
      },
    });
  } finally {
    output = beds.flatMap(({ nodes }) => nodes.all.map((node) => `=== ${node.name}\n${node.output()}`)).join("\n");
    for (const bed of beds) await bed.stop();
    await server.stop();
  }
  return { broken, output };
}

/** Seconds since a moment of performance.now(), with one digit. */
const since = (moment: number): string => ((performance.now() - moment) / 1000).toFixed(1);

/** Who pays: 49 users with limits in turn, one of them, or one whose token has a budget a day too. */
export type Payers = "49 users" | "one user" | "one budget";
/** How many users beside the first a testbed needs for them. */
export const OTHERS = 49;
/** The number of a call's key, as the testbed counts them. */
const keyOf: Readonly<Record<Payers, (call: number) => number>> = {
  "49 users": (call) => 2 + (call % OTHERS),
  "one user": () => 2,
  "one budget": () => 0,
};

export interface LoadOptions {
  rate: number;
  seconds: number;
  /** Which nodes a balancer would choose from, asked for each call. */
  nodes(): readonly number[];
  tokens: Payers;
  /** One call in so many is a stream of a second; 0: none. */
  streams?: number;
  limitMs?: number;
}

/** One call of a load. */
export interface Sample {
  /** Index of its node. */
  node: number;
  /** Moments of performance.now(). */
  beganAt: number;
  endedAt: number;
  stream: boolean;
  fate: string;
  record: CallRecord;
}

const MODELS = modelsOf("chat");

/** Calls at the rate, whatever the answers take. Resolves when the last has ended. */
export async function load(bed: Testbed, options: LoadOptions): Promise<Sample[]> {
  const { rate, seconds, nodes, tokens, streams = 0, limitMs } = options;
  const samples: Sample[] = [];
  const open = new Set<Promise<void>>();
  const began = performance.now();
  for (let n = 0; n < rate * seconds; n++) {
    const due = began + (n * 1000) / rate;
    if (performance.now() < due) await Bun.sleep(due - performance.now());
    while (open.size >= MOST_OPEN) await Promise.race(open);
    const among = nodes();
    const node = among[n % among.length] ?? 0;
    const stream = streams > 0 && n % streams === 0;
    const planned: PlannedCall = {
      caller: "chat",
      vendor: "chat",
      model: MODELS[n % MODELS.length] ?? "",
      stream,
      node,
      token: keyOf[tokens](n),
      fates: ["answers"],
      input: 100 + (n % 50),
      output: 20 + (n % 30),
      pieces: stream ? 40 : 10,
      paceMs: stream ? 25 : 0,
      headMs: 0,
      waitMs: 0,
      ...(limitMs !== undefined && { limitMs }),
    };
    const beganAt = performance.now();
    const call = bed.make(planned).then((record) => {
      samples.push({ node, beganAt, endedAt: performance.now(), stream, fate: fateOf(record), record });
    });
    const tracked: Promise<void> = call.finally(() => open.delete(tracked));
    open.add(tracked);
  }
  await Promise.all(open);
  return samples;
}

/** Milliseconds below which a share of the plain calls took that fit and were answered whole. */
export function latency(
  samples: readonly Sample[],
  share: number,
  fits: (one: Sample) => boolean = () => true,
): number {
  const all = samples
    .filter((one) => !one.stream && one.fate === "delivered whole" && fits(one))
    .map(({ beganAt, endedAt }) => endedAt - beganAt)
    .sort((a, b) => a - b);
  return all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? Number.NaN;
}

/** "1,200 calls: 1,198 delivered whole, 2 no answer" */
export function fatesOf(samples: readonly Sample[]): string {
  const counts = [...Map.groupBy(samples, ({ fate }) => fate)].map(([fate, some]) => `${some.length} ${fate}`);
  return `${samples.length} calls: ${counts.join(", ")}`;
}

/** Waits for locks of more than NOTED_WAIT_MS that have ended so far, in milliseconds. */
export function longWaits({ folder }: Server): number[] {
  const file = join(folder, "data/log/server.log");
  if (!existsSync(file)) return [];
  return [...readFileSync(file, "utf8").matchAll(/ acquired \w+ on .* after ([\d.]+) ms/g)].map(([, ms]) => Number(ms));
}

/**
 * Gives the server the last core and everything that this process starts the others, as if it had a machine of its own:
 * else what the nodes do to the caches of a core counts as the server's work. Returns how to undo it; nothing happens
 * on one core and without `taskset`.
 */
export function setApart({ pid }: Server): { apart: boolean; undo(): void } {
  const last = availableParallelism() - 1;
  const pin = (cores: string, to: number): boolean =>
    Bun.which("taskset") !== null && Bun.spawnSync(["taskset", "-acp", cores, String(to)]).success;
  const apart = last > 0 && pin(String(last), pid) && pin(`0-${last - 1}`, process.pid);
  return { apart, undo: () => void (apart && pin(`0-${last}`, process.pid)) };
}

/** Deadlocks of all databases of the server. */
export const deadlocks = async ({ admin }: Server): Promise<number> =>
  Number((await admin`SELECT sum(deadlocks)::int AS n FROM pg_stat_database`)[0]?.n ?? 0);

/** Waits until `holds`, at most so long; the milliseconds it took, or undefined. */
export async function timeUntil(ms: number, holds: () => Promise<boolean>, everyMs = 20): Promise<number | undefined> {
  const began = performance.now();
  for (;;) {
    if (await holds()) return performance.now() - began;
    if (performance.now() - began > ms) return undefined;
    await Bun.sleep(everyMs);
  }
}

export const seconds = (ms: number | undefined): string =>
  ms === undefined ? "not in time" : `${(ms / 1000).toFixed(2)} s`;
