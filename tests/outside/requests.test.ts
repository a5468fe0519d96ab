/** Requests as no client library sends them: raw bytes over a socket, with a Host or a path that is none. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { startWeir, type Weir } from "../kit/weir";

let weir: Weir;
beforeAll(async () => {
  weir = await startWeir();
}, 30_000);
afterAll(() => weir?.stop());

/** The status line and the rest of what the server sends until it closes the connection. */
function send(text: string): Promise<{ status: number; text: string }> {
  const { port } = new URL(weir.url);
  return new Promise((resolve, reject) => {
    let said = "";
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => (said += chunk.toString("latin1")));
    socket.on("error", reject);
    socket.on("close", () => resolve({ status: Number(said.split(" ")[1] ?? 0), text: said }));
  });
}
const get = (path: string, host: string, more = "") =>
  send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`);

describe("a Host header", () => {
  const PATHS = ["/", "/api/status", "/api/none", "/v1/models", "/v1/none", "/trpc/status.get", "/healthz", "/none"];

  test.each([
    "",
    "x/api/status?",
    "x/",
    "x?",
    "x#",
    "user@x",
    "x y",
    "x\\y",
    "x:y",
    "x:99999",
    "[::g]",
    "[::1",
    "%zz",
    "1.2.3.4.5",
    "<script>",
    `${"x".repeat(300)}.example`,
  ])("that is none (%s) is refused with 400, whatever the path", async (host) => {
    for (const path of PATHS) {
      const answer = await get(path, host);
      expect([host, path, answer.status]).toEqual([host, path, 400]);
    }
  });

  test("that is one is served, with and without a port, as a name and as an address", async () => {
    for (const host of [
      "x",
      "weir.example",
      "weir.example:8443",
      "a_b.example",
      "127.0.0.1:3000",
      "[::1]:3000",
      "[::1]",
    ]) {
      for (const path of ["/healthz", "/api/status"]) {
        const answer = await get(path, host);
        expect([host, path, answer.status]).toEqual([host, path, 200]);
      }
    }
  });

  test("that is refused says so in the reader's language, and names nothing of the request", async () => {
    const [zh, en] = await Promise.all([
      get("/api/status", "x/y"),
      get("/api/status", "x/y", "Accept-Language: en\r\n"),
    ]);
    expect(Buffer.from(zh.text, "latin1").toString()).toContain("Host 请求头无效");
    expect(en.text).toContain('"message":"The Host header is invalid","code":"host_invalid"');
    expect(en.text.toLowerCase()).toContain("x-content-type-options: nosniff");
  });
});

test("only the routes of probes answer to HTTP/1.0 without Host; two Hosts are none", async () => {
  const bare = (path: string) => send(`GET ${path} HTTP/1.0\r\n\r\n`);
  expect((await bare("/healthz")).status).toBe(200);
  expect((await bare("/readyz")).text).toContain('"ready":');
  for (const path of ["/api/status", "/v1/models", "/", "http://x/api/status"])
    expect([path, (await bare(path)).status]).toEqual([path, 400]);
  expect((await get("/healthz", "a", "Host: b\r\n")).status).toBe(400);
});

test("a target that is no path never fails inside the server", async () => {
  for (const target of [
    "*",
    "none",
    "//",
    "//x/api/status",
    "/%",
    "/%zz",
    "/api/%ff",
    "/trpc/%",
    "/v1/%zz",
    "http://[/",
    "http://x",
    "http://evil.example/api/status",
  ]) {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const { status } = await send(
        `${method} ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
      expect([method, target, status >= 200 && status !== 500]).toEqual([method, target, true]);
    }
  }
});
