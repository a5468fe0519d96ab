/**
 * `npm run check`: everything about the code that can be proven without a server, side by side, with the time of each
 * step. `npm run check -- lint types` runs some of them.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { addCounts, type Counts, noCounts, readReport, summaryLine } from "./junit";
import { endAllCommands, ROOT, runCommand } from "./run-command";

interface StepResult {
  counts: Counts;
  /** What to read when it failed. */
  output: string;
}

const bin = (name: string): string[] => [process.execPath, "--bun", join(ROOT, "node_modules/.bin", name)];
const LIMIT = 5 * 60_000;
/** max_line_length of .editorconfig; oxfmt holds code to it, but leaves comments and long strings alone. */
const WIDTH = 120;

/** A command that says yes or no counts as one check. */
async function command(args: string[], env: Record<string, string> = {}): Promise<StepResult> {
  const { code, output, timedOut } = await runCommand(args, { timeoutMs: LIMIT, env });
  const failed = code === 0 ? 0 : 1;
  return {
    counts: { passed: 1 - failed, failed, skipped: 0 },
    output: timedOut ? `${output}\nnot finished in time` : output,
  };
}

async function tests(files: string[]): Promise<StepResult> {
  const folder = mkdtempSync(join(tmpdir(), "weir-check-"));
  const report = join(folder, "report.xml");
  const { code, output } = await runCommand(
    [
      process.execPath,
      "test",
      "--only-failures",
      "--timeout=20000",
      "--parallel=2",
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...files.map((file) => `./${file}`),
    ],
    { timeoutMs: LIMIT },
  );
  const { counts, missing } = readReport(existsSync(report) ? readFileSync(report, "utf8") : "", files);
  rmSync(folder, { recursive: true, force: true });
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return { counts, output: [output, ...missing.map((file) => `${file}: no test ran`)].join("\n") };
}

/** Text files of the project, as git knows them: committed, or new and not ignored. */
async function projectFiles(): Promise<string[]> {
  const { output } = await runCommand(["git", "ls-files", "--cached", "--others", "--exclude-standard"], {
    timeoutMs: LIMIT,
  });
  return output
    .split("\n")
    .filter(
      (file) => /\.(tsx?|mjs|css|html|json|md|toml|sh|conf|service|ya?ml)$/.test(file) && existsSync(join(ROOT, file)),
    );
}

/**
 * oxfmt for code (.oxfmtrc.json leaves out the tables with one entry a line), and what .editorconfig says for the rest.
 * Space at the end of a line means a break in Markdown; generated and recorded files are as they are.
 */
async function formatting(): Promise<StepResult> {
  const faults: string[] = [];
  for (const file of await projectFiles()) {
    if (/^drizzle\/|\/fixtures\/|^bun\.lock$/.test(file)) continue;
    const text = readFileSync(join(ROOT, file), "utf8");
    if (text.includes("\r")) faults.push(`${file}: line ends with CR`);
    if (text !== "" && !text.endsWith("\n")) faults.push(`${file}: no newline at the end`);
    text.split("\n").forEach((line, index) => {
      if (/\.(tsx?|mjs|css)$/.test(file) && line.includes("\t")) faults.push(`${file}:${index + 1}: tab`);
      if (!file.endsWith(".md") && /[ \t]$/.test(line)) faults.push(`${file}:${index + 1}: space at the end`);
      const isComment = /\.(tsx?|mjs)$/.test(file) && /^\s*(\/\/|\/?\*)/.test(line);
      if (isComment && line.length > WIDTH && !/https?:\S{40}/.test(line))
        faults.push(`${file}:${index + 1}: comment over ${WIDTH} columns`);
    });
  }
  const oxfmt = await command([...bin("oxfmt"), "--check", "."]);
  if (oxfmt.counts.failed > 0) faults.push(oxfmt.output, "`npm run format` formats");
  return {
    counts: { passed: faults.length ? 0 : 1, failed: faults.length ? 1 : 0, skipped: 0 },
    output: faults.join("\n"),
  };
}

