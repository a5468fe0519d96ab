/**
 * `npm run mutate`: changes one small thing of a source file at a time and runs the tests that are named for the file.
 * A change that no test notices shows what is not tested. In copies of the project: the working tree is never touched.
 *
 * `npm run mutate -- src/shared/charge.ts --sample 40 --seed 2 --workers 2 --write`: without files all targets
 * (scripts/mutate/targets.ts); `--write` puts the figures into docs/mutation.md. Ends with 1 when a file scores less
 * than its target allows, or when its tests are red by themselves.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { EQUIVALENT } from "./mutate/equivalent";
import { applied, isValid, lineBeforeAndAfter, type Mutant, mutantsOf, sampleOf } from "./mutate/mutators";
import { pageWith, type Row } from "./mutate/page";
import { type Target, TARGETS } from "./mutate/targets";
import { endAllCommands, ROOT, runCommand } from "./run-command";

type Verdict = "killed" | "survived" | "timed out" | "invalid" | "equivalent";

const PAGE = join(ROOT, "docs/mutation.md");
const BASELINE_LIMIT = 5 * 60_000;

interface Options {
  files: string[];
  sample: number;
  seed: number;
  workers: number;
  write: boolean;
}

function optionsOf(args: readonly string[]): Options {
  const options: Options = { files: [], sample: Infinity, seed: 1, workers: 1, write: false };
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--write") options.write = true;
    else if (arg === "--sample" || arg === "--seed" || arg === "--workers") {
      const value = Number(rest.shift());
      if (!Number.isInteger(value) || value < 1) throw new Error(`${arg} needs a number from 1`);
      options[arg === "--sample" ? "sample" : arg === "--seed" ? "seed" : "workers"] = value;
    } else if (arg.startsWith("-")) throw new Error(`No such option: ${arg}`);
    else options.files.push(relative(ROOT, resolve(arg)));
  }
  return options;
}

function targetOf(file: string): Target {
  const known = TARGETS.find((target) => target.file === file);
  if (known) return known;
  const beside = file.replace(/\.tsx?$/, ".test.ts");
  if (!existsSync(join(ROOT, file))) throw new Error(`${file} does not exist`);
  if (!existsSync(join(ROOT, beside))) throw new Error(`${file} has no test beside it and is none of the targets`);
  return { file, tests: [beside], least: 0 };
}

/** A copy of what git knows of the project, uncommitted changes included; node_modules is shared. */
async function copyOfProject(): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), "weir-mutate-"));
  const { output } = await runCommand(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    timeoutMs: 60_000,
  });
  for (const file of output.split("\0").filter((name) => name !== "" && existsSync(join(ROOT, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    copyFileSync(join(ROOT, file), join(copy, file));
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  mkdirSync(join(copy, "tests/.artifacts/tmp"), { recursive: true });
  return copy;
}

async function runTests(copy: string, target: Target, timeoutMs: number): ReturnType<typeof runCommand> {
  const outcome = await runCommand(
    [process.execPath, "test", "--bail", "--isolate", "--timeout=20000", ...target.tests.map((test) => `./${test}`)],
    // What tests leave in the temporary folder goes with the copy.
    { timeoutMs, cwd: copy, env: { TMPDIR: join(copy, "tests/.artifacts/tmp") } },
  );
  rmSync(join(copy, "tests/.artifacts/tmp"), { recursive: true, force: true });
  mkdirSync(join(copy, "tests/.artifacts/tmp"), { recursive: true });
  return outcome;
}

const isEquivalent = (file: string, source: string, mutant: Mutant): boolean => {
  const [line, becomes] = lineBeforeAndAfter(source, mutant);
  return EQUIVALENT.some((known) => known.file === file && known.line === line && known.becomes === becomes);
};

async function judge(copy: string, target: Target, source: string, mutant: Mutant, limit: number): Promise<Verdict> {
  if (isEquivalent(target.file, source, mutant)) return "equivalent";
  const changed = applied(source, mutant);
  if (!isValid(changed)) return "invalid";
  const path = join(copy, target.file);
  writeFileSync(path, changed);
  try {
    const { code, timedOut } = await runTests(copy, target, limit);
    return timedOut ? "timed out" : code === 0 ? "survived" : "killed";
  } finally {
    writeFileSync(path, source);
  }
}

function report(source: string, mutant: Mutant, verdict: Verdict): void {
  const short = (text: string): string => text.replace(/\s+/g, " ").slice(0, 100);
  const [before, after] = lineBeforeAndAfter(source, mutant);
  console.log(
    `  ${verdict.padEnd(10)} ${mutant.line}: ${short(mutant.original)} -> ${short(mutant.replacement) || "(gone)"}`,
  );
  if (verdict === "survived") console.log(`             ${before}\n             ${after}`);
}

/** Undefined: the tests are red before anything was changed. */
async function mutate(target: Target, copies: readonly string[], options: Options): Promise<Row | undefined> {
  const source = readFileSync(join(ROOT, target.file), "utf8");
  const all = mutantsOf(source);
  const drawn = sampleOf(source, all, options.sample, options.seed);
  const [first = ""] = copies;
  const baseline = await runTests(first, target, BASELINE_LIMIT);
  console.log(`\n${target.file}: ${drawn.length} of ${all.length} mutants, tests ${(baseline.ms / 1000).toFixed(1)} s`);
  if (baseline.code !== 0) {
    console.log(`${baseline.output.trimEnd()}\n${target.file}: its tests are red without any change`);
    return undefined;
  }
  const limit = 3 * baseline.ms + 5_000;
  const counts: Record<Verdict, number> = { killed: 0, survived: 0, "timed out": 0, invalid: 0, equivalent: 0 };
  const waiting = [...drawn];
  const work = async (copy: string): Promise<void> => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const verdict = await judge(copy, target, source, mutant, limit);
      counts[verdict]++;
      report(source, mutant, verdict);
    }
  };
  await Promise.all(copies.map(work));
  for (const known of EQUIVALENT.filter(({ file }) => file === target.file)) {
    const isThere = all.some((mutant) => {
      const [line, becomes] = lineBeforeAndAfter(source, mutant);
      return line === known.line && becomes === known.becomes;
    });
    if (!isThere) console.log(`  no mutant is like the equivalent one "${known.becomes}" any more`);
  }
  const noticed = counts.killed + counts["timed out"];
  const score = noticed + counts.survived === 0 ? 100 : (100 * noticed) / (noticed + counts.survived);
  console.log(
    `${target.file}: ${Object.entries(counts)
      .map(([verdict, count]) => `${count} ${verdict}`)
      .join(", ")}; score ${score.toFixed(1)} %, at least ${target.least} %`,
  );
  return {
    file: target.file,
    date: new Date().toISOString().slice(0, 10),
    all: all.length,
    tried: drawn.length,
    seed: options.seed,
    killed: counts.killed,
    timed_out: counts["timed out"],
    survived: counts.survived,
    equivalent: counts.equivalent,
    score,
  };
}

const copies: string[] = [];
function removeCopies(): void {
  for (const copy of copies.splice(0)) rmSync(copy, { recursive: true, force: true });
}

async function main(args: readonly string[]): Promise<number> {
  const options = optionsOf(args);
  const targets = options.files.length > 0 ? options.files.map(targetOf) : TARGETS;
  // One server for all: each copy would start its own.
  process.env.WEIR_TEST_POSTGRES_URL ??= await (await import("../tests/kit/databases")).postgresServer();
  for (let i = 0; i < options.workers; i++) copies.push(await copyOfProject());
  const poor: string[] = [];
  try {
    for (const target of targets) {
      const row = await mutate(target, copies, options);
      if (!row || row.score < target.least) poor.push(target.file);
      if (row && options.write) writeFileSync(PAGE, pageWith(existsSync(PAGE) ? readFileSync(PAGE, "utf8") : "", row));
    }
  } finally {
    removeCopies();
  }
  if (poor.length > 0) console.log(`\nBelow their target, or red without a change:\n${poor.join("\n")}`);
  return poor.length > 0 ? 1 : 0;
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    endAllCommands();
    removeCopies();
    process.exit(130);
  });
}
process.exit(await main(process.argv.slice(2)));
