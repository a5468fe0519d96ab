/**
 * Every test, in tiers that print their time: `npm test`, or `npm test -- unit money` for some of them.
 *
 * The last line is `N passed, N failed` (`, N skipped`), summed over the tiers. In a CI (CI=true), and with
 * WEIR_REQUIRE_ALL=1 (.ci/run), a skipped test, and a tier in which none ran, is a failure.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runChecks } from "./check";
import { findChromium } from "./chromium";
import { addCounts, type Counts, failedTests, noCounts, readReport, summaryLine } from "./junit";
import { isEverythingRequired, missingProgram, type Program, PROGRAMS } from "./programs";
import { endAllCommands, ROOT, runCommand } from "./run-command";
import { secondChance } from "./second-chance";

interface Tier {
  name: string;
  /** The tier's files among all test files (paths relative to the project). */
  takes(file: string): boolean;
  /** Worker processes. */
  parallel: number;
  /**
   * Files of a worker share their modules: most of a small file's time goes into loading the server. What a file leaves
   * behind is then there in the next one, so not for files that make a document or leave servers to the end.
   */
  shared?: true;
  /** Limit of one test and of the whole tier. */
  testSeconds: number;
  tierMinutes: number;
  /** A test that fails is run once more at the end, alone (scripts/second-chance.ts). */
  secondChance?: true;
}

const within = (file: string, ...folders: string[]): boolean => folders.some((folder) => file.startsWith(`${folder}/`));

/** In order; a file belongs to the first that matches. */
const TIERS: Tier[] = [
  {
    name: "e2e",
    takes: (file) => within(file, "tests/e2e", "tests/security/browser", "tests/outside/browser"),
    // A part of their time is waiting for pages to settle.
    parallel: 3,
    testSeconds: 60,
    tierMinutes: 25,
    secondChance: true,
  },
  {
    name: "money",
    takes: (file) => within(file, "tests/database", "tests/money"),
    parallel: 2,
    testSeconds: 120,
    tierMinutes: 20,
    secondChance: true,
  },
  {
    name: "component",
    takes: (file) => within(file, "src/client") || file.endsWith(".test.tsx"),
    parallel: 2,
    testSeconds: 20,
    tierMinutes: 6,
    secondChance: true,
  },
  {
    name: "unit",
    takes: (file) => within(file, "src"),
    parallel: 2,
    shared: true,
    testSeconds: 20,
    tierMinutes: 6,
    secondChance: true,
  },
  {
    name: "clients",
    takes: (file) => file === "tests/clients/smoke.test.ts",
    parallel: 1,
    testSeconds: 60,
    tierMinutes: 4,
    secondChance: true,
  },
  // The architecture test belongs to the checks.
  {
    name: "integration",
    takes: (file) => file !== "tests/architecture.test.ts",
    // A third of their time is waiting.
    parallel: 3,
    testSeconds: 60,
    tierMinutes: 20,
    secondChance: true,
  },
];
const ORDER = ["check", "unit", "component", "money", "integration", "clients", "trials", "e2e"];

const requireAll = isEverythingRequired();
const notices: string[] = [];

/** Files that take longer than their size suggests: they restart servers, build binaries, or open many pages. */
const LONG = [
  "tests/e2e/channels.test.ts",
  "tests/e2e/channel-operations.test.ts",
  "tests/e2e/screens.test.ts",
  "tests/e2e/playground.test.ts",
  "tests/e2e/public-pages.test.ts",
  "tests/relay/money-over-http.test.ts",
  "tests/packaging/binary.test.ts",
  "tests/packaging/recipes.test.ts",
  "tests/packaging/scripts.test.ts",
  "tests/packaging/start.test.ts",
  "tests/outside/upgrade.test.ts",
  "tests/outside/long-outage.test.ts",
  "tests/outside/silent-database.test.ts",
  "tests/outside/streams-end.test.ts",
  "tests/outside/reset-links.test.ts",
  "tests/outside/unlisted-proxy.test.ts",
  "tests/outside/swept-budgets.test.ts",
  "tests/outside/damaged-database.test.ts",
  "tests/outside/stalled-requests.test.ts",
  "tests/outside/logging-and-boundary.test.ts",
];

/** These first, then by size, so that no worker is still busy with a long file at the end. */
const longestFirst = (files: string[]): string[] => {
  const length = new Map(
    files.map((file) => [file, statSync(join(ROOT, file)).size * (LONG.includes(file) ? 1000 : 1)]),
  );
  return files.toSorted((a, b) => (length.get(b) ?? 0) - (length.get(a) ?? 0));
};

