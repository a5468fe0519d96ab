/**
 * `npm start` as on a new machine: a clean clone, an empty home, only Node and npm on PATH. Needs the npm registry,
 * like the command itself.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pkg from "../../package.json" with { type: "json" };
import { ROOT } from "../../scripts/run-command";
import { copyProject, pathOf } from "../kit/project-copy";
import { runToEnd, type ServerProcess, startServerProcess } from "./server-process";

const BUN_VERSION = pkg.packageManager.replace("bun@", "");
let folder = "";
let clone = "";
let env: Record<string, string> = {};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-start-"));
  clone = join(folder, "weir");
  const home = join(folder, "home");
  for (const dir of [clone, home]) mkdirSync(dir);
  copyProject(clone);
  env = { HOME: home, PATH: pathOf(join(folder, "bin"), "node", "npm", "sh", "env"), WEIR_LOG_LEVEL: "info" };
});
// Two copies of all packages.
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

describe("npm start on a machine with Node and npm only", () => {
  test("without a registry it says what it needs", async () => {
    const { code, output } = await runToEnd(["npm", "start"], {
      cwd: clone,
      env: { ...env, npm_config_registry: "http://127.0.0.1:1/", npm_config_fetch_retries: "0" },
    });
    expect(code).not.toBe(0);
    expect(output).toContain("This step needs the npm registry");
    expect(output).not.toContain("at ensureBun");
  });

  test("it installs the pinned Bun and the packages, builds the console and serves", async () => {
    const server = await startServerProcess(["npm", "start"], { cwd: clone, env, withinMs: 240_000 });
    expect((await fetch(`${server.url}/`)).headers.get("content-type")).toContain("text/html");
    expect(server.output()).toContain(`Installing Bun ${BUN_VERSION}`);
    expect(existsSync(join(clone, "data/weir.db"))).toBe(true);
    console.log(`npm start: first ${(server.startedInMs / 1000).toFixed(1)} s`);
    await stopped(server);
  }, 300_000);

  test("the second start installs and builds nothing and takes about a second", async () => {
    const server = await startServerProcess(["npm", "start"], { cwd: clone, env });
    console.log(`npm start: second ${(server.startedInMs / 1000).toFixed(2)} s`);
    expect(server.output()).not.toMatch(/Installing|Building/);
    expect(server.startedInMs).toBeLessThan(5_000);

    const { port } = new URL(server.url);
    const taken = await runToEnd(["npm", "start", "--silent"], {
      cwd: clone,
      env: { ...env, PORT: port, WEIR_HOST: "127.0.0.1", WEIR_DATA_DIR: join(folder, "other") },
    });
    expect(taken.code).toBe(1);
    expect(taken.output).toContain(`port ${port} is in use`);

    // npm, node and the server: one SIGTERM to the first drains the last and ends all three.
    await stopped(server);
  }, 60_000);

  test("only what a start makes is new in the folder", () => {
    const tracked = new Set(readdirSync(ROOT));
    const made = readdirSync(clone).filter(
      (name) => !tracked.has(name) || ["data", "dist", "node_modules", ".bun"].includes(name),
    );
    expect(made.sort()).toEqual([".bun", "data", "dist", "node_modules"]);
    expect(readFileSync(join(clone, "package.json"), "utf8")).toBe(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(readFileSync(join(clone, "bun.lock"), "utf8")).toBe(readFileSync(join(ROOT, "bun.lock"), "utf8"));
  });

  test("a Bun of exactly the pinned version on PATH is used, and none is installed", async () => {
    const bunOnPath = join(folder, "bun-bin");
    mkdirSync(bunOnPath);
    symlinkSync(process.execPath, join(bunOnPath, "bun"));
    rmSync(join(clone, ".bun"), { recursive: true });
    const { code, output } = await runToEnd(["npm", "start", "--silent", "--", "--version"], {
      cwd: clone,
      env: { ...env, PATH: `${bunOnPath}:${env.PATH}` },
    });
    expect(code).toBe(0);
    expect(output).toContain(`weir ${pkg.version}`);
    expect(existsSync(join(clone, ".bun"))).toBe(false);
  });

  test("a Node that is too old is reported before anything else", async () => {
    const old = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'18.20.0'})";
    const { code, output } = await runToEnd(["node", "--import", old, "scripts/start.mjs"], { cwd: clone, env });
    expect(code).toBe(1);
    expect(output).toContain("Node 18.20.0 is too old");
  });
});

/** Ends npm and waits for the server behind it, which must have drained. */
async function stopped(server: ServerProcess): Promise<void> {
  await server.stop();
  const port = Number(new URL(server.url).port);
  const end = Date.now() + 10_000;
  while (Date.now() < end && !server.output().includes('"msg":"stopped"')) await Bun.sleep(50);
  expect(server.output()).toContain('"msg":"stopped"');
  expect(await accepts(port)).toBe(false);
}

/** Whether something listens on the port of loopback. */
async function accepts(port: number): Promise<boolean> {
  const probe = createServer();
  const free = await new Promise<boolean>((done) => {
    probe.once("error", () => done(false));
    probe.listen(port, "127.0.0.1", () => done(true));
  });
  probe.close();
  return !free;
}