/** drizzle-kit must find nothing to generate: the schema and the committed migrations say the same. */
async function migrations(): Promise<StepResult> {
  const sum: StepResult = { counts: noCounts(), output: "" };
  const engines = [
    { folder: "sqlite", dialect: "sqlite", schema: "drizzle/schema.sqlite.ts" },
    { folder: "postgres", dialect: "postgresql", schema: "drizzle/schema.pg.ts" },
  ];
  for (const { folder, dialect, schema } of engines) {
    const copy = mkdtempSync(join(tmpdir(), "weir-migrations-"));
    cpSync(join(ROOT, "drizzle", folder), copy, { recursive: true });
    const files = (): number => readdirSync(copy).filter((name) => name.endsWith(".sql")).length;
    const before = files();
    // Relative: drizzle-kit cannot read an absolute folder, and ends with 0 all the same; so its word counts.
    const out = relative(ROOT, copy);
    const { output } = await command([
      ...bin("drizzle-kit"),
      "generate",
      "--dialect",
      dialect,
      "--schema",
      schema,
      "--out",
      out,
    ]);
    const clean = output.includes("No schema changes") && files() === before;
    addCounts(sum.counts, { passed: clean ? 1 : 0, failed: clean ? 0 : 1, skipped: 0 });
    if (!clean)
      sum.output += `${output}\n${folder}: src/server/db/schema.ts is ahead of the migrations: npm run db:generate <name>\n`;
    rmSync(copy, { recursive: true, force: true });
  }
  return sum;
}

const STEPS: Record<string, () => Promise<StepResult>> = {
  format: formatting,
  lint: () => command(bin("oxlint")),
  // Files, exports and packages that nothing uses; knip.jsonc says what is used without an import.
  unused: () => command(bin("knip")),
  // What did not change since the last run is not checked again.
  types: () =>
    command(
      bin("tsc").concat("--noEmit", "--incremental", "--tsBuildInfoFile", "node_modules/.cache/types.tsbuildinfo"),
    ),
  architecture: () => tests(["tests/architecture.test.ts"]),
  migrations,
  catalogues: () => command([process.execPath, "scripts/i18n.ts", "--check"]),
  docs: () => command([process.execPath, "scripts/docs.ts", "--check"]),
  unit: async () => {
    // As in scripts/test.ts: the shared test server must not belong to one of the test files.
    if (!process.env.WEIR_TEST_POSTGRES_URL) await (await import("../tests/kit/databases")).postgresServer();
    return tests([...new Bun.Glob("src/**/*.test.ts").scanSync({ cwd: ROOT })].sort());
  },
};

/** Runs the steps, two at a time, and prints each as it ends; the unit tests have a tier of their own in `npm test`. */
export async function runChecks(
  names: string[] = Object.keys(STEPS).filter((name) => name !== "unit"),
): Promise<Counts> {
  const total = noCounts();
  const waiting = [...names];
  const worker = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const started = performance.now();
      const { counts, output } = (await STEPS[name]?.()) ?? { counts: noCounts(), output: "" };
      addCounts(total, counts);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      if (counts.failed > 0) console.log(output.trimEnd());
      console.log(
        `${counts.failed > 0 ? "✗" : "✓"} ${name.padEnd(13)} ${seconds.padStart(5)} s  ${summaryLine(counts)}`,
      );
    }
  };
  await Promise.all([worker(), worker()]);
  return total;
}

if (import.meta.main) {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      endAllCommands();
      process.exit(130);
    });
  }
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => !(name in STEPS));
  if (unknown.length > 0) {
    console.error(`No such step: ${unknown.join(", ")}. Steps: ${Object.keys(STEPS).join(", ")}`);
    process.exit(2);
  }
  const total = await runChecks(names.length > 0 ? names : Object.keys(STEPS));
  console.log(summaryLine(total));
  process.exit(total.failed > 0 ? 1 : 0);
}
