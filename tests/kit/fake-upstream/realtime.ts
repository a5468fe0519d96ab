/**
 * A realtime upstream: OpenAI's WebSocket protocol, as its API reference and SDK (openai 7.55, resources/realtime,
 * November 2026) describe the events. The model's name says what it does:
 *
 *   deltas:N      N pieces of sound a response (2)            slow          a response goes on until it is cancelled
 *   no-usage      response.done without usage                 cut           the connection breaks inside a response
 *   failed        response.done says that it failed           close:CODE    closes with CODE after the first response
 *   exhausted     an error event: the account is used up      transcribe    writes down what is said, with usage
 *   status:CODE   refuses the handshake                       flood         sends 40 MB as fast as it may
 *   hang          never answers the handshake                deaf          reads nothing until wake()
 *   usage:IN:OUT  response.done with these counts
 *
 * A key that begins with `bad-` is refused. Frames that are no event, and binary ones, come back as they are.
 */
import type { ServerWebSocket } from "bun";

export interface RealtimeConnection {
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  model: string;
  /** Received frames. */
  received: (string | Buffer)[];
  /** Sent frames. */
  sent: (string | Buffer)[];
  closed: { code: number; reason: string } | undefined;
  /** Bytes waiting because the other side does not read. */
  waiting(): number;
  /** A deaf connection starts to read. */
  wake(): void;
}

export interface FakeRealtime {
  url: string;
  connections: RealtimeConnection[];
  last(): RealtimeConnection;
  close(): void;
}

interface Data {
  entry: RealtimeConnection;
  running: string | undefined;
  responses: number;
}

