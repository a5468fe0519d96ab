/**
 * A log that cannot be written fails no call and ends no process; when the database is down every interface says so in
 * its own format, with a request id, and without statements or rows.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Engine, ENGINES } from "../kit/databases";
import { type Nodes, startNodes } from "../kit/trial/nodes";
import { ROOT, startWeir, type Weir } from "../kit/weir";
import { HURRIED } from "../kit/weir-process";

const [BUN = "", ...REST] = HURRIED;
const COMMAND = [BUN, "--preload", join(import.meta.dir, "../kit/full-disk.ts"), ...REST];
const LOGIN = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(ROOT) };

function freePort(): number {
  const server = Bun.serve({ port: 0, fetch: () => new Response() });
  const { port } = server;
  void server.stop(true);
  if (!port) throw new Error("no port");
  return port;
}

async function until(what: string, holds: () => Promise<boolean>, ms = 20_000): Promise<void> {
  for (const limit = Date.now() + ms; !(await holds().catch(() => false)); await Bun.sleep(25)) {
    if (Date.now() > limit) throw new Error(`not within ${ms} ms: ${what}`);
  }
}

describe("a log that cannot be written", () => {
  test.each([
    ["on a full disk", 'exec "$0" "$@" > /dev/full'],
    ["on a pipe whose reader has gone", '"$0" "$@" | true'],
    ["on a pipe that nobody reads", '"$0" "$@" | sleep 600'],
  ])(
    "%s fails no call and ends no process, from the start on",
    async (_, shell) => {
      const folder = mkdtempSync(join(tmpdir(), "weir-mute-"));
      const sign = join(folder, "full");
      const url = `http://127.0.0.1:${freePort()}`;
      const child = Bun.spawn(["setsid", "/bin/sh", "-c", shell, ...COMMAND], {
        env: {
          PATH: process.env.PATH,
          HOME: process.env.HOME,
          PORT: new URL(url).port,
          WEIR_HOST: "127.0.0.1",
          WEIR_DATA_DIR: join(folder, "data"),
          FULL_DISK_FILE: sign,
          WEIR_ROOT_USERNAME: ROOT.username,
          WEIR_ROOT_PASSWORD: ROOT.password,
          WEIR_API_RATE_LIMIT: "0",
          WEIR_CRITICAL_RATE_LIMIT: "0",
          WEIR_LOG_FORMAT: "json",
          WEIR_LOG_LEVEL: "debug",
        },
        stdio: ["ignore", "ignore", "ignore"],
      });
      try {
        await until("the server serves", async () => (await fetch(`${url}/healthz`)).ok);
        // Each of these logs an error with its stack: together more than a pipe holds.
        const login = await fetch(`${url}/api/user/login`, LOGIN);
        const { data } = (await login.json()) as { data: { id: number } };
        const headers = {
          ...LOGIN.headers,
          cookie: login.headers.getSetCookie()[0]?.split(";")[0] ?? "",
          "new-api-user": String(data.id),
        };
        const make = (): Promise<Response> =>
          fetch(`${url}/api/token/`, {
            method: "POST",
            headers,
            body: JSON.stringify({ name: "test", unlimited_quota: true }),
            signal: AbortSignal.timeout(20_000),
          });
        writeFileSync(sign, "");
        for (let round = 0; round < 10; round++) {
          const answers = await Promise.all(Array.from({ length: 10 }, make));
          for (const answer of answers)
            expect([answer.status, ((await answer.json()) as { code?: string }).code]).toEqual([
              503,
              "database_unavailable",
            ]);
        }
        rmSync(sign);
        expect(((await (await make()).json()) as { success: boolean }).success).toBe(true);
      } finally {
        process.kill(-child.pid, "SIGKILL");
        await child.exited;
        rmSync(folder, { recursive: true, force: true });
      }
    },
    60_000,
  );
});

/** What no response may contain. */
const TOLD = /select |insert |update |from "|Failed query|params:|[0-9a-f]{32,}|SQLITE|ERR_|at .*\.ts:\d/i;

interface Door {
  name: string;
  ask(weir: Weir): Promise<Response>;
  /** The error code in each interface's own format. */
  code(body: string): unknown;
}

