/** Realtime through a whole Weir: the official SDK, both engines, the server's own upgrade and its shutdown. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { ENGINES } from "../kit/databases";
import { type FakeRealtime, REALTIME_USAGE, startFakeRealtime } from "../kit/fake-upstream/realtime";
import { HOOK_MS } from "../kit/harness";
import { startWeir, type Weir } from "../kit/weir";
import { connectClient, until } from "./kit";

const COST = REALTIME_USAGE.input_tokens + REALTIME_USAGE.output_tokens;
const MODEL = "gpt-realtime+slow";

/** A TLS listener with its own certificate that forwards everything. */
function tlsBefore(url: string): { url: string; [Symbol.dispose](): void } {
  const folder = mkdtempSync(join(tmpdir(), "weir-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const made = Bun.spawnSync([
    "openssl",
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=localhost",
    "-keyout",
    key,
    "-out",
    cert,
  ]);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket: TLSSocket) => {
    const inner = connectTcp(Number(new URL(url).port), "127.0.0.1");
    socket.pipe(inner).pipe(socket);
    for (const side of [socket, inner]) side.on("error", () => void [socket.destroy(), inner.destroy()]);
  });
  rmSync(folder, { recursive: true });
  server.listen(0, "127.0.0.1");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { url: `https://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() };
}

for (const engine of ENGINES) {
  describe(engine, () => {
    let weir: Weir;
    let upstream: FakeRealtime;
    beforeAll(async () => {
      upstream = startFakeRealtime();
      weir = await startWeir({ engine });
      await weir.priceModels(
        { "gpt-realtime": 1, [MODEL]: 1, "gpt-4o-transcribe": 1 },
        { "gpt-realtime": 1, [MODEL]: 1, "gpt-4o-transcribe": 1 },
      );
      // Audio and cached tokens at the price of text, so that the bill is the sum of the tokens.
      for (const key of ["AudioRatio", "AudioCompletionRatio", "CacheRatio"])
        await weir.setOption(key, { "gpt-realtime": 1, [MODEL]: 1 });
      await weir.newChannel({ base_url: upstream.url, models: ["gpt-realtime", MODEL] });
    }, HOOK_MS);
    afterAll(async () => {
      await weir?.stop();
      upstream?.close();
    });

    test("the official SDK's session and a browser's handshake: responses, charges, rows, and the ledger balances", async () => {
      const user = await weir.newUser({ quota: 100_000 });
      const { key } = await weir.newToken({}, user);
      using tls = tlsBefore(weir.url);
      // The SDK requires TLS.
      const client = new OpenAI({ apiKey: key, baseURL: `${tls.url}/v1` });
      const overWs = new OpenAIRealtimeWS({ model: "gpt-realtime", options: { rejectUnauthorized: false } }, client);
      const done: unknown[] = [];
      const deltas: string[] = [];
      overWs.on("error", (error) => done.push(error));
      overWs.on("session.created", () => overWs.send({ type: "response.create" }));
      overWs.on("response.output_audio.delta", (event) => deltas.push(event.delta));
      overWs.on("response.done", (event) => {
        done.push(event.response.usage);
        if (done.length < 2) overWs.send({ type: "response.create" });
        else overWs.close();
      });
      await until("two responses", () => done.length === 2);
      expect(done).toEqual([REALTIME_USAGE, REALTIME_USAGE]);
      expect(deltas).toHaveLength(4);

      const browser = connectClient(weir.url, "gpt-realtime", {
        headers: {},
        protocols: ["realtime", `openai-insecure-api-key.${key}`],
      });
      await browser.open();
      expect(browser.socket.protocol).toBe("realtime");
      browser.say({ type: "response.create" });
      await browser.heard("response.done");
      browser.socket.close();

      await until("no holds", async () => (await weir.holds()) === 0);
      expect(await weir.balance(user.id)).toEqual({
        quota: 100_000 - 3 * COST,
        used_quota: 3 * COST,
        request_count: 3,
      });
      const rows = (await weir.logs()).filter((row) => row.user_id === user.id && row.type === 2);
      expect(rows.map((row) => [row.quota, row.end_reason, row.prompt_tokens, row.completion_tokens])).toEqual(
        Array(3).fill([COST, "complete", 132, 121]),
      );
      expect(await weir.audit()).toEqual([]);
    }, 30_000);

    test("twenty sessions of one user at once never overspend the balance by more than the running responses", async () => {
      const quota = 6 * (COST + 1000);
      const user = await weir.newUser({ quota });
      const { key } = await weir.newToken({}, user);
      const clients = Array.from({ length: 20 }, () =>
        connectClient(weir.url, "gpt-realtime", { headers: { authorization: `Bearer ${key}` } }),
      );
      for (const client of clients) {
        client.socket.onopen = () => client.say({ type: "response.create" });
        const keep = client.socket.onmessage;
        client.socket.onmessage = (event) => {
          keep?.call(client.socket, event);
          if (String(event.data).includes('"response.done"')) client.say({ type: "response.create" });
        };
      }
      // Each continues until it is refused.
      await until("all refused", () => clients.every((client) => client.closed));
      expect(new Set(clients.map((client) => client.closed?.code))).toEqual(new Set([1008]));
      await until("no holds", async () => (await weir.holds()) === 0);
      const { quota: left } = await weir.balance(user.id);
      expect(left).toBeGreaterThanOrEqual(0);
      expect(left).toBeLessThan(1000);
      expect(await weir.audit()).toEqual([]);
    }, 30_000);

    test("a token switched off inside a session ends it before its next response", async () => {
      const user = await weir.newUser({ quota: 100_000 });
      const { key, id } = await weir.newToken({}, user);
      const client = connectClient(weir.url, "gpt-realtime", { headers: { authorization: `Bearer ${key}` } });
      await client.open();
      await user.ok("PUT", "/api/token/?status_only=true", { id, status: 2 });
      client.say({ type: "response.create" });
      expect(await client.ended()).toMatchObject({ code: 1008, reason: "token_disabled" });
      await until("no holds", async () => (await weir.holds()) === 0);
      expect((await weir.balance(user.id)).quota).toBe(100_000);
    }, 30_000);
  });
}

test("SIGTERM: sessions close with 1001, running responses are charged, the process ends with code 0 and leaves no hold", async () => {
  const upstream = startFakeRealtime();
  await using weir = await startWeir({ child: true, env: { WEIR_DRAIN_SECONDS: "0", WEIR_SHUTDOWN_SECONDS: "1" } });
  await weir.priceModels({ "gpt-realtime": 1, [MODEL]: 1 });
  await weir.newChannel({ base_url: upstream.url, models: ["gpt-realtime", MODEL] });
  const { key } = await weir.newToken();
  const headers = { authorization: `Bearer ${key}` };
  const idle = connectClient(weir.url, "gpt-realtime", { headers });
  const running = connectClient(weir.url, MODEL, { headers });
  await Promise.all([idle.open(), running.open()]);
  running.say({ type: "response.create" });
  await running.heard("response.created");
  weir.process?.kill("SIGTERM");
  expect((await idle.ended()).code).toBe(1001);
  expect((await running.ended()).code).toBe(1001);
  expect(await weir.process?.exited).toBe(0);
  expect(await weir.holds()).toBe(0);
  expect((await weir.logs()).filter((row) => row.model_name === MODEL).map((row) => row.end_reason)).toEqual([
    "gateway_restart",
  ]);
  expect(await weir.audit()).toEqual([]);
  upstream.close();
}, 30_000);
