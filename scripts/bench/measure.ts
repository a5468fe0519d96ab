/** The measurements, each alternating between the processes it compares. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess } from "../../tests/kit/weir-process";
import type { LoadResult, LoadSpec } from "./load";
import type { StreamsSpec } from "./open-streams";
import { type Memory, memory } from "./procfs";
import { KINDS, requestBody, type Scenario, SIZES, SLOW_MODEL } from "./scenarios";
import type { MeasuredProcess } from "./targets";

const script = (file: string): string => join(import.meta.dir, file);

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
};

/** Medians over the rounds of one scenario at one process. */
export interface Cell {
  p50: number;
  p99: number;
  first: number;
  rps: number;
  cpu_us: number;
  /** The largest of the rounds: how busy the generator was, of one core. */
  own_cpu: number;
  failed: number;
  sent: number;
}

export interface Pace {
  rounds: number;
  durationMs: number;
  warmupMs: number;
}

/** The JSON that a script prints when it is started with `spec`. */
export async function childResult<Result>(file: string, spec: object): Promise<Result> {
  const child = Bun.spawn([process.execPath, script(file), JSON.stringify(spec)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${file} failed: ${output}`);
  return JSON.parse(output) as Result;
}

export const load = (spec: LoadSpec): Promise<LoadResult> => childResult<LoadResult>("load.ts", spec);

/** One scenario at every process, alternated; the order rotates with each round. */
export async function measureScenario(
  scenario: Scenario,
  targets: readonly MeasuredProcess[],
  pace: Pace,
): Promise<Map<string, Cell>> {
  const { model, stream } = KINDS[scenario.kind];
  const body = requestBody(SIZES[scenario.size], model, stream);
  const results = new Map<string, LoadResult[]>(targets.map((target) => [target.name, []]));
  for (let round = 0; round < pace.rounds; round++) {
    for (let i = 0; i < targets.length; i++) {
      const target = targets[(i + round) % targets.length];
      if (!target) continue;
      const { url, key, pid, name } = target;
      const { concurrency } = scenario;
      const { durationMs, warmupMs } = pace;
      results
        .get(name)
        ?.push(await load({ url: `${url}/v1/chat/completions`, key, pid, body, concurrency, durationMs, warmupMs }));
    }
  }
  return new Map([...results].map(([name, rounds]) => [name, cellOf(rounds)]));
}

const cellOf = (rounds: readonly LoadResult[]): Cell => ({
  p50: median(rounds.map((r) => r.p50)),
  p99: median(rounds.map((r) => r.p99)),
  first: median(rounds.map((r) => r.first_p50)),
  rps: median(rounds.map((r) => r.calls / r.seconds)),
  cpu_us: median(rounds.map((r) => r.cpu_us)),
  own_cpu: Math.max(...rounds.map((r) => r.own_cpu)),
  failed: rounds.reduce((sum, r) => sum + r.failed, 0),
  sent: rounds.reduce((sum, r) => sum + r.sent, 0),
});

export interface StreamMemory {
  idle: Memory;
  /** Streams that were open with their first content. */
  open: number;
  /** One per sample, in order. */
  samples: { afterSeconds: number; memory: Memory }[];
}

/** Memory of a process with many quiet streams open, seconds after the last one was opened. */
export function measureStreams(
  target: MeasuredProcess,
  count: number,
  afterSeconds: readonly number[],
): Promise<StreamMemory> {
  const body = requestBody(SIZES["1 KB"], SLOW_MODEL, true);
  return holdStreams(target, { url: `${target.url}/v1/chat/completions`, key: target.key, body, count }, afterSeconds);
}

/** The same with streams of any kind. */
export async function holdStreams(
  target: MeasuredProcess,
  spec: StreamsSpec,
  afterSeconds: readonly number[],
): Promise<StreamMemory> {
  const idle = memory(target.pid);
  const child = Bun.spawn([process.execPath, script("open-streams.ts"), JSON.stringify(spec)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const reader = child.stdout.getReader();
  const first = await reader.read();
  const open = Number(/open (\d+)/.exec(new TextDecoder().decode(first.value))?.[1] ?? 0);
  const started = Date.now();
  const samples: StreamMemory["samples"] = [];
  for (const after of afterSeconds) {
    await Bun.sleep(Math.max(0, started + after * 1000 - Date.now()));
    samples.push({ afterSeconds: after, memory: memory(target.pid) });
  }
  await child.stdin.end();
  await child.exited;
  return { idle, open, samples };
}

export interface StartTime {
  /** Milliseconds from spawn to listening: empty folder (creates and migrates), and again on the same folder. */
  first: number;
  again: number;
  /** Memory a second after the second start. */
  idle: Memory;
}

export async function measureStart(command: readonly string[] | undefined, rounds: number): Promise<StartTime> {
  const firsts: number[] = [];
  const agains: number[] = [];
  let idle: Memory = { rss: 0, anonymous: 0 };
  for (let round = 0; round < rounds; round++) {
    const dataDir = mkdtempSync(join(tmpdir(), "weir-start-"));
    const env = { PORT: "0", WEIR_HOST: "127.0.0.1", WEIR_DATA_DIR: dataDir };
    for (const list of [firsts, agains]) {
      const running = await startProcess(command, env);
      list.push(running.startMs);
      if (list === agains && round === rounds - 1) {
        await Bun.sleep(1000);
        idle = memory(running.pid);
      }
      await running.stop();
    }
    rmSync(dataDir, { recursive: true, force: true });
  }
  return { first: median(firsts), again: median(agains), idle };
}
