/** A POST over a plain TCP socket (connection: close) that reports how the connection ended, which fetch hides. */
import { connect } from "node:net";

export interface RawAnswer {
  /** Everything received, head and chunk framing included. */
  received: Buffer;
  /** One element per read of the socket. */
  reads: Buffer[];
  /** open: nothing more arrived for `quietMs` (long enough for a busy machine), and the connection was still up. */
  end: "fin" | "reset" | "open";
  head: string;
  /** Body with chunk framing removed when the answer was chunked. */
  body: string;
  /** The last chunk arrived (chunked answers only). */
  terminated: boolean;
}

export function rawCall(origin: string, path: string, body: object, quietMs = 1000): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(origin);
  return new Promise((resolve, reject) => {
    const reads: Buffer[] = [];
    const payload = Buffer.from(JSON.stringify(body));
    const socket = connect(Number(port), hostname, () => {
      const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
      socket.write(Buffer.concat([Buffer.from(`${head}Content-Length: ${payload.length}\r\n\r\n`), payload]));
    });
    let quiet = setTimeout(() => done("open"), quietMs);
    const done = (end: RawAnswer["end"]): void => {
      clearTimeout(quiet);
      socket.destroy();
      resolve({ reads, end, ...parse(Buffer.concat(reads)) });
    };
    socket.on("data", (data: Buffer) => {
      reads.push(data);
      clearTimeout(quiet);
      quiet = setTimeout(() => done("open"), quietMs);
    });
    socket.on("end", () => done("fin"));
    socket.on("error", (error: Error & { code?: string }) =>
      error.code === "ECONNRESET" ? done("reset") : reject(error),
    );
  });
}

function parse(received: Buffer): Pick<RawAnswer, "received" | "head" | "body" | "terminated"> {
  const split = received.indexOf("\r\n\r\n");
  if (split < 0) return { received, head: received.toString(), body: "", terminated: false };
  const head = received.toString("latin1", 0, split);
  const rest = received.subarray(split + 4);
  if (!/transfer-encoding: chunked/i.test(head)) return { received, head, body: rest.toString(), terminated: false };
  const parts: Buffer[] = [];
  for (let at = 0; at < rest.length;) {
    const lineEnd = rest.indexOf("\r\n", at);
    const size = Number.parseInt(rest.toString("latin1", at, lineEnd), 16);
    if (size === 0) return { received, head, body: Buffer.concat(parts).toString(), terminated: true };
    parts.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 4 + size;
  }
  return { received, head, body: Buffer.concat(parts).toString(), terminated: false };
}
