/**
 * Who may create the root account, and who may read /metrics: tested from outside, also through an nginx with only a
 * proxy_pass.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Nginx, startBareNginx } from "../deploy/nginx-process";
import { HOOK_MS } from "../kit/harness";
import { required } from "../kit/required";
import { type ApiAnswer, ROOT, startWeir, type Weir } from "../kit/weir";

const nginx = required("nginx");

const account = { username: "stranger", password: "stranger-pass1", confirmPassword: "stranger-pass1" };
const codeOf = async (weir: Weir): Promise<string> => new URL(await weir.setupLink()).hash.slice("#code=".length);
const status = async (weir: Weir) => (await weir.anonymous("GET", "/api/setup")).body.data;

/** POST /api/setup at any address. */
async function setUp(
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Pick<ApiAnswer, "status" | "body">> {
  const answer = await fetch(`${url}/api/setup`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...account, ...body }),
    tls: { rejectUnauthorized: false },
  });
  return { status: answer.status, body: (await answer.json()) as ApiAnswer["body"] };
}

describe("the set-up code", () => {
  let weir: Weir;
  let proxy: Nginx | undefined;
  beforeAll(async () => {
    weir = await startWeir({
      root: false,
      child: true,
      env: { WEIR_TRUSTED_PROXIES: "127.0.0.1", WEIR_CRITICAL_RATE_LIMIT: "0" },
    });
    proxy = nginx ? await startBareNginx(nginx, Number(new URL(weir.url).port)) : undefined;
  }, HOOK_MS);
  afterAll(async () => {
    await proxy?.stop();
    await weir?.stop();
  });

  test("is required from every caller, whatever their path to the server and their headers", async () => {
    expect(await status(weir)).toMatchObject({ status: false, root_init: false, code_needed: true });
    const { port } = new URL(weir.url);
    const ways: Record<string, string>[] = [
      {},
      { host: `localhost:${port}` },
      { host: `[::1]:${port}` },
      { host: "weir.example" },
      { origin: weir.url, "sec-fetch-site": "same-origin" },
      ...[
        "x-forwarded-for",
        "x-real-ip",
        "forwarded",
        "cf-connecting-ip",
        "true-client-ip",
        "x-client-ip",
        "x-envoy-external-address",
      ].map((name) => ({ [name]: "127.0.0.1" })),
      { "x-forwarded-for": "::1", "x-forwarded-host": "localhost", "x-forwarded-proto": "https" },
    ];
    const doors = [weir.url, `http://localhost:${port}`, ...(proxy ? [proxy.http, proxy.https] : [])];
    for (const door of doors) {
      for (const headers of ways) {
        for (const code of [undefined, "", "AAAAA-AAAAA"]) {
          expect([door, headers, await setUp(door, { code }, headers)]).toMatchObject([
            door,
            headers,
            { status: 403, body: { code: "setup_code_wrong" } },
          ]);
        }
      }
    }
    const byTrpc = await weir.anonymous("POST", "/trpc/setup.run", account);
    expect([byTrpc.status, JSON.stringify(byTrpc.body)]).toEqual([403, expect.stringContaining("setup_code_wrong")]);
    expect(await status(weir)).toMatchObject({ status: false, code_needed: true });
  }, 30_000);

  test("is once in the output of the server's start, in a link with the real port behind the #, and in no line of its log", async () => {
    const link = await weir.setupLink();
    const code = await codeOf(weir);
    expect(link).toBe(`${weir.url}/setup#code=${code}`);
    // 128 bits.
    expect(code).toMatch(/^[0-9a-f]{32}$/);
    const lines = weir.process?.output().split("\n") ?? [];
    expect(lines.filter((line) => line.includes(code))).toEqual([`    ${link}`]);
    // Another installation has another one.
    await using other = await startWeir({ root: false });
    expect(await codeOf(other)).not.toBe(code);
  });

  test.skipIf(!nginx)(
    "lets its holder in through an nginx that tells nothing, once, and is worth nothing afterwards",
    async () => {
      if (!proxy) throw new Error("nginx was not started");
      const code = await codeOf(weir);
      const headers = { host: "weir.example", origin: "http://weir.example" };
      expect(await setUp(proxy.http, { username: "keeper", code }, headers)).toMatchObject({
        status: 200,
        body: { success: true, data: { role: 100 } },
      });
      expect(await status(weir)).toMatchObject({ status: true, root_init: true, code_needed: false });
      expect(await setUp(proxy.http, { code }, headers)).toMatchObject({ status: 403, body: { code: "setup_done" } });
      expect(await setUp(weir.url, { code })).toMatchObject({ status: 403, body: { code: "setup_done" } });
    },
  );
});

