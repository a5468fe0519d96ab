/**
 * The test runner is believed, so it is tested: what fails must count, what hangs must end, nothing may stay behind.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failedTests, readReport, summaryLine } from "../../scripts/junit";
import { isEverythingRequired } from "../../scripts/programs";
import { runCommand } from "../../scripts/run-command";
import { secondChance } from "../../scripts/second-chance";
import { required } from "../kit/required";

async function report(files: Record<string, string>): Promise<ReturnType<typeof readReport>> {
  const folder = mkdtempSync(join(tmpdir(), "weir-runner-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const xml = join(folder, "report.xml");
  await runCommand(
    [
      process.execPath,
      "test",
      "--isolate",
      "--reporter=junit",
      `--reporter-outfile=${xml}`,
      ...Object.keys(files).map((name) => `./${name}`),
    ],
    { timeoutMs: 30_000, cwd: folder },
  );
  const read = readReport(existsSync(xml) ? readFileSync(xml, "utf8") : "", Object.keys(files));
  rmSync(folder, { recursive: true, force: true });
  return read;
}

const lead = 'import { expect, test } from "bun:test";';

test("passed, failed and skipped tests of all files are counted", async () => {
  const { counts, missing } = await report({
    "a.test.ts": `${lead} test("one", () => expect(1).toBe(1)); test("two", () => expect(1).toBe(2)); test.skip("three", () => {});`,
    "b.test.ts": `${lead} test("four", () => expect(1).toBe(1)); test.todo("five");`,
  });
  expect(counts).toEqual({ passed: 2, failed: 1, skipped: 2 });
  expect(missing).toEqual([]);
});

test("a file that cannot be loaded, or has no test, is a failure and is named", async () => {
  const { counts, missing } = await report({
    "good.test.ts": `${lead} test("one", () => expect(1).toBe(1));`,
    "broken.test.ts": `import "./nothing"; ${lead} test("never", () => {});`,
    "empty.test.ts": "export {};",
  });
  expect(counts).toEqual({ passed: 1, failed: 2, skipped: 0 });
  expect(missing.sort()).toEqual(["broken.test.ts", "empty.test.ts"]);
});

test("a file that ends the process with success hides no other test", async () => {
  const { counts } = await report({
    "leaves.test.ts": `${lead} test("one", () => expect(1).toBe(1)); process.exit(0);`,
    "other.test.ts": `${lead} test("two", () => expect(1).toBe(1));`,
  });
  expect(counts.failed).toBeGreaterThan(0);
});

/**
 * Runs the files in their own folder, then runs the failed tests once more; returns what passed then and the stored
 * output.
 */