/** 132 in (13 of audio), 64 of them cached, 121 out (91 of audio). */
export const REALTIME_USAGE = {
  total_tokens: 253,
  input_tokens: 132,
  output_tokens: 121,
  input_token_details: {
    text_tokens: 119,
    audio_tokens: 13,
    image_tokens: 0,
    cached_tokens: 64,
    cached_tokens_details: { text_tokens: 60, audio_tokens: 4, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 30, audio_tokens: 91 },
};

export function startFakeRealtime(): FakeRealtime {
  const connections: RealtimeConnection[] = [];
  let events = 0;

  const send = (ws: ServerWebSocket<Data>, event: Record<string, unknown>): void => {
    const { type, ...rest } = event;
    const frame = JSON.stringify({ type, event_id: `event_${++events}`, ...rest });
    ws.data.entry.sent.push(frame);
    ws.send(frame);
  };
  const has = (ws: ServerWebSocket<Data>, word: string): boolean => ws.data.entry.model.split("+").includes(word);
  const number = (ws: ServerWebSocket<Data>, word: string): number | undefined => {
    const part = ws.data.entry.model.split("+").find((each) => each.startsWith(`${word}:`));
    return part === undefined ? undefined : Number(part.slice(word.length + 1));
  };

  const finish = (ws: ServerWebSocket<Data>, status: string): void => {
    const id = ws.data.running;
    ws.data.running = undefined;
    const error = { type: "server_error", code: "server_error", message: "The server had an error" };
    const failed = status === "failed" ? { status_details: { type: "failed", error } } : {};
    const [, input, output] =
      ws.data.entry.model
        .split("+")
        .find((each) => each.startsWith("usage:"))
        ?.split(":") ?? [];
    const usage =
      has(ws, "no-usage") || status === "failed"
        ? null
        : input === undefined
          ? REALTIME_USAGE
          : { input_tokens: Number(input), output_tokens: Number(output) };
    send(ws, {
      type: "response.done",
      response: { id, object: "realtime.response", status, ...failed, output: [], usage },
    });
  };

  const respond = (ws: ServerWebSocket<Data>): void => {
    const id = `resp_${++ws.data.responses}`;
    ws.data.running = id;
    send(ws, {
      type: "response.created",
      response: { id, object: "realtime.response", status: "in_progress", output: [], usage: null },
    });
    // 100 ms of audio: two tokens.
    for (let i = 0; i < (number(ws, "deltas") ?? 2); i++) {
      send(ws, {
        type: "response.output_audio.delta",
        response_id: id,
        item_id: "item_1",
        output_index: 0,
        content_index: 0,
        delta: "A".repeat(6400),
      });
    }
    if (has(ws, "exhausted")) {
      send(ws, {
        type: "error",
        error: {
          type: "insufficient_quota",
          code: "insufficient_quota",
          message: "You exceeded your current quota",
          param: null,
          event_id: null,
        },
      });
    }
    if (has(ws, "cut")) return ws.terminate();
    if (has(ws, "slow")) return;
    finish(ws, has(ws, "failed") ? "failed" : "completed");
    const code = number(ws, "close");
    if (code !== undefined) ws.close(code, "as asked");
  };

  const server = Bun.serve<Data>({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request, self) {
      const url = new URL(request.url);
      const query = Object.fromEntries(url.searchParams);
      const model = query.model ?? query.deployment ?? "";
      const headers = Object.fromEntries(request.headers);
      const entry: RealtimeConnection = {
        path: url.pathname,
        query,
        headers,
        model,
        received: [],
        sent: [],
        closed: undefined,
        waiting: () => 0,
        wake: () => undefined,
      };
      connections.push(entry);
      const key = (headers.authorization ?? "").replace(/^Bearer /, "") || (headers["api-key"] ?? "");
      if (key === "" || key.startsWith("bad-"))
        return Response.json({ error: { code: "invalid_api_key" } }, { status: 401 });
      const status = /(?:^|\+)status:(\d+)/.exec(model)?.[1];
      if (status !== undefined) return Response.json({ error: {} }, { status: Number(status) });
      if (model.split("+").includes("hang")) return new Promise<Response>(() => undefined);
      if (self.upgrade(request, { data: { entry, running: undefined, responses: 0 } })) return undefined;
      return new Response("no handshake", { status: 400 });
    },
    websocket: {
      idleTimeout: 0,
      backpressureLimit: 64 << 20,
      open(ws) {
        ws.data.entry.waiting = () => ws.getBufferedAmount();
        if (has(ws, "deaf")) {
          ws.pause();
          ws.data.entry.wake = () => ws.resume();
        }
        const transcription = has(ws, "transcribe") ? { model: "gpt-4o-transcribe" } : null;
        const session = {
          object: "realtime.session",
          id: "sess_1",
          model: ws.data.entry.model,
          audio: { input: { transcription } },
        };
        send(ws, { type: "session.created", session });
      },
      message(ws, frame) {
        ws.data.entry.received.push(frame);
        let event: { type?: unknown } = {};
        try {
          event = typeof frame === "string" ? (JSON.parse(frame) as typeof event) : {};
        } catch {
          // Not an event.
        }
        switch (event.type) {
          case "response.create":
            if (has(ws, "flood")) {
              for (let i = 0; i < 400; i++)
                send(ws, { type: "response.output_audio.delta", response_id: "resp_0", delta: "A".repeat(100_000) });
            }
            return respond(ws);
          case "response.cancel":
            if (ws.data.running !== undefined) finish(ws, "cancelled");
            return;
          case "session.update":
            return send(ws, { type: "session.updated", session: { object: "realtime.session", id: "sess_1" } });
          case "input_audio_buffer.commit":
            return send(ws, {
              type: "conversation.item.input_audio_transcription.completed",
              item_id: "item_2",
              content_index: 0,
              transcript: "hello",
              usage: {
                type: "tokens",
                input_tokens: 22,
                output_tokens: 8,
                total_tokens: 30,
                input_token_details: { audio_tokens: 17, text_tokens: 5 },
              },
            });
          default:
            ws.data.entry.sent.push(frame);
            ws.send(frame);
        }
      },
      close(ws, code, reason) {
        ws.data.entry.closed = { code, reason };
      },
    },
  });

  return {
    url: `http://127.0.0.1:${server.port}`,
    connections,
    last() {
      const entry = connections.at(-1);
      if (!entry) throw new Error("nobody connected");
      return entry;
    },
    close: () => void server.stop(true),
  };
}
