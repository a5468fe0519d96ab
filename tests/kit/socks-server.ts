/** A SOCKS5 server for tests (RFC 1928, 1929): connects to the requested address and records it. */
import { connect, createServer, type Socket } from "node:net";

export interface SocksServer {
  /** socks5://127.0.0.1:port, with credentials if it requires some. */
  readonly url: string;
  /** Hosts and ports as the client named them. */
  readonly asked: string[];
  [Symbol.dispose](): void;
}

/** `user:password` is required when given. Every host name resolves to 127.0.0.1. */
export async function startSocks(credentials?: string): Promise<SocksServer> {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => open.delete(socket));
    let step: (data: Buffer) => void = (data) => {
      const wanted = credentials === undefined ? 0 : 2;
      const offered = data.subarray(2, 2 + (data[1] ?? 0));
      if (!offered.includes(wanted)) return void socket.end(Buffer.from([5, 0xff]));
      step = wanted === 0 ? request : login;
      socket.write(Buffer.from([5, wanted]));
    };
    const login = (data: Buffer): void => {
      const length = data[1] ?? 0;
      const user = data.toString("utf8", 2, 2 + length);
      const secret = data.toString("utf8", 3 + length, 3 + length + (data[2 + length] ?? 0));
      if (`${user}:${secret}` !== credentials) return void socket.end(Buffer.from([1, 1]));
      step = request;
      socket.write(Buffer.from([1, 0]));
    };
    const request = (data: Buffer): void => {
      const named = data[3] === 3;
      const end = named ? 5 + (data[4] ?? 0) : 8;
      const host = named ? data.toString("utf8", 5, end) : [...data.subarray(4, 8)].join(".");
      const port = data.readUInt16BE(end);
      asked.push(`${host}:${port}`);
      const upstream = connect(port, named ? "127.0.0.1" : host, () => {
        socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
        socket.pipe(upstream);
        upstream.pipe(socket);
      });
      step = () => undefined;
      upstream.on("error", () => socket.end(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])));
      socket.on("close", () => upstream.destroy());
    };
    socket.on("data", (data: Buffer) => step(data));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = server.address();
  const port = typeof at === "object" && at ? at.port : 0;
  return {
    url: `socks5://${credentials === undefined ? "" : `${credentials}@`}127.0.0.1:${port}`,
    asked,
    [Symbol.dispose]() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
