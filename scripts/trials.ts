/**
 * `npm run trials -- [minutes] [--engine sqlite|postgres] [--seed N] [--only NAME] [--smoke]`: real processes, calls of
 * all kinds and faults by a seeded schedule, compared with an independent book (docs/trials.md). One minute and both
 * engines unless named; the time is shared by the trials of tests/trials/. Prints what was done and what did not hold,
 * and ends with 1 then; the output of the processes is kept in tests/.artifacts.
 *
 * `npm run trials -- nodes [minutes] [--only NAME] [--rate N]`: experiments with several nodes on one Postgres in real
 * time instead (tests/trials/nodes/), at 300 calls a second unless named; `minutes` (5) of a rolling change.
 *
 * `--smoke`: one small round of each trial, each on one engine in turn, always by the same seed unless one is named,
 * and over after 75 seconds whatever happens. On a machine so slow that not all of them fit the last ones are left out,
 * and named. The seed decides with which it begins.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { ENGINES } from "../tests/kit/databases";
import { runTrial, type Trial } from "../tests/kit/trial/trial";
import { EXPERIMENT_NAMES, runExperiments } from "../tests/trials/nodes/run";
import type { Tally } from "../tests/kit/trial/testbed";
import { ROOT } from "./run-command";

const ARTIFACTS = join(ROOT, "tests/.artifacts");

/** A smoke run is over by then, begins no trial after this, and makes such a share of a round's calls and faults. */
const SMOKE_MS = 75_000;
const SMOKE_LAST_MS = 42_000;
/** How long the ledger has to agree with the book. */
const SMOKE_REST_MS = 20_000;
const SMOKE_SHARE = 0.2;

const trialNames = (): string[] =>
  [...new Bun.Glob("tests/trials/*.ts").scanSync({ cwd: ROOT })]
    .filter((file) => !file.endsWith(".test.ts"))
    .map((file) => basename(file, ".ts"))
    .sort();

/** The same names, beginning with another. */
const turned = (names: readonly string[], by: number): string[] => [
  ...names.slice(by % names.length),
  ...names.slice(0, by % names.length),
];

/** "callers of chat: 12 delivered whole, 3 left" */
const linesOf = (tally: Tally): string[] =>
  [...tally]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([subject, counts]) => {
      const parts = [...counts].sort(([, a], [, b]) => b - a).map(([what, count]) => `${count} ${what}`);
      return `${subject}: ${parts.join(", ")}`;
    });

/** Experiments with nodes. */
async function nodes(minutes: number, rate: number, only: string | undefined): Promise<number> {
  const names = EXPERIMENT_NAMES.filter((name) => only === undefined || only === name);
  if (!(minutes > 0) || !(rate > 0) || names.length === 0) {
    console.error(`usage: npm run trials -- nodes [minutes] [--only ${EXPERIMENT_NAMES.join("|")}] [--rate N]`);
    return 2;
  }
  const { broken, output } = await runExperiments(names, { minutes, rate });
  console.log(broken.length === 0 ? "\nEverything held." : `\n${broken.length} did not hold:\n${broken.join("\n")}`);
  if (broken.length === 0) return 0;
  mkdirSync(ARTIFACTS, { recursive: true });
  const file = join(ARTIFACTS, "trials-nodes.log");
  writeFileSync(file, `${broken.join("\n")}\n\n${output}`);
  console.log(`output of the processes: ${file}`);
  return 1;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      engine: { type: "string" },
      seed: { type: "string" },
      only: { type: "string" },
      smoke: { type: "boolean", default: false },
      rate: { type: "string", default: "300" },
    },
  });
  if (positionals[0] === "nodes") return nodes(Number(positionals[1] ?? 5), Number(values.rate), values.only);
  const { smoke } = values;
  const minutes = Number(positionals[0] ?? 1);
  const seed = Number(values.seed ?? (smoke ? 1 : Math.floor(Date.now() / 1000)));
  const engines = ENGINES.filter((engine) => values.engine === undefined || values.engine === engine);
  const names = trialNames().filter((name) => values.only === undefined || values.only === name);
  if (!(minutes > 0) || !Number.isInteger(seed) || engines.length === 0 || names.length === 0) {
    console.error(
      `usage: npm run trials -- [minutes] [--engine ${ENGINES.join("|")}] [--seed N] [--only ${trialNames().join("|")}] [--smoke]`,
    );
    return 2;
  }
  const length = smoke ? "one small round each" : `${minutes} min`;
  console.log(`seed ${seed}, ${length}: ${names.join(", ")} on ${engines.join(" and ")}`);
  if (smoke) {
    const late = (): void => {
      console.log(`\nNot over after ${SMOKE_MS / 1000} s (seed ${seed}).`);
      process.exit(1);
    };
    setTimeout(late, SMOKE_MS).unref();
  }
  const ms = smoke ? 0 : (minutes * 60_000) / (engines.length * names.length);
  const share = smoke ? SMOKE_SHARE : 1;
  const broken: string[] = [];
  const left = smoke
    ? turned(names, seed).map((name, n) => ({ name, engine: engines[n % engines.length] ?? "sqlite" }))
    : engines.flatMap((engine) => names.map((name) => ({ name, engine })));
  for (let next = left.shift(); next; next = left.shift()) {
    const { name, engine } = next;
    if (smoke && performance.now() > SMOKE_LAST_MS) {
      console.log(`\n${name} on ${engine}: left out, for want of time`);
      continue;
    }
    const { trial } = (await import(join(ROOT, "tests/trials", `${name}.ts`))) as { trial: Trial };
    const began = Date.now();
    const result = await runTrial(name, trial, { engine, seed, ms, share, ...(smoke && { restMs: SMOKE_REST_MS }) });
    const seconds = ((Date.now() - began) / 1000).toFixed(0);
    console.log(`\n${name} on ${engine}: ${trial.what}. ${result.rounds} rounds, ${seconds} s`);
    for (const line of linesOf(result.tally)) console.log(`  ${line}`);
    for (const line of result.broken) console.log(`  DID NOT HOLD: ${line}`);
    broken.push(...result.broken);
    if (result.broken.length === 0) continue;
    const file = join(ARTIFACTS, `trials-${name}-${engine}-${seed}.log`);
    mkdirSync(ARTIFACTS, { recursive: true });
    writeFileSync(file, `${result.broken.join("\n")}\n\n${result.output}`);
    console.log(`  output of the processes: ${file}`);
  }
  console.log(broken.length === 0 ? "\nEverything held." : `\n${broken.length} did not hold:\n${broken.join("\n")}`);
  return broken.length === 0 ? 0 : 1;
}

process.exit(await main());
