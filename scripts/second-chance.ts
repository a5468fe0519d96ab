/**
 * A failed end-to-end test is run once more, alone. A machine that stands still for ten seconds then costs a line that
 * says FLAKY instead of a release; a test that fails twice has failed. A FLAKY line is a bug to be fixed
 * (CONTRIBUTING.md).
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FailedTest, readReport } from "./junit";
import { ROOT, runCommand } from "./run-command";

/** More failures than this are no coincidence, and none is run again. */
const MOST = 5;

export interface SecondChance {
  testSeconds: number;
  /** The folder for both outputs of every test that passed the second time; created only when there is one. */
  keepIn: string;
  /** Folder to which the files' paths are relative. Default: the project. */
  cwd?: string;
}

/** Runs each failed test again, one after the other, and returns the names of those that passed this time. */
export async function secondChance(
  failed: FailedTest[],
  { testSeconds, keepIn, cwd = ROOT }: SecondChance,
): Promise<string[]> {
  rmSync(keepIn, { force: true });
  if (failed.length > MOST) {
    console.log(`${failed.length} tests failed; more than ${MOST} are not tried again.`);
    return [];
  }
  const kept: { name: string; outputs: string }[] = [];
  for (const test of failed) {
    const name = `${test.file} > ${test.path.join(" > ")}`;
    console.log(`\nonce more: ${name}`);
    const { passed, output } = await runAlone(test, testSeconds, cwd);
    if (passed) {
      kept.push({
        name,
        outputs: `## ${name}\n\n### failed first\n\n${test.text}\n\n### then passed, alone\n\n${output}\n`,
      });
      console.log(`FLAKY: ${name}`);
    } else console.log(`${output.trimEnd()}\nfailed again: ${name}`);
  }
  if (kept.length > 0) writeFileSync(keepIn, kept.map(({ outputs }) => outputs).join("\n"));
  return kept.map(({ name }) => name);
}

async function runAlone(
  test: FailedTest,
  testSeconds: number,
  cwd: string,
): Promise<{ passed: boolean; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), "weir-again-"));
  const report = join(folder, "report.xml");
  const pattern = `^${test.path.join(" ").replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`;
  const { code, output } = await runCommand(
    [
      process.execPath,
      "test",
      `--timeout=${testSeconds * 1000}`,
      "-t",
      pattern,
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      `./${test.file}`,
    ],
    // Added to the test's own limit: starting a browser and a Weir.
    { timeoutMs: (testSeconds + 120) * 1000, cwd },
  );
  const { counts } = readReport(existsSync(report) ? readFileSync(report, "utf8") : "", [test.file]);
  rmSync(folder, { recursive: true, force: true });
  return { passed: code === 0 && counts.passed > 0 && counts.failed === 0, output };
}
