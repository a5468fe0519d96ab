/** Connections on which nothing arrives are closed; those of callers who are known wait as long as their calls take. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { HOOK_MS } from "../kit/harness";
import { until } from "../kit/until";
import { startWeir, type Weir } from "../kit/weir";

const STALL_SECONDS = 4;
let weir: Weir;
let key = "";
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const { user, stream } = (await request.json()) as { user?: string; stream?: boolean };
    // Longer than any stalled request may last.
    if (user === "slow") await Bun.sleep(4 * STALL_SECONDS * 1000);
    const base = { id: "1", created: 1, model: "m" };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const chunk = (content: string, more = {}) =>
      `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta: { content }, ...more }] })}\n\n`;
    if (stream) {
      const events = new ReadableStream({
        async start(controller) {
          controller.enqueue(chunk("first"));
          await Bun.sleep(4 * STALL_SECONDS * 1000);
          controller.enqueue(`${chunk("last", { finish_reason: "stop" })}data: [DONE]\n\n`);
          controller.close();
        },
      });
      return new Response(events, { headers: { "content-type": "text/event-stream" } });
    }
    const message = { role: "assistant", content: "whole" };
    return Response.json({
      ...base,
      object: "chat.completion",
      choices: [{ index: 0, finish_reason: "stop", message }],
      usage,
    });
  },
});

beforeAll(async () => {
  weir = await startWeir({ env: { WEIR_STALL_SECONDS: String(STALL_SECONDS) } });
  await weir.newChannel({ base_url: `http://127.0.0.1:${upstream.port}`, models: ["m"] });
  await weir.priceModels({ m: 1 });
  ({ key } = await weir.newToken());
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  await upstream.stop(true);
});

interface Connection {
  socket: Socket;
  said: string;
  closed: boolean;
}

function open(text: string): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const connection: Connection = {
      socket: connect(Number(new URL(weir.url).port), "127.0.0.1", () => {
        connection.socket.write(text);
        resolve(connection);
      }),
      said: "",
      closed: false,
    };
    connection.socket.on("data", (chunk) => (connection.said += chunk.toString()));
    connection.socket.on("close", () => (connection.closed = true));
    connection.socket.on("error", (error) => {
      connection.closed = true;
      reject(error);
    });
  });
}

const head = (path: string, length: number, more = ""): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`;
const body = (members: object): string =>
  JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], ...members });

test.concurrent("300 half requests of strangers are all closed, heads and bodies, while others are served", async () => {
  const kinds = [
    "",
    "GET /api/status HTTP/1.1\r\nHo",
    `${head("/api/user/login", 100)}{"username":`,
    `${head("/api/stripe/webhook", 100)}{`,
    `${head("/v1/chat/completions", 100, "Authorization: Bearer sk-none\r\n")}{`,
    "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nPOST /api/user/login HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
  ];
  const connections = await Promise.all(Array.from({ length: 300 }, (_, i) => open(kinds[i % kinds.length] ?? "")));
  expect((await fetch(`${weir.url}/api/status`)).status).toBe(200);
  const leftOf = () => connections.filter(({ closed }) => !closed);
  await until("all are closed", () => leftOf().length === 0, 60_000);
}, 90_000);

test.concurrent("an upload of a key's holder that moves slowly arrives, however long it takes", async () => {
  const text = body({});
  const connection = await open(head("/v1/chat/completions", text.length, `Authorization: Bearer ${key}\r\n`));
  const step = Math.ceil(text.length / 8);
  for (let at = 0; at < text.length; at += step) {
    await Bun.sleep(STALL_SECONDS * 500);
    connection.socket.write(text.slice(at, at + step));
  }
  await until("it is answered or cut", () => connection.said.includes("whole") || connection.closed, 30_000);
  expect(connection.said).toContain("whole");
  connection.socket.destroy();
}, 60_000);

test.concurrent("calls that wait long for their vendor, and streams with long pauses, are not cut", async () => {
  const [slow, paused] = await Promise.all([
    weir.call(key, body({ user: "slow" })).then((answer) => answer.text()),
    weir.call(key, body({ stream: true })).then((answer) => answer.text()),
  ]);
  expect(slow).toContain("whole");
  expect([paused.includes("first"), paused.includes("last"), paused.includes("[DONE]")]).toEqual([true, true, true]);
}, 60_000);
