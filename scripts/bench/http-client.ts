/**
 * A small HTTP/1.1 client on raw sockets, for measuring: the request is bytes made once, the response is not parsed
 * beyond its end. It costs a few microseconds a call, so that the measured process sets the pace, not the measuring
 * one.
 */
import type { Socket } from "bun";

export interface Target {
  hostname: string;
  port: number;
}

/** A whole POST, ready to send. */
export function postBytes(url: string, key: string, body: string): { target: Target; bytes: Uint8Array } {
  const { hostname, port, host, pathname, search } = new URL(url);
  const head = [
    `POST ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "",
    "",
  ].join("\r\n");
  return { target: { hostname, port: Number(port) }, bytes: Buffer.from(head + body) };
}

export interface Outcome {
  /** HTTP status; 0 when the connection ended before the response did. */
  status: number;
  startedAt: number;
  /** performance.now() when the first content of a stream had arrived; 0 for none. */
  firstAt: number;
  endedAt: number;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = "\r\n0\r\n\r\n";
/** The fake upstream's first word in any dialect; an empty `"content":""` of a role frame is not content. */
const FIRST_CONTENT = /"(?:content|text|delta)":"w/;

/** One connection, one call at a time. */
export class Connection {
  private socket: Socket | undefined;
  private outcome: Outcome = { status: 0, startedAt: 0, firstAt: 0, endedAt: 0 };
  private inHead = true;
  private pending: Buffer = Buffer.alloc(0);
  /** Bytes of the body still to come; -1: chunked. */
  private left = 0;
  private tail = "";
  private seen = "";
  private unsent: Uint8Array = new Uint8Array(0);
  private calling = false;
  private streamed = false;

  constructor(
    private readonly target: Target,
    private readonly done: (connection: Connection, outcome: Outcome) => void,
    /** Also called when the first content arrived. */
    private readonly first: () => void = () => {},
    /** Called with everything that arrives. */
    private readonly heard: () => void = () => {},
  ) {}

  async open(): Promise<void> {
    this.socket = await Bun.connect({
      ...this.target,
      socket: {
        data: (_, chunk) => this.receive(chunk),
        drain: () => this.flush(),
        close: () => this.lost(),
        error: () => this.lost(),
      },
    });
    this.socket.setNoDelay(true);
  }

  get connected(): boolean {
    return this.socket !== undefined;
  }

  send(bytes: Uint8Array): void {
    this.inHead = true;
    this.tail = this.seen = "";
    this.calling = true;
    this.outcome = { status: 0, startedAt: performance.now(), firstAt: 0, endedAt: 0 };
    this.unsent = bytes;
    this.flush();
  }

  close(): void {
    const { socket } = this;
    this.calling = false;
    this.socket = undefined;
    socket?.terminate();
  }

  private flush(): void {
    if (this.unsent.length === 0 || !this.socket) return;
    const sent = this.socket.write(this.unsent);
    this.unsent = this.unsent.subarray(Math.max(0, sent));
  }

  private receive(chunk: Buffer): void {
    if (!this.calling) return;
    this.heard();
    let body = chunk;
    if (this.inHead) {
      const all = this.pending.length > 0 ? Buffer.concat([this.pending, chunk]) : chunk;
      const end = all.indexOf(HEAD_END);
      if (end < 0) {
        this.pending = Buffer.from(all);
        return;
      }
      this.pending = Buffer.alloc(0);
      this.inHead = false;
      const head = all.toString("latin1", 0, end);
      this.outcome.status = Number(head.slice(9, 12));
      this.streamed = /content-type: *text\/event-stream/i.test(head);
      const length = /content-length: *(\d+)/i.exec(head)?.[1];
      this.left = length === undefined ? -1 : Number(length);
      // The second half of the blank line stays in front, because an empty chunked body ends with it.
      body = all.subarray(end + 4);
      this.tail = "\r\n";
    }
    if (this.outcome.firstAt === 0 && this.streamed) {
      this.seen += body.toString("latin1");
      if (FIRST_CONTENT.test(this.seen)) {
        this.outcome.firstAt = performance.now();
        this.seen = "";
        this.first();
      }
    }
    if (this.left >= 0) {
      this.left -= body.length;
      if (this.left <= 0) this.finish();
      return;
    }
    const end =
      body.length >= 7 ? body.toString("latin1", body.length - 7) : (this.tail + body.toString("latin1")).slice(-7);
    this.tail = end;
    if (end === LAST_CHUNK) this.finish();
  }

  private finish(): void {
    this.calling = false;
    this.outcome.endedAt = performance.now();
    this.done(this, this.outcome);
  }

  private lost(): void {
    this.socket = undefined;
    if (!this.calling) return;
    this.calling = false;
    this.done(this, { ...this.outcome, status: 0, endedAt: performance.now() });
  }
}