const envelope = (body: string): unknown => (JSON.parse(body) as { code?: string }).code;
const rest = (method: string, path: string, body?: object): Door => ({
  name: `${method} ${path}`,
  ask: (weir) =>
    fetch(weir.url + path, {
      method,
      headers: { ...weir.root.headers, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    }),
  code: envelope,
});
const relayed = (
  path: string,
  headers: (key: string) => Record<string, string>,
  body: object | undefined,
  code: (body: string) => unknown,
): Door => ({
  name: `${body ? "POST" : "GET"} ${path}`,
  ask: (weir) =>
    fetch(weir.url + path, {
      method: body ? "POST" : "GET",
      headers: {
        "content-type": "application/json",
        "accept-language": "en",
        ...headers("sk-one-that-nobody-has-read-before-00000000000000000"),
      },
      ...(body && { body: JSON.stringify(body) }),
    }),
  code,
});
const openai = (body: string): unknown => (JSON.parse(body) as { error: { code: string } }).error.code;
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
const chat = { model: "gpt-4o", messages: [{ role: "user", content: "hello" }] };

const DOORS: Door[] = [
  rest("GET", "/api/user/self"),
  rest("GET", "/api/channel/"),
  rest("GET", "/api/status"),
  rest("POST", "/api/user/pay", { amount: 1, payment_method: "none" }),
  rest("GET", "/api/log/live"),
  rest("GET", "/api/log/export"),
  {
    name: "tRPC",
    ask: (weir) => fetch(`${weir.url}/trpc/user.self`, { headers: weir.root.headers }),
    code: (body) => (JSON.parse(body) as { error: { data: { app: string } } }).error.data.app,
  },
  {
    name: "POST /pg/chat/completions",
    ask: (weir) =>
      fetch(`${weir.url}/pg/chat/completions`, {
        method: "POST",
        headers: { ...weir.root.headers, "content-type": "application/json" },
        body: JSON.stringify(chat),
      }),
    code: openai,
  },
  {
    name: "an access token",
    ask: (weir) =>
      fetch(`${weir.url}/api/user/self`, { headers: { authorization: "Bearer abcdefghijklmnopqrstuvwxyz012345" } }),
    code: envelope,
  },
  relayed("/v1/chat/completions", bearer, chat, openai),
  relayed("/v1/models", bearer, undefined, openai),
  relayed("/v1/realtime?model=gpt-4o-realtime", bearer, undefined, openai),
  relayed(
    "/v1/messages",
    (key) => ({ "x-api-key": key }),
    { ...chat, max_tokens: 5 },
    (body) =>
      (JSON.parse(body) as { type: string; error: { message: string } }).error.message.includes("database") &&
      "database_unavailable",
  ),
];

describe("the database is down", () => {
  let nodes: Nodes;
  let weir: Weir;
  beforeAll(async () => {
    nodes = await startNodes({ engine: "postgres" });
    ({ weir } = nodes);
    nodes.node(0).cutDatabase();
  }, 40_000);
  afterAll(() => nodes.stop(), 40_000);

  test.each(DOORS.map((door) => [door.name, door] as const))(
    "%s says so in its own shape, with a request id and without statements or hashes",
    async (_, door) => {
      const answer = await door.ask(weir);
      const body = await answer.text();
      expect([answer.status, body]).toEqual([503, body]);
      expect(door.code(body)).toBe("database_unavailable");
      expect(body).not.toMatch(TOLD);
      const id = answer.headers.get("x-request-id") ?? answer.headers.get("x-oneapi-request-id") ?? "";
      expect(id).not.toBe("");
      expect(body).toContain(id);
    },
  );

  test("the log names the failed statement without the values in it", async () => {
    await (await fetch(`${weir.url}/api/user/self`, { headers: weir.root.headers })).text();
    const output = weir.process?.output() ?? "";
    expect(output).toContain("unexpected error");
    expect(output).not.toMatch(/params|[0-9a-f]{64}/);
  });
});

describe.each<Engine>([...ENGINES])("a full data folder on %s", (engine) => {
  test("makes the server not ready, with the reason, until there is room again", async () => {
    await using weir = await startWeir({ engine, child: HURRIED });
    const ready = async (): Promise<{ status: number; disk: string }> => {
      const answer = await fetch(`${weir.url}/readyz`);
      return { status: answer.status, disk: ((await answer.json()) as { checks: { disk: string } }).checks.disk };
    };
    expect(await ready()).toEqual({ status: 200, disk: "ok" });
    await until("the disk is full", async () => {
      // The server's test write: each write here finds no space.
      try {
        symlinkSync("/dev/full", join(weir.dataDir, "settles-1.probe"));
      } catch {
        // It is still there.
      }
      const { status, disk } = await ready();
      return status === 503 && disk.startsWith("disk full");
    });
    rmSync(join(weir.dataDir, "settles-1.probe"), { force: true });
    await until("there is room", async () => (await ready()).status === 200);
  }, 40_000);
});
