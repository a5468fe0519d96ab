/**
 * With the database away (Postgres unreachable, SQLite's disk full) every door of /v1 answers 503 database_unavailable
 * in its own dialect and says when to come back.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { ENGINES } from "../kit/databases";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import { type Nodes, startNodes } from "../kit/trial/nodes";
import { until } from "../kit/until";

const MODEL = "echo";
const VIDEO = "sora-2";
const messages = [{ role: "user", content: "hello" }];
const form = (fields: Record<string, string | File>): FormData => {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.set(name, value);
  return made;
};
const jsonl = (): File => new File(["{}\n"], "calls.jsonl", { type: "application/jsonl" });
/** A WAV file of silence: 16 kHz, 16 bit, one channel. */
function sound(): File {
  const bytes = Buffer.alloc(44 + 32_000);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(16_000, 24);
  bytes.writeUInt32LE(32_000, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(32_000, 40);
  return new File([bytes], "a.wav", { type: "audio/wav" });
}

/** A door; `writes`: it cannot do without writing, and `reads`: not without reading. */
interface Door {
  line: string;
  body?: () => object | FormData;
  needs: "writes" | "reads";
}

const paid = (line: string, body: () => object | FormData): Door => ({ line, body, needs: "writes" });
const stored = (line: string, body?: () => object): Door => ({ line, ...(body && { body }), needs: "reads" });

const DOORS: readonly Door[] = [
  paid("POST /v1/chat/completions", () => ({ model: MODEL, messages })),
  paid("POST /v1/chat/completions#stream", () => ({ model: MODEL, messages, stream: true })),
  paid("POST /v1/messages", () => ({ model: MODEL, messages, max_tokens: 10 })),
  paid("POST /v1/messages#stream", () => ({ model: MODEL, messages, max_tokens: 10, stream: true })),
  paid("POST /v1/responses", () => ({ model: MODEL, input: "hello" })),
  paid("POST /v1/responses#stream", () => ({ model: MODEL, input: "hello", stream: true })),
  paid("POST /v1/responses#background", () => ({ model: MODEL, input: "hello", background: true })),
  paid(`POST /v1beta/models/${MODEL}:generateContent`, () => ({ contents: [{ parts: [{ text: "hello" }] }] })),
  paid(`POST /v1beta/models/${MODEL}:streamGenerateContent`, () => ({ contents: [{ parts: [{ text: "hello" }] }] })),
  paid(`POST /v1beta/models/${MODEL}:embedContent`, () => ({ content: { parts: [{ text: "hello" }] } })),
  paid("POST /v1/completions", () => ({ model: MODEL, prompt: "hello" })),
  paid("POST /v1/embeddings", () => ({ model: MODEL, input: "hello" })),
  paid("POST /v1/images/generations", () => ({ model: MODEL, prompt: "a sea" })),
  paid("POST /v1/audio/speech", () => ({ model: MODEL, input: "hello", voice: "alloy" })),
  paid("POST /v1/audio/transcriptions", () => form({ model: MODEL, file: sound() })),
  paid("POST /v1/moderations", () => ({ model: MODEL, input: "hello" })),
  paid("POST /v1/videos", () => ({ model: VIDEO, prompt: "a sea" })),
  paid("POST /v1/files", () => form({ purpose: "batch", file: jsonl() })),
  stored("POST /v1/batches", () => ({
    input_file_id: "file-x",
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  })),
  stored("GET /v1/batches"),
  stored("GET /v1/batches/batch_x"),
  stored("POST /v1/batches/batch_x/cancel", () => ({})),
  stored("GET /v1/files"),
  stored("GET /v1/files/file-x"),
  stored("GET /v1/files/file-x/content"),
  stored("DELETE /v1/files/file-x"),
  stored("GET /v1/responses/resp_x"),
  stored("GET /v1/responses/resp_x/input_items"),
  stored("POST /v1/responses/resp_x/cancel", () => ({})),
  stored("DELETE /v1/responses/resp_x"),
  stored("POST /v1/responses#continued", () => ({ model: MODEL, input: "hello", previous_response_id: "resp_x" })),
  stored("POST /v1/responses/input_tokens", () => ({ model: MODEL, input: "hello", previous_response_id: "resp_x" })),
  stored("GET /v1/videos"),
  stored("GET /v1/videos/video_x"),
  stored("GET /v1/videos/video_x/content"),
  stored("GET /v1/video/generations/task_x"),
  stored("GET /suno/fetch/task_x"),
  stored("POST /suno/fetch", () => ({ ids: ["task_x"] })),
  stored("GET /mj/task/task_x/fetch"),
  stored("POST /mj/task/list-by-condition", () => ({ ids: ["task_x"] })),
  stored("GET /v1/dashboard/billing/subscription"),
  stored("GET /v1/dashboard/billing/usage"),
];

/** The head of the answer to a WebSocket's handshake. */
function handshake(url: string, path: string, key: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${key}\r\nconnection: Upgrade\r\n` +
          "upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
      );
    });
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      if (!text.includes("\r\n\r\n")) return;
      socket.destroy();
      resolve(text);
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`closed after: ${text}`)));
  });
}

/** Seconds that an answer asks its caller to wait. */
const waitOf = (header: string | null): number => (header === null ? Number.NaN : Number(header));

describe.each(ENGINES)("the database is away on %s", (engine) => {
  let upstream: FakeUpstream;
  let nodes: Nodes;
  let key = "";
  beforeAll(async () => {
    upstream = startFakeUpstream();
    nodes = await startNodes({ engine });
    const { weir } = nodes;
    await weir.newChannel({
      base_url: upstream.url,
      models: [MODEL, VIDEO, "gpt-realtime"],
      setting: JSON.stringify({ native_calls: "always", allow_files: true, allow_batches: true }),
    });
    await weir.priceModels({ [MODEL]: 1, [VIDEO]: 1, "gpt-realtime": 1 });
    ({ key } = await weir.newToken());
    await until("the channel serves", async () => (await weir.call(key, { model: MODEL, messages })).status === 200);
    nodes.node(0).cutDatabase();
  }, 60_000);
  afterAll(async () => {
    await nodes.stop();
    upstream.close();
  }, 60_000);

  test.each(DOORS.map((door) => [door.line, door] as const))(
    "%s is refused with 503 and a time to come back",
    async (line, { body, needs }) => {
      const [method = "", path = ""] = line.split("#")[0]?.split(" ") ?? [];
      const sent = body?.();
      const answer = await fetch(nodes.node(0).url + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          "anthropic-version": "2023-06-01",
          "accept-language": "en",
          ...(sent && !(sent instanceof FormData) && { "content-type": "application/json" }),
        },
        ...(sent && { body: sent instanceof FormData ? sent : JSON.stringify(sent) }),
      });
      const text = await answer.text();
      // What is on a full disk can still be read.
      if (needs === "reads" && engine === "sqlite" && answer.status < 500) return;
      expect([answer.status, text]).toEqual([
        503,
        expect.stringMatching(/database_unavailable|database is unavailable/),
      ]);
      const wait = waitOf(answer.headers.get("retry-after"));
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(3600);
    },
    30_000,
  );

  test("a realtime session is refused, in its handshake or as its first event", async () => {
    const head = await handshake(nodes.node(0).url, "/v1/realtime?model=gpt-realtime", key);
    expect(head).toMatch(/^HTTP\/1\.1 503 /);
    expect(head).toMatch(/\r\nretry-after: \d+\r\n/i);
  });
});
