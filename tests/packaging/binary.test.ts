import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pkg from "../../package.json" with { type: "json" };
import { buildExecutables } from "../../scripts/build";
import { runToEnd, type ServerProcess, startServerProcess } from "./server-process";

let folder = "";
let home = "";
let binary = "";
let arm = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-binary-"));
  home = join(folder, "empty");
  const [here, other] = await buildExecutables([undefined, "bun-linux-arm64"], join(folder, "build"));
  if (!here || !other) throw new Error("two executables were asked for");
  arm = other.path;
  mkdirSync(home);
  binary = join(home, "weir");
  copyFileSync(here.path, binary);
  chmodSync(binary, 0o755);
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { HOME: "/nonexistent", PATH: "/usr/bin:/bin" };

describe("the executable, alone in an empty folder", () => {
  test("says its version and its usage, and touches nothing", async () => {
    const version = await runToEnd([binary, "--version"], { cwd: home, env });
    expect(version).toMatchObject({ code: 0 });
    expect(version.output).toMatch(
      new RegExp(`^weir ${pkg.version.replaceAll(".", "\\.")}(\\+[0-9a-f]+(\\.dirty)?)?\\n$`),
    );
    const help = await runToEnd([binary, "--help"], { cwd: home, env });
    expect(help.code).toBe(0);
    for (const word of ["weir audit", "--health", "--version", "WEIR_DATA_DIR"]) expect(help.output).toContain(word);
    expect(readdirSync(home)).toEqual(["weir"]);
  });

  test("says what it contains of others, with every licence's text", async () => {
    const { code, output } = await runToEnd([binary, "licenses"], { cwd: home, env });
    expect([code, output]).toEqual([0, readFileSync(join(import.meta.dir, "../../NOTICE"), "utf8")]);
  });

  test("an unknown command is refused with the usage and exit code 2", async () => {
    const { code, output } = await runToEnd([binary, "srve"], { cwd: home, env });
    expect(code).toBe(2);
    expect(output).toContain("srve");
    expect(output).toContain("weir audit");
  });

  test("a bad setting refuses to start and says why", async () => {
    const { code, output } = await runToEnd([binary], { cwd: home, env: { ...env, PORT: "eighty" } });
    expect(code).toBe(1);
    expect(output).toContain("PORT must be a whole number");
    expect(output).not.toContain("    at ");
  });

  describe("running", () => {
    let server: ServerProcess;
    beforeAll(async () => {
      server = await startServerProcess([binary], { cwd: home, env });
    });
    afterAll(() => server.stop());

    test("it starts, migrates and is ready, with the limit of simultaneous fetches raised", async () => {
      const answer = await fetch(`${server.url}/readyz`);
      expect({ status: answer.status, body: await answer.json() }).toMatchObject({
        status: 200,
        body: { ready: true },
      });
      const environment = readFileSync(`/proc/${server.pid}/environ`, "latin1").split("\0");
      expect(environment).toContain("BUN_CONFIG_MAX_HTTP_REQUESTS=65535");
      console.log(`binary: first answer after ${Math.round(server.startedInMs)} ms (migrations included)`);
    });

    test("it serves the console from inside itself, compressed, and every file that the page asks for", async () => {
      const page = await fetch(`${server.url}/`);
      expect(page.status).toBe(200);
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
      const html = await page.text();
      const paths = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((match) => match[1]);
      expect(paths.length).toBeGreaterThan(2);
      for (const path of paths) {
        const file = await fetch(`${server.url}${path}`, { headers: { "accept-encoding": "br" } });
        expect({ path, status: file.status }).toEqual({ path, status: 200 });
        expect(file.headers.get("content-type")).not.toContain("text/html");
        expect((await file.bytes()).length).toBeGreaterThan(0);
      }
      const script = paths.find((path) => path?.endsWith(".js")) ?? "";
      expect(
        (await fetch(`${server.url}${script}`, { headers: { "accept-encoding": "br" } })).headers.get(
          "content-encoding",
        ),
      ).toBe("br");
      expect(
        (await fetch(`${server.url}/console/channel`, { headers: { accept: "text/html" } })).headers.get(
          "content-type",
        ),
      ).toContain("text/html");
      expect((await fetch(`${server.url}/assets/none.js`)).status).toBe(404);
    });

    test("HEAD of the console has the length and no body", async () => {
      const head = await fetch(`${server.url}/`, { method: "HEAD", headers: { "accept-encoding": "identity" } });
      expect(head.status).toBe(200);
      expect(Number(head.headers.get("content-length"))).toBeGreaterThan(100);
      expect(await head.text()).toBe("");
    });

    test("it answers the API", async () => {
      const status = (await (await fetch(`${server.url}/api/status`)).json()) as { success: boolean };
      expect(status.success).toBe(true);
    });

    test("libraries that are loaded when they are first used are inside it too", async () => {
      const asked = await fetch(`${server.url}/trpc/factor.beginPasskey`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: server.url },
        body: JSON.stringify({ use: "sign-in" }),
      });
      expect(await asked.json()).toMatchObject({ result: { data: { challenge: expect.any(String) } } });
    });

    test("weir --health is 0 beside a ready server and 1 without one", async () => {
      const { port } = new URL(server.url);
      const healthy = await runToEnd([binary, "--health"], { cwd: home, env: { ...env, PORT: port } });
      expect(healthy).toMatchObject({ code: 0 });
      expect((await runToEnd([binary, "--health"], { cwd: home, env: { ...env, PORT: "1" } })).code).toBe(1);
    });

    test("a second one on the same port says so in one line and ends", async () => {
      const { port } = new URL(server.url);
      const { code, output } = await runToEnd([binary], {
        cwd: home,
        env: { ...env, PORT: port, WEIR_HOST: "127.0.0.1", WEIR_DATA_DIR: join(folder, "second") },
      });
      expect(code).toBe(1);
      expect(output).toContain(`port ${port} is in use`);
    });

    test("SIGTERM ends it cleanly, and it starts again on the same data with a balanced ledger", async () => {
      expect(await server.stop()).toBe(0);
      expect(readdirSync(home).sort()).toEqual(["data", "weir"]);
      const audit = await runToEnd([binary, "audit"], { cwd: home, env });
      expect(audit).toMatchObject({ code: 0 });
      server = await startServerProcess([binary], { cwd: home, env });
      console.log(`binary: second start, first answer after ${Math.round(server.startedInMs)} ms`);
      expect(server.startedInMs).toBeLessThan(2_000);
    });
  });
});

test("the same build makes an executable for arm64", () => {
  const header = Buffer.alloc(20);
  const file = openSync(arm, "r");
  readSync(file, header, 0, 20, 0);
  expect(header.subarray(0, 4).toString("latin1")).toBe("\u007fELF");
  expect(header.readUInt16LE(18)).toBe(183); // EM_AARCH64
});
