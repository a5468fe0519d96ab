/**
 * HTTP/1.1 (RFC 9112) over plain TCP, just enough for an upstream that must also be able to misbehave.
 *
 * Why not Bun.serve: it corrects content-length, cannot send headers without a body byte, cannot cut inside the head,
 * and prints every intended stream failure to stderr. Here every byte, FIN and RST is under control, on the same port
 * as the good answers.
 */
import type { Socket, TCPSocketListener } from "bun";

const EMPTY: Buffer = Buffer.alloc(0);
const HEAD_END = Buffer.from("\r\n\r\n");
const CRLF = Buffer.from("\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");
const REASONS: Record<number, string> = {
  200: "OK",
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  413: "Content Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

export type Headers = Record<string, string>;

/** One parsed request; the body is complete and unchunked. */
export class WireRequest {
  readonly method: string;
  /** Path without query, percent-decoding left undone. */
  readonly path: string;
  /** Query string without "?", "" when there is none. */
  readonly search: string;
  readonly #head: string;
  #headers?: Headers;

  constructor(
    head: string,
    readonly body: Buffer,
  ) {
    this.#head = head;
    const first = head.indexOf(" ");
    const second = head.indexOf(" ", first + 1);
    const target = head.slice(first + 1, second);
    const mark = target.indexOf("?");
    this.method = head.slice(0, first);
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.search = mark < 0 ? "" : target.slice(mark + 1);
  }

  /** The caller wants the connection closed after this answer. */
  get lastOne(): boolean {
    return /\r\nconnection: *close/i.test(this.#head) || this.#head.includes(" HTTP/1.0\r\n");
  }

  /** Header names in lower case; repeated headers are joined with ", ". */
  get headers(): Headers {
    if (this.#headers) return this.#headers;
    const headers: Headers = {};
    for (const line of this.#head.split("\r\n").slice(1)) {
      const colon = line.indexOf(":");
      if (colon < 0) continue;
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
    }
    return (this.#headers = headers);
  }
}

/** The answering side of one request. Exactly one of finish, reset, disconnect or the caller's leaving ends it. */
export class Exchange {
  bytesWritten = 0;
  /** The caller's connection closed before the answer was finished. */
  aborted = false;
  over = false;
  #chunked = false;
  #leave?: () => void;
  #left?: Promise<void>;

  constructor(
    readonly connection: Connection,
    readonly request: WireRequest,
    readonly onOver: (exchange: Exchange) => void,
  ) {}

  /** Resolves when the caller has gone; never rejects. */
  get left(): Promise<void> {
    this.#left ??= this.over ? Promise.resolve() : new Promise((resolve) => (this.#leave = resolve));
    return this.#left;
  }

  /** Sends the head at once. `length`: content-length, which may be false; undefined: chunked. */
  async start(status: number, headers: Headers, length?: number): Promise<void> {
    this.#chunked = length === undefined;
    await this.raw(encodeHead(status, headers, length));
  }

  /** Sends body bytes, as one chunk where the answer is chunked. */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0 || this.request.method === "HEAD") return;
    await this.raw(this.#chunked ? chunk(bytes) : bytes);
  }

  /** Sends bytes as they are. */
  async raw(bytes: Uint8Array): Promise<void> {
    if (this.over) return;
    this.bytesWritten += bytes.length;
    await this.connection.write(bytes);
  }

  /** Ends the answer normally; the connection serves the next request, or closes if the caller requested that. */
  async finish(): Promise<void> {
    if (this.#chunked && this.request.method !== "HEAD") await this.raw(LAST_CHUNK);
    this.#release();
  }

  /** Sends a complete prepared answer (see `encodeAnswer`) in one write. */
  sendPrepared(bytes: Uint8Array): void {
    this.bytesWritten += bytes.length;
    const rest = this.connection.write(bytes);
    if (rest) void rest.then(() => this.#release());
    else this.#release();
  }

  /** Ends with a TCP reset. Sent bytes get a moment to arrive, because a reset may overtake them. */
  async reset(): Promise<void> {
    await Bun.sleep(15);
    this.#end();
    this.connection.socket.terminate();
  }

  /** Ends with a plain FIN, whatever the head promised. */
  disconnect(): void {
    this.#end();
    this.connection.socket.end();
  }

  /** Called by the connection when the caller is gone. */
  abandon(): void {
    if (this.over) return;
    this.aborted = true;
    this.#end();
  }

  #release(): void {
    if (this.over) return;
    this.#end();
    if (this.request.lastOne) this.connection.socket.end();
    else this.connection.next();
  }

  #end(): void {
    if (this.over) return;
    this.over = true;
    this.#leave?.();
    this.onOver(this);
  }
}

export type Handler = (exchange: Exchange) => void;

/** One TCP connection: collects requests, hands them out one at a time, writes with backpressure. */
export class Connection {
  #input: Buffer = EMPTY;
  #output: Uint8Array[] = [];
  #drained?: { promise: Promise<void>; resolve: () => void };
  #current?: Exchange;
  #continued = false;

  constructor(
    readonly socket: Socket<Connection>,
    readonly handler: Handler,
    readonly onOver: (exchange: Exchange) => void,
  ) {}

  feed(data: Buffer): void {
    this.#input = this.#input.length === 0 ? data : Buffer.concat([this.#input, data]);
    if (!this.#current) this.#take();
  }

  next(): void {
    this.#current = undefined;
    if (this.#input.length > 0) this.#take();
  }

  closed(): void {
    const current = this.#current;
    this.#current = undefined;
    this.#output = [];
    this.#drained?.resolve();
    current?.abandon();
  }

  /** Undefined when the kernel took everything; otherwise a promise for that. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#output.length === 0) {
      const written = this.socket.write(bytes);
      if (written === bytes.length || written < 0) return undefined;
      bytes = bytes.subarray(written);
    }
    this.#output.push(bytes);
    if (!this.#drained) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#drained = { promise, resolve };
    }
    return this.#drained.promise;
  }

  drain(): void {
    for (let first = this.#output[0]; first; first = this.#output[0]) {
      const written = this.socket.write(first);
      if (written < 0) break;
      if (written < first.length) {
        this.#output[0] = first.subarray(written);
        return;
      }
      this.#output.shift();
    }
    const drained = this.#drained;
    this.#drained = undefined;
    drained?.resolve();
  }

  #take(): void {
    const headEnd = this.#input.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#input.toString("latin1", 0, headEnd);
    const bodyStart = headEnd + 4;
    let body: Buffer = EMPTY;
    let next = bodyStart;
    if (/\r\ntransfer-encoding:[^\r]*chunked/i.test(head)) {
      const read = readChunked(this.#input, bodyStart);
      if (!read) return this.#continue(head);
      ({ body, next } = read);
    } else {
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      next = bodyStart + length;
      if (this.#input.length < next) return this.#continue(head);
      body = this.#input.subarray(bodyStart, next);
    }
    this.#input = next === this.#input.length ? EMPTY : this.#input.subarray(next);
    this.#continued = false;
    this.#current = new Exchange(this, new WireRequest(head, body), this.onOver);
    this.handler(this.#current);
  }

  #continue(head: string): void {
    if (this.#continued || !/\r\nexpect: *100-continue/i.test(head)) return;
    this.#continued = true;
    this.socket.write("HTTP/1.1 100 Continue\r\n\r\n");
  }
}

function readChunked(input: Buffer, start: number): { body: Buffer; next: number } | undefined {
  const parts: Buffer[] = [];
  for (let at = start; ;) {
    const lineEnd = input.indexOf(CRLF, at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(input.toString("latin1", at, lineEnd), 16);
    at = lineEnd + 2;
    if (input.length < at + size + 2) return undefined;
    if (size === 0) return { body: Buffer.concat(parts), next: at + 2 };
    parts.push(input.subarray(at, at + size));
    at += size + 2;
  }
}

let dateSecond = 0;
let dateText = "";
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

export function encodeHead(status: number, headers: Headers, length?: number): Uint8Array {
  let head = `HTTP/1.1 ${status} ${REASONS[status] ?? "Status"}\r\ndate: ${httpDate()}\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  head += length === undefined ? "transfer-encoding: chunked\r\n\r\n" : `content-length: ${length}\r\n\r\n`;
  return Buffer.from(head, "latin1");
}

export function chunk(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]);
}

/** A complete answer for `sendPrepared`: body with content-length, or frames as chunks. */
export function encodeAnswer(status: number, headers: Headers, body: Uint8Array | Uint8Array[]): Uint8Array {
  if (!Array.isArray(body)) return Buffer.concat([encodeHead(status, headers, body.length), body]);
  return Buffer.concat([encodeHead(status, headers), ...body.map(chunk), LAST_CHUNK]);
}

/** Listens; `connections` counts what is open now and what was ever accepted. */
export function listen(
  options: { port: number; hostname: string },
  handler: Handler,
  onOver: (exchange: Exchange) => void,
): { listener: TCPSocketListener<Connection>; connections: { open: number; accepted: number } } {
  const connections = { open: 0, accepted: 0 };
  const listener = Bun.listen<Connection>({
    port: options.port,
    hostname: options.hostname,
    exclusive: true,
    socket: {
      open(socket) {
        connections.open++;
        connections.accepted++;
        socket.setNoDelay(true);
        socket.data = new Connection(socket, handler, onOver);
      },
      data: (socket, data) => socket.data.feed(data),
      drain: (socket) => socket.data.drain(),
      close(socket) {
        connections.open--;
        socket.data.closed();
      },
      error: () => {},
    },
  });
  return { listener, connections };
}