test("wrong guesses are throttled by address and do not block a caller with the right code", async () => {
  await using weir = await startWeir({
    root: false,
    env: { WEIR_CRITICAL_RATE_LIMIT: "5", WEIR_API_RATE_LIMIT: "10", WEIR_TRUSTED_PROXIES: "127.0.0.1" },
  });
  const guess = async (address: string) =>
    (await setUp(weir.url, { code: "0".repeat(32) }, { "x-forwarded-for": address })).body.code;
  for (let i = 0; i < 5; i++) expect(await guess("203.0.113.9")).toBe("setup_code_wrong");
  for (let i = 0; i < 30; i++) expect(await guess("203.0.113.9")).toBe("too_many_requests");
  expect(await guess("203.0.113.10")).toBe("setup_code_wrong");
  // All of a /64 is one customer.
  for (let i = 0; i < 5; i++) expect(await guess(`2001:db8:1:2::${i}`)).toBe("setup_code_wrong");
  expect(await guess("2001:db8:1:2:ffff::9")).toBe("too_many_requests");
  expect(await guess("2001:db8:1:3::9")).toBe("setup_code_wrong");
  // The owner has the same address as the attackers, as behind an unlisted proxy.
  const code = await codeOf(weir);
  expect((await fetch(`${weir.url}/api/setup`, { headers: { "x-forwarded-for": "203.0.113.9" } })).status).toBe(200);
  expect(
    await setUp(weir.url, { code: ` ${code.toUpperCase()} ` }, { "x-forwarded-for": "203.0.113.9" }),
  ).toMatchObject({ status: 200, body: { success: true } });
});

describe("the configured address", () => {
  const WEIR_SERVER_ADDRESS = "https://weir.example/";

  test("is in the printed link", async () => {
    await using weir = await startWeir({ root: false, env: { WEIR_SERVER_ADDRESS } });
    expect(await weir.setupLink()).toBe(`https://weir.example/setup#code=${await codeOf(weir)}`);
  });

  test("is stored by the unattended set-up, which needs no code and prints no link", async () => {
    await using weir = await startWeir({ env: { WEIR_SERVER_ADDRESS } });
    expect(await status(weir)).toMatchObject({ status: true, code_needed: false });
    expect((await weir.anonymous("GET", "/api/status")).body.data).toMatchObject({
      server_address: "https://weir.example",
    });
    expect(await weir.setupLink().catch((error: Error) => error.message)).toBe("no link for the set-up was printed");
    expect((await weir.signIn(ROOT.username, ROOT.password)).role).toBe(100);
  });
});

describe("/metrics", () => {
  const read = async (url: string, headers: Record<string, string> = {}) =>
    (await fetch(`${url}/metrics`, { headers })).status;

  test("is closed to all while neither token nor addresses are set, also through an nginx that sends no headers", async () => {
    await using weir = await startWeir();
    const { port } = new URL(weir.url);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, "weir.example"])
      expect([host, await read(weir.url, { host })]).toEqual([host, 403]);
    if (!nginx) return;
    const proxy = await startBareNginx(nginx, Number(port));
    expect(await read(proxy.http)).toBe(403);
    await proxy.stop();
  });

  test("opens to the token from anywhere, and to the sockets of the listed addresses whatever headers they forward", async () => {
    await using weir = await startWeir({ env: { WEIR_METRICS_TOKEN: "scrape-me" } });
    expect([
      await read(weir.url),
      await read(weir.url, { authorization: "Bearer scrape-you" }),
      await read(weir.url, { authorization: "Bearer scrape-me" }),
    ]).toEqual([403, 403, 200]);
    await using listed = await startWeir({ env: { WEIR_METRICS_ADDRESSES: "10.0.0.0/8, 127.0.0.1" } });
    expect(await read(listed.url, { host: "weir.example" })).toBe(200);
    await using other = await startWeir({
      env: { WEIR_METRICS_ADDRESSES: "10.0.0.0/8", WEIR_TRUSTED_PROXIES: "127.0.0.1" },
    });
    expect(await read(other.url, { "x-forwarded-for": "10.0.0.1" })).toBe(403);
  });
});
