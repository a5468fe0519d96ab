/** Realtime sessions in tests: a relay behind a real server, and a client that records what it receives. */
import type { WebSocketHandler } from "bun";
import { type CallerEvents, socketLimits } from "../../src/server/relay/realtime/session";
import { type Bench, TEST_KEY } from "../relay/kit";

const handlers: WebSocketHandler<CallerEvents> = {
  ...socketLimits,
  open: (ws) => ws.data.open(ws),
  message: (ws, frame) => ws.data.message?.(ws, frame),
  drain: (ws) => ws.data.drain?.(ws),
  close: (ws, code, reason) => ws.data.close?.(ws, code, reason),
};

/** Waits for a condition, with a generous limit. */
export async function until<T>(
  what: string,
  check: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 15_000,
): Promise<T> {
  for (const end = Date.now() + limitMs; ; await Bun.sleep(5)) {
    const found = await check();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`);
  }
}

/** The relay behind a server that can upgrade. */
export function serveSessions(bench: Bench): { url: string; stop(): Promise<void> } {
  let requests = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: (request, self) =>
      bench.relay.handle(request, "127.0.0.1", `req-${++requests}`, (headers, events) =>
        self.upgrade(request, { headers, data: events }),
      ),
    websocket: handlers,
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

export interface TestClient {
  socket: Bun.WebSocket;
  /** Frames as received. */
  frames: (string | Buffer)[];
  /** Parsed text frames. */
  events(): { type: string; [member: string]: unknown }[];
  closed: { code: number; reason: string } | undefined;
  /** Why the handshake failed. */
  failure: string | undefined;
  /** The first event of a type; `count`: the n-th. */
  heard(type: string, count?: number): Promise<{ type: string; [member: string]: unknown }>;
  say(event: Record<string, unknown> | string | Uint8Array): void;
  open(): Promise<void>;
  ended(): Promise<{ code: number; reason: string }>;
}

const ClientSocket = WebSocket as unknown as new (url: string, options: Bun.WebSocketOptions) => Bun.WebSocket;

export function connectClient(
  url: string,
  model: string,
  {
    headers = { authorization: `Bearer ${TEST_KEY}`, "accept-language": "en" },
    protocols,
    query = "",
  }: { headers?: Record<string, string>; protocols?: string[]; query?: string } = {},
): TestClient {
  const address = `${url.replace("http", "ws")}/v1/realtime?model=${encodeURIComponent(model)}${query}`;
  const socket = new ClientSocket(address, { headers, ...(protocols && { protocols }) });
  const client: TestClient = {
    socket,
    frames: [],
    closed: undefined,
    failure: undefined,
    events: () =>
      client.frames.flatMap((frame) => {
        try {
          return typeof frame === "string" && frame.startsWith("{") ? [JSON.parse(frame)] : [];
        } catch {
          return [];
        }
      }),
    heard: (type, count = 1) =>
      until(
        `${count} x ${type}; heard ${client
          .events()
          .map((event) => event.type)
          .join(", ")}`,
        () => client.events().filter((event) => event.type === type)[count - 1],
      ),
    say: (event) =>
      socket.send(typeof event === "string" || event instanceof Uint8Array ? event : JSON.stringify(event)),
    open: () => until(`open (${client.failure})`, () => socket.readyState === 1).then(() => undefined),
    ended: () => until("closed", () => client.closed),
  };
  socket.onmessage = ({ data }) => void client.frames.push(data);
  socket.onerror = (event) => (client.failure = event.message);
  socket.onclose = ({ code, reason }) => (client.closed = { code, reason });
  return client;
}
