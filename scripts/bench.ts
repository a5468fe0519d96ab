/**
 * `bun run bench [--quick] [--postgres] [--binary dist/weir] [--only "1 KB plain"] [--records N] [--write]`
 *
 * The fake upstream directly, a bare Elysia pass-through and Weir, each a separate process, alternated. Loopback only,
 * bounded in time: about 12 minutes and as long again for the rows, 60 seconds with --quick. --write replaces
 * docs/bench.md. --records: log and dashboard with so many rows (5000000 unless --quick or --only; 0: not). A missed
 * target is marked and makes the exit code 1 only with --strict, because figures of a busy machine are no verdict.
 *
 * `bun run bench translated translator gaps growth`: these parts instead, in the order of translated.ts; --write
 * replaces docs/bench-translated.md. `bun run bench postgres`: durable Postgres and what a call costs it
 * (docs/bench-postgres.md). `bun run bench instructions [--against FOLDER]`: instructions a call, counted by Valgrind.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { benchInstructions } from "./bench/instructions";
import { measureScenario, measureStart, measureStreams, type Pace } from "./bench/measure";
import { benchPostgres } from "./bench/postgres";
import { measureRecords } from "./bench/records";
import { type Figures, markdown, verdicts } from "./bench/report";
import { FULL, nameOf, QUICK } from "./bench/scenarios";
import { benchTranslation, type Part, PARTS, withSections } from "./bench/translated";
import { type MeasuredProcess, type MeasuredWeir, startBare, startMeasuredWeir, startUpstream } from "./bench/targets";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    postgres: { type: "boolean", default: false },
    binary: { type: "string" },
    only: { type: "string" },
    streams: { type: "string" },
    write: { type: "boolean", default: false },
    records: { type: "string" },
    strict: { type: "boolean", default: false },
    against: { type: "string" },
  },
});

const pace: Pace = flags.quick
  ? { rounds: 3, durationMs: 700, warmupMs: 200 }
  : { rounds: 5, durationMs: 2000, warmupMs: 500 };
const scenarios = (flags.quick ? QUICK : FULL).filter((s) => !flags.only || nameOf(s).includes(flags.only));
const streamCount = Number(flags.streams ?? (flags.quick ? 1000 : 3000));
const streamSamples = flags.quick ? [2, 5] : [3, 15, 30];
const recordRows = Number(flags.records ?? (flags.quick || flags.only ? 0 : 5_000_000));
const command = flags.binary ? [flags.binary] : undefined;

const say = (text: string): void => console.error(text);
const running: MeasuredProcess[] = [];
const started = Date.now();
const machine = `${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${arch()}, Bun ${Bun.version}`;
const date = new Date().toISOString().slice(0, 10);

if (positionals.includes("instructions")) {
  console.log(await benchInstructions(flags.against, say));
  process.exit();
}

if (positionals.includes("postgres")) {
  const measured = await benchPostgres(pace, command, say);
  console.log(measured);
  const head = `# Calls on Postgres\n\nWritten by \`bun run bench postgres --write\`; do not edit. ${date}. ${machine}.\n\n`;
  if (flags.write) writeFileSync(join(import.meta.dir, "../docs/bench-postgres.md"), head + measured);
  process.exit();
}

if (positionals.length > 0) {
  const unknown = positionals.find((part) => !(PARTS as readonly string[]).includes(part));
  if (unknown !== undefined) throw new Error(`no part ${unknown}; there are ${PARTS.join(", ")}`);
  const parts = await benchTranslation({
    parts: positionals as Part[],
    quick: flags.quick,
    only: flags.only,
    command,
    say,
  });
  console.log(parts);
  const path = join(import.meta.dir, "../docs/bench-translated.md");
  if (flags.write) {
    const head = `# Speed of translation\n\nWritten by \`bun run bench ${PARTS.join(" ")} --write\`, or some of these parts; do not edit. ${date}. ${machine}.${flags.quick ? " (--quick)" : ""}\n\n`;
    const before = existsSync(path) ? readFileSync(path, "utf8") : "";
    writeFileSync(path, withSections(head + before.slice(Math.max(0, before.indexOf("## "))), parts));
  }
  process.exit(flags.strict && parts.includes("**missed**") ? 1 : 0);
}

try {
  say("start time");
  const start = await measureStart(command, flags.quick ? 2 : 5);

  const upstream = await startUpstream();
  running.push(upstream);
  const bare = await startBare(upstream.url);
  running.push(bare);
  const weirs: MeasuredWeir[] = [await startMeasuredWeir("sqlite", upstream.url, command)];
  running.push(...weirs);
  if (flags.postgres) {
    const postgres = await startMeasuredWeir("postgres", upstream.url, command);
    weirs.push(postgres);
    running.push(postgres);
  }

  // Memory first: a process that has served load keeps pages it no longer needs.
  const streams: Figures["streams"] = new Map();
  for (const target of [bare, ...weirs]) {
    say(`${streamCount} open streams: ${target.name}`);
    await Bun.sleep(500);
    streams.set(target.name, await measureStreams(target, streamCount, streamSamples));
  }
  await settled(weirs);

  const figures: Figures = {
    scenarios: [],
    names: {
      direct: upstream.name,
      bare: bare.name,
      sqlite: weirs[0]?.name ?? "",
      ...(weirs[1] ? { postgres: weirs[1].name } : {}),
    },
    streams,
    start,
    startedFrom: command ? "binary" : "source",
    records: [],
  };
  const before = await Promise.all(weirs.map((weir) => weir.counted()));
  for (const scenario of scenarios) {
    say(nameOf(scenario));
    figures.scenarios.push({ scenario, cells: await measureScenario(scenario, running, pace) });
  }
  await settled(weirs);

  const cells = figures.scenarios.flatMap((s) => [...s.cells]);
  const audits = await Promise.all(
    weirs.map(async (weir, i) => {
      const sent = cells
        .filter(([name]) => name === weir.name)
        .reduce((sum, [, cell]) => sum + cell.sent - cell.failed, 0);
      const counted = (await weir.counted()) - (before[i] ?? 0);
      const findings = await weir.weir.audit();
      return `${weir.name}: ${sent} calls answered, ${counted} charged and logged, audit ${findings.length === 0 ? "clean" : `found ${findings.length} rows`}.`;
    }),
  );
  if (recordRows > 0) {
    for (const { engine } of weirs)
      figures.records.push(await measureRecords(engine, upstream.url, recordRows, pace.rounds, command, say));
  }
  const page = markdown(figures, {
    date,
    machine,
    settings: `${pace.rounds} rounds of ${pace.durationMs / 1000} s${flags.quick ? " (--quick)" : ""}.`,
    generator: `The load generator used at most ${(Math.max(0, ...cells.map(([, cell]) => cell.own_cpu)) * 100).toFixed(0)} % of a core.`,
    audit: audits.join(" "),
  });
  console.log(page);
  if (flags.write) writeFileSync(join(import.meta.dir, "../docs/bench.md"), page);
  const missed = verdicts(figures).filter((verdict) => !verdict.met);
  say(`${missed.length} targets missed; ${Math.round((Date.now() - started) / 1000)} s`);
  if (flags.strict && missed.length > 0) process.exitCode = 1;
} finally {
  for (const target of running.reverse()) await target.stop();
}
process.exit();

/** Unfinished streams are over and everything is charged: no hold is left. At most 20 s. */
async function settled(all: readonly MeasuredWeir[]): Promise<void> {
  for (const { weir } of all) {
    for (const deadline = Date.now() + 20_000; (await weir.holds()) > 0 && Date.now() < deadline;) await Bun.sleep(200);
  }
}
