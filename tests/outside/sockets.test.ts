/**
 * WebSockets as an attacker opens them: a cookie opens none, whichever page asks; floods of sockets and frames take
 * bounded memory; and what no vendor answered costs nothing.
 */
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type FakeRealtime, startFakeRealtime } from "../kit/fake-upstream/realtime";
import { HOOK_MS } from "../kit/harness";
import { type Session, startWeir, type Weir } from "../kit/weir";
import { connectClient, until } from "../realtime/kit";

const MODEL = "gpt-realtime";
const MB = 1 << 20;

let weir: Weir;
let upstream: FakeRealtime;
let user: Session;
let key = "";
beforeAll(async () => {
  upstream = startFakeRealtime();
  weir = await startWeir();
  await weir.priceModels({ [MODEL]: 1, "gpt-realtime+deaf": 1 });
  await weir.newChannel({ base_url: upstream.url, models: [MODEL, "gpt-realtime+deaf"] });
  user = await weir.newUser({ quota: 1_000_000 });
  ({ key } = await weir.newToken({}, user));
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  upstream?.close();
});

/** A handshake as bytes, and what follows it at once; answers the status line. */
function handshake(
  path: string,
  headers: Record<string, string>,
  after: Uint8Array = Buffer.alloc(0),
): Promise<string> {
  const { hostname, port } = new URL(weir.url);
  const lines = Object.entries({
    host: `${hostname}:${port}`,
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(Buffer.concat([Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`), after]));
    });
    socket.once("data", (part) => {
      resolve(part.toString("latin1").split("\r\n")[0] ?? "");
      socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve("closed"));
  });
}
const withKey = (more: Record<string, string> = {}) => ({ headers: { authorization: `Bearer ${key}`, ...more } });
const unchanged = async (before: number): Promise<void> => {
  await until("no holds", async () => (await weir.holds()) === 0);
  expect((await weir.balance(user.id)).quota).toBe(before);
  expect(await weir.audit()).toEqual([]);
};

test("a session's cookie opens no socket at any path, from this site's page or another's", async () => {
  const opened = upstream.connections.length;
  for (const path of [
    `/v1/realtime?model=${MODEL}`,
    `/pg/v1/realtime?model=${MODEL}`,
    `/pg/realtime?model=${MODEL}`,
    "/v1/responses",
    "/trpc/log.list",
    "/api/log/tail",
    "/api/user/self",
    "/",
  ])
    for (const origin of ["https://evil.example", "null", weir.url]) {
      const { cookie } = weir.root;
      const owners: Record<string, string>[] = [{}, { "new-api-user": String(weir.root.id) }];
      for (const named of owners)
        expect([path, await handshake(path, { cookie, origin, ...named })]).toEqual([
          path,
          expect.not.stringContaining(" 101"),
        ]);
    }
  expect(upstream.connections).toHaveLength(opened);
});

test("frames that come with the handshake, before its key was judged, reach no vendor where the key is wrong", async () => {
  const opened = upstream.connections.length;
  const before = (await weir.balance(user.id)).quota;
  // A masked text frame, and a second request as text.
  const frame = Buffer.concat([Buffer.from([0x81, 0x82, 0, 0, 0, 0]), Buffer.from("{}")]);
  const request = Buffer.from(`GET /api/user/self HTTP/1.1\r\nhost: x\r\ncookie: ${weir.root.cookie}\r\n\r\n`);
  for (const after of [frame, request, Buffer.alloc(100_000, 0x81)]) {
    const answer = await handshake(`/v1/realtime?model=${MODEL}`, { authorization: "Bearer sk-wrong" }, after);
    expect(answer).toMatch(/^closed$|^HTTP\/1\.1 4/);
  }
  expect(upstream.connections).toHaveLength(opened);
  await unchanged(before);
});

test("a frame beyond the limit closes its session: the vendor does not get it, and it costs nothing", async () => {
  const before = (await weir.balance(user.id)).quota;
  const client = connectClient(weir.url, MODEL, withKey());
  await client.open();
  client.say("x".repeat(17 * MB));
  expect((await client.ended()).code).toBeOneOf([1006, 1009]);
  expect(upstream.last().received).toEqual([]);
  await unchanged(before);
});

test("a hundred sockets, and floods of small and odd frames to a vendor who reads nothing, take bounded memory and cost nothing", async () => {
  const before = (await weir.balance(user.id)).quota;
  Bun.gc(true);
  const memory = process.memoryUsage().rss;
  const clients = Array.from({ length: 100 }, () => connectClient(weir.url, "gpt-realtime+deaf", withKey()));
  await Promise.all(clients.map((client) => client.open()));
  const frames = ["{}", "", "[", '{"type":7}', '{"type":"response.done"}', `${"[".repeat(5000)}`, "\u0000"];
  for (const [i, client] of clients.entries()) {
    for (let n = 0; n < 200; n++) client.say(frames[(i + n) % frames.length] ?? "");
    client.say(new Uint8Array(50_000));
  }
  await until("the last frame of each was judged", () => clients.every(({ socket }) => socket.bufferedAmount === 0));
  expect((process.memoryUsage().rss - memory) / MB).toBeLessThan(200);
  for (const { socket } of clients) socket.terminate();
  await unchanged(before);
});

test("sockets of an account without balance are closed one by one, and leave neither hold nor charge", async () => {
  const poor = await weir.newUser();
  const own = await weir.newToken({}, poor);
  const opened = upstream.connections.length;
  const headers = { authorization: `Bearer ${own.key}` };
  const clients = Array.from({ length: 50 }, () => connectClient(weir.url, MODEL, { headers }));
  for (const client of clients) expect((await client.ended()).code).toBe(1008);
  expect(upstream.connections).toHaveLength(opened);
  expect([await weir.holds(), (await weir.balance(poor.id)).quota]).toEqual([0, 0]);
});

test("a thousand requests for a response in one moment are charged for the responses that came", async () => {
  const before = (await weir.balance(user.id)).quota;
  const client = connectClient(weir.url, MODEL, withKey());
  await client.open();
  for (let n = 0; n < 1000; n++) client.say({ type: "response.create" });
  await client.heard("response.done", 3);
  client.socket.close();
  await until("no holds", async () => (await weir.holds()) === 0);
  const rows = (await weir.logs()).filter((row) => row.user_id === user.id && row.type === 2);
  const paid = rows.reduce((sum, row) => sum + row.quota, 0);
  expect([(await weir.balance(user.id)).quota, before - paid]).toEqual([before - paid, before - paid]);
  expect(rows.length).toBeGreaterThanOrEqual(3);
  // Each is one response of the vendor, at its price.
  expect(new Set(rows.map((row) => row.quota)).size).toBe(1);
  expect(await weir.audit()).toEqual([]);
});
