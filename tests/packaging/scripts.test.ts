/**
 * The scripts of package.json on a machine that has Node, npm and git, and no `bun` on PATH: Bun is where `npm start`
 * puts it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pkg from "../../package.json" with { type: "json" };
import { runCommand } from "../../scripts/run-command";
import { bootstrapCopy, copyProject, pathOf } from "../kit/project-copy";

let folder = "";
let clone = "";
let env: Record<string, string> = {};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-scripts-"));
  clone = join(folder, "weir");
  mkdirSync(join(folder, "home"));
  copyProject(clone);
  bootstrapCopy(clone);
  const git = Bun.spawnSync(["git", "init", "--quiet"], { cwd: clone });
  if (!git.success) throw new Error("git is needed on PATH");
  env = { HOME: join(folder, "home"), PATH: pathOf(join(folder, "bin"), "node", "npm", "sh", "env", "git") };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `env` puts away everything of ours, PATH above all. */
function run(...command: string[]): ReturnType<typeof runCommand> {
  const only = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return runCommand(["env", "-i", ...only, ...command], { cwd: clone, timeoutMs: 60_000 });
}

describe("with Node alone", () => {
  test("no script of package.json asks the shell for anything but node", () => {
    for (const [name, script] of Object.entries(pkg.scripts)) expect(`${name}: ${script}`).toContain(": node scripts/");
  });

  test("`npm run check -- format` passes, and fails on what it should find", async () => {
    const clean = await run("npm", "run", "--silent", "check", "--", "format");
    expect(clean.output).toContain("1 passed, 0 failed");
    expect(clean.code).toBe(0);
    writeFileSync(join(clone, "src/shared/untidy.ts"), "export const  a=1");
    const untidy = await run("npm", "run", "--silent", "check", "--", "format");
    expect(untidy.output).toContain("src/shared/untidy.ts: no newline at the end");
    expect(untidy.code).toBe(1);

    const formatted = await run("npm", "run", "--silent", "format");
    expect(formatted.code).toBe(0);
    expect(readFileSync(join(clone, "src/shared/untidy.ts"), "utf8")).toBe("export const a = 1;\n");
    rmSync(join(clone, "src/shared/untidy.ts"));
  }, 60_000);

  test("`npm run docs -- --check` passes, and names a page that is stale", async () => {
    const fresh = await run("npm", "run", "--silent", "docs", "--", "--check");
    expect(fresh).toMatchObject({ code: 0, output: "" });
    appendFileSync(join(clone, "docs/generated/errors.md"), "by hand\n");
    const stale = await run("npm", "run", "--silent", "docs", "--", "--check");
    expect(stale.output).toContain("docs/generated/errors.md is stale");
    expect(stale.code).toBe(1);
  }, 60_000);

  test("`npm run db:generate` writes the migration of both engines", async () => {
    const schema = join(clone, "src/server/db/schema.ts");
    const text = readFileSync(schema, "utf8");
    const changed = text.replace(
      /(\n\s*)(upstream_request_id: .*)/,
      (line) => `${line}${line.replace("upstream_request_id", "new_column")}`,
    );
    expect(changed).not.toBe(text);
    writeFileSync(schema, changed);
    const { code, output } = await run("npm", "run", "--silent", "db:generate", "new-column");
    expect(output).not.toContain("rror");
    expect(code).toBe(0);
    for (const engine of ["sqlite", "postgres"]) {
      const made = readdirSync(join(clone, "drizzle", engine)).find((name) => name.endsWith("_new-column.sql"));
      expect(readFileSync(join(clone, "drizzle", engine, made ?? ""), "utf8")).toContain("ADD");
    }
  }, 60_000);
});

test("the same scripts run by `bun run` where there is no Node", async () => {
  const bunOnly = pathOf(join(folder, "bun-only"), "sh", "env", "git");
  const { code, output } = await run("env", `PATH=${bunOnly}`, process.execPath, "run", "check", "format");
  expect(output).toContain("1 passed, 0 failed");
  expect(code).toBe(0);
}, 60_000);