async function twice(files: Record<string, string>): Promise<{ failed: string[]; flaky: string[]; kept: string }> {
  const folder = mkdtempSync(join(tmpdir(), "weir-runner-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const [xml, keepIn] = [join(folder, "report.xml"), join(folder, "flaky.txt")];
  await runCommand(
    [
      process.execPath,
      "test",
      "--reporter=junit",
      `--reporter-outfile=${xml}`,
      ...Object.keys(files).map((name) => `./${name}`),
    ],
    { timeoutMs: 30_000, cwd: folder },
  );
  const failed = failedTests(readFileSync(xml, "utf8"));
  const flaky = await secondChance(failed, { testSeconds: 5, keepIn, cwd: folder });
  const kept = existsSync(keepIn) ? readFileSync(keepIn, "utf8") : "";
  rmSync(folder, { recursive: true, force: true });
  return { failed: failed.map(({ path }) => path.join(" > ")), flaky, kept };
}

test("a test that fails once and passes alone is named flaky, with both outputs kept; one that fails twice has failed", async () => {
  const { failed, flaky, kept } = await twice({
    "a.test.ts": `import { describe, expect, test } from "bun:test";
      import { existsSync, writeFileSync } from "node:fs";
      const first = !existsSync("ran"); writeFileSync("ran", "");
      describe("outer (a.b)", () => describe("in & <out>", () => {
        test('costs $5 "or" so?', () => expect(first ? "unlucky" : "fine").toBe("fine"));
        test('costs $5 "or" so? Never', () => expect(1).toBe(2));
        test("fine", () => {});
      }));`,
  });
  expect(failed).toEqual([
    'outer (a.b) > in & <out> > costs $5 "or" so?',
    'outer (a.b) > in & <out> > costs $5 "or" so? Never',
  ]);
  expect(flaky).toEqual(['a.test.ts > outer (a.b) > in & <out> > costs $5 "or" so?']);
  expect(kept).toContain("unlucky");
  expect(kept).toContain("1 pass");
  expect(kept).not.toContain("Never");
}, 30_000);

test("a failed hook gets no second chance by running nothing, nor do many failures at once", async () => {
  const hook = await twice({
    "hook.test.ts": `import { beforeAll, describe, test } from "bun:test";
      describe("d", () => { beforeAll(() => { throw new Error("no"); }); test("one", () => {}); });`,
  });
  expect(hook.failed).toEqual(["d > (unnamed)"]);
  expect(hook).toMatchObject({ flaky: [], kept: "" });
  const many = await twice({
    "many.test.ts": `import { expect, test } from "bun:test"; import { existsSync, writeFileSync } from "node:fs";
      const first = !existsSync("ran"); writeFileSync("ran", "");
      for (let i = 0; i < 6; i++) test("t" + i, () => expect(first).toBe(false));`,
  });
  expect(many.failed).toHaveLength(6);
  expect(many.flaky).toEqual([]);
}, 30_000);

test("the last line names what was skipped only when something was", () => {
  expect(summaryLine({ passed: 3, failed: 0, skipped: 0 })).toBe("3 passed, 0 failed");
  expect(summaryLine({ passed: 3, failed: 1, skipped: 2 })).toBe("3 passed, 1 failed, 2 skipped");
});

describe("a program that tests need and that is not there", () => {
  const find = (): undefined => undefined;

  test("is named with how to get it, and its tests are skipped", () => {
    const said: string[] = [];
    expect(required("nginx", { find, isStrict: false, say: (text) => void said.push(text) })).toBeUndefined();
    expect(said.join()).toStartWith("SKIPPED: ");
    expect(said.join()).toContain("no nginx was found");
    expect(said.join()).toContain("apt-get install nginx-light");
  });

  test("fails the file in a CI, and where everything is asked for", () => {
    expect(() => required("redis-server", { find, isStrict: true })).toThrow("no redis-server was found");
    expect([{ CI: "true" }, { CI: "1" }, { WEIR_REQUIRE_ALL: "1" }].map(isEverythingRequired)).toEqual([
      true,
      true,
      true,
    ]);
    expect([{}, { CI: "" }, { CI: "false" }, { WEIR_REQUIRE_ALL: "0" }].map(isEverythingRequired)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test("is none that is there", () => {
    const silent = { find: () => "/somewhere/chromium", isStrict: true };
    expect(required("chromium", silent)).toBe("/somewhere/chromium");
  });
});

const isAlive = (pid: number): boolean => {
  try {
    // A zombie is dead; its new parent has not collected it yet.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};
/** A process that was killed is gone in a moment, not at once. */
async function isGone(pid: number): Promise<boolean> {
  for (const end = Date.now() + 5_000; isAlive(pid) && Date.now() < end;) await Bun.sleep(5);
  return !isAlive(pid);
}
/** A shell that starts a sleeper in a session of its own, says its pid, and then does the rest. */
const withSleeper = (rest: string): string[] => ["sh", "-c", `setsid sleep 300 & echo $!; ${rest}`];

test.skipIf(process.platform !== "linux")(
  "a command that is not done in time ends with everything it started",
  async () => {
    const { timedOut, code, output, ms } = await runCommand(withSleeper("sleep 300"), { timeoutMs: 1_000 });
    expect({ timedOut, code }).toEqual({ timedOut: true, code: -1 });
    expect(ms).toBeLessThan(5_000);
    const pid = Number(output.trim().split("\n")[0]);
    expect(pid).toBeGreaterThan(1);
    expect(await isGone(pid)).toBe(true);
  },
);

test.skipIf(process.platform !== "linux")(
  "a command that ends leaves no process behind, in whatever session",
  async () => {
    const { timedOut, code, output } = await runCommand(withSleeper("exit 3"), { timeoutMs: 20_000 });
    expect({ timedOut, code }).toEqual({ timedOut: false, code: 3 });
    const pid = Number(output.trim().split("\n")[0]);
    expect(pid).toBeGreaterThan(1);
    expect(await isGone(pid)).toBe(true);
  },
);