async function runTier(tier: Tier, files: string[]): Promise<Counts> {
  if (tier.name === "e2e") {
    const chromium = findChromium();
    if (!chromium) {
      return { ...noCounts(), skipped: files.length };
    }
    process.env.WEIR_CHROMIUM = chromium;
  }
  if (!process.env.WEIR_TEST_POSTGRES_URL && tier.name !== "component") await startPostgres();
  const folder = mkdtempSync(join(tmpdir(), "weir-tests-"));
  const report = join(folder, "report.xml");
  const command = [
    process.execPath,
    "test",
    "--only-failures",
    `--timeout=${tier.testSeconds * 1000}`,
    `--parallel=${tier.parallel}`,
    ...(tier.shared ? ["--no-isolate"] : []),
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    ...longestFirst(files).map((file) => `./${file}`),
  ];
  const { code, timedOut } = await runCommand(command, { timeoutMs: tier.tierMinutes * 60_000, show: true });
  const xml = readIfThere(report);
  const { counts, missing } = readReport(xml, files);
  rmSync(folder, { recursive: true, force: true });
  if (timedOut) console.log(`${tier.name}: not finished within ${tier.tierMinutes} minutes`);
  for (const file of missing)
    console.log(`${file}: no test ran (it could not be loaded, has none, or ended the process)`);
  // Errors between tests fail the run without failing a test.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  if (tier.secondChance && !timedOut) {
    const kept = `tests/.artifacts/flaky-${tier.name}.txt`;
    const flaky = await secondChance(failedTests(xml), { testSeconds: tier.testSeconds, keepIn: join(ROOT, kept) });
    counts.failed -= flaky.length;
    counts.passed += flaky.length;
    notices.push(...flaky.map((name) => `FLAKY: ${name} (both outputs: ${kept})`));
  }
  return counts;
}

/** The short form of `npm run trials`; what did not hold is tried once more, and then named as flaky. */
async function runTrials(): Promise<Counts> {
  const command = [process.execPath, "scripts/trials.ts", "--smoke"];
  for (const again of [false, true]) {
    const { code } = await runCommand(command, { timeoutMs: 2 * 60_000, show: true });
    if (code !== 0) continue;
    if (again) notices.push("FLAKY: trials (the output of the processes: tests/.artifacts)");
    return { ...noCounts(), passed: 1 };
  }
  return { ...noCounts(), failed: 1 };
}

/**
 * Starts the shared test server as our child: `bun test --isolate` ends what a file has started, and the keeper of a
 * server that a file started would end with it and leave the server behind. Without us, each file starts its own.
 */
async function startPostgres(): Promise<void> {
  const { postgresServer } = await import("../tests/kit/databases");
  await postgresServer();
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const testFiles = (): string[] =>
  [...new Bun.Glob("{src,tests,scripts}/**/*.test.{ts,tsx}").scanSync({ cwd: ROOT })]
    .filter((file) => !file.includes("node_modules"))
    .sort();

async function main(wanted: string[]): Promise<number> {
  const unknown = wanted.filter((name) => !ORDER.includes(name));
  if (unknown.length > 0) {
    console.error(`No such tier: ${unknown.join(", ")}. Tiers: ${ORDER.join(", ")}`);
    return 2;
  }
  const left = new Set(testFiles());
  const filesOf = new Map(
    TIERS.map((tier) => {
      const files = [...left].filter((file) => tier.takes(file));
      for (const file of files) left.delete(file);
      return [tier.name, files] as const;
    }),
  );

  const total = noCounts();
  const lines: string[] = [];
  let unmet = 0;
  for (const name of ORDER.filter((tier) => wanted.length === 0 || wanted.includes(tier))) {
    const started = performance.now();
    const tier = TIERS.find((candidate) => candidate.name === name);
    const files = filesOf.get(name) ?? [];
    console.log(`\n── ${name}${tier ? `: ${files.length} files` : ""}`);
    let counts = noCounts();
    if (name === "check") counts = await runChecks();
    else if (!tier) counts = await runTrials();
    else if (files.length > 0) counts = await runTier(tier, files);
    const ran = counts.passed + counts.failed > 0;
    if (requireAll && (counts.skipped > 0 || !ran)) unmet++;
    addCounts(total, counts);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const line = `${name.padEnd(12)} ${seconds.padStart(6)} s  ${ran || counts.skipped ? summaryLine(counts) : "empty: no test files"}`;
    lines.push(line);
    console.log(line);
  }

  if (total.skipped > 0)
    for (const name of Object.keys(PROGRAMS) as Program[])
      if (PROGRAMS[name].find() === undefined) notices.push(`SKIPPED: ${missingProgram(name)}`);
  console.log(`\n${lines.join("\n")}`);
  for (const notice of notices) console.log(`\n!!! ${notice}`);
  if (unmet > 0) console.log(`\n${unmet} tiers skipped a test or ran none, and CI or WEIR_REQUIRE_ALL forbids that.`);
  console.log(`\n${summaryLine(total)}`);
  return total.failed > 0 || unmet > 0 ? 1 : 0;
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    endAllCommands();
    process.exit(130);
  });
}
mkdirSync(join(ROOT, "tests/.artifacts"), { recursive: true });
process.exit(await main(process.argv.slice(2)));
