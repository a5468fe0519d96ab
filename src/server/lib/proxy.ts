/**
 * fetch through a proxy that an operator configured. Bun handles HTTP proxies; it has no SOCKS (measured with Bun
 * 1.4.5: UnsupportedProxyProtocol), so those are reached through a bridge in this process: an HTTP proxy on the
 * loopback that opens its connections through the SOCKS server named in the request's proxy credentials. One bridge
 * serves all.
 *
 * A call that cannot go through its proxy fails: it never goes directly.
 */
import { randomBytes } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { SocksClient, type SocksProxy } from "socks";
import { proxyAddress } from "../../shared/channel-setting";

/** The address is no proxy, or the proxy is down or refuses. */
export class ProxyFailed extends Error {
  readonly code = "PROXY_FAILED";
}

/** As fetch. With a text in `init.proxy` the call goes through that proxy or throws. */
export const fetchThrough = (url: string, init: BunFetchRequestInit): Promise<Response> =>
  typeof init.proxy === "string" ? fetchByProxy(url, init, init.proxy) : fetch(url, init);

async function fetchByProxy(url: string, init: BunFetchRequestInit, through: string): Promise<Response> {
  const { url: proxy, bridge } = await httpProxy(through);
  // The bridge handles one plain call per connection; a kept one would be closed under the next call.
  const kept = bridge && url.startsWith("http:") ? { keepalive: false } : {};
  // NO_PROXY of the environment is for the environment's proxy.
  const response = await fetch(url, { ...init, ...kept, proxy: { url: proxy, respectNoProxy: false } });
  if (response.status !== 407) return response;
  // Only a proxy sends this status (RFC 9110 15.5.8), for a plain http upstream in place of its response.
  response.body?.cancel().catch(() => undefined);
  return refuse("the proxy wants other credentials, or could not connect");
}

/** The HTTP proxy by which a proxy of any kind is reached. Throws ProxyFailed for a text that is no proxy's address. */
async function httpProxy(proxy: string): Promise<{ url: string; bridge: boolean }> {
  const address = proxyAddress(proxy) ?? refuse("not the address of a proxy");
  const bridge = address.protocol.startsWith("socks");
  return { url: bridge ? await bridged(address) : address.href, bridge };
}

/**
 * Makes a WebSocket through a proxy of any kind; undefined: directly. Bun's constructor (1.4.5) applies NO_PROXY of the
 * environment without an option against it, but that variable is for the environment's proxy.
 */
export async function socketThrough<Socket>(
  proxy: string | undefined,
  make: (options: { proxy?: string }) => Socket,
): Promise<Socket> {
  if (proxy === undefined) return make({});
  const { url } = await httpProxy(proxy);
  const { NO_PROXY, no_proxy } = process.env;
  if (NO_PROXY !== undefined) process.env.NO_PROXY = "";
  if (no_proxy !== undefined) process.env.no_proxy = "";
  try {
    return make({ proxy: url });
  } finally {
    if (NO_PROXY !== undefined) process.env.NO_PROXY = NO_PROXY;
    if (no_proxy !== undefined) process.env.no_proxy = no_proxy;
  }
}

function refuse(why: string): never {
  throw new ProxyFailed(why);
}

const HEAD_LIMIT = 64 * 1024;
/** Longest wait for a SOCKS server; a call's own limits are usually shorter. */
const SOCKS_TIMEOUT_MS = 30_000;
const END_OF_HEAD = Buffer.from("\r\n\r\n");
/** The response that Bun turns into ERR_PROXY_TUNNEL for https, and that fetchThrough recognises for http. */
const REFUSAL = "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/** Keeps other processes on this machine from using the bridge. */
const password = randomBytes(24).toString("base64url");
let listening: Promise<number> | undefined;

async function bridged({ href }: URL): Promise<string> {
  listening ??= openBridge();
  return `http://${Buffer.from(href).toString("base64url")}:${password}@127.0.0.1:${await listening}`;
}

/** The port it listens on. */
function openBridge(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      readHead(socket);
    });
    server.on("error", (error) => {
      listening = undefined;
      reject(error);
    });
    server.listen(0, "127.0.0.1", () => {
      const at = server.address();
      if (typeof at === "object" && at) resolve(at.port);
    });
    server.unref();
  });
}

function readHead(socket: Socket): void {
  let read = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    read = Buffer.concat([read, chunk]);
    const end = read.indexOf(END_OF_HEAD);
    if (end < 0 && read.length < HEAD_LIMIT) return;
    socket.off("data", onData);
    socket.pause();
    const request = end < 0 ? undefined : readRequest(read.toString("latin1", 0, end));
    if (!request) return void socket.end(REFUSAL);
    void connect(socket, request, read.subarray(end + END_OF_HEAD.length));
  };
  socket.on("data", onData);
}

interface ProxyRequest {
  proxy: URL;
  host: string;
  port: number;
  /** Sent to the host first; undefined for a tunnel. */
  head: string | undefined;
}

/** The request of our own fetch; undefined for one of another process. */
function readRequest(text: string): ProxyRequest | undefined {
  const [line = "", ...headers] = text.split("\r\n");
  const [method = "", target = "", version = ""] = line.split(" ");
  const credentials = headers
    .find((header) => /^proxy-authorization: *basic /i.test(header))
    ?.replace(/^[^:]*: *basic */i, "");
  const [user = "", pass] = Buffer.from(credentials ?? "", "base64")
    .toString("latin1")
    .split(":");
  const proxy = pass === password ? proxyAddress(Buffer.from(user, "base64url").toString("utf8")) : undefined;
  const url = URL.parse(method === "CONNECT" ? `http://${target}` : target);
  if (!proxy || !url) return undefined;
  const address = { proxy, host: bare(url.hostname), port: Number(url.port) || 80 };
  if (method === "CONNECT") return { ...address, head: undefined };
  const passed = headers.filter((header) => !/^(proxy-[^:]*|connection):/i.test(header));
  // One call a connection: the next may be for another host.
  return {
    ...address,
    head: [`${method} ${url.pathname}${url.search} ${version}`, ...passed, "Connection: close", "", ""].join("\r\n"),
  };
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");

function socksOf({ protocol, hostname, port, username, password: secret }: URL): SocksProxy {
  return {
    host: bare(hostname),
    port: Number(port) || 1080,
    type: protocol.startsWith("socks4") ? 4 : 5,
    ...(username !== "" && { userId: decodeURIComponent(username) }),
    ...(secret !== "" && { password: decodeURIComponent(secret) }),
  };
}

async function connect(socket: Socket, { proxy, host, port, head }: ProxyRequest, rest: Buffer): Promise<void> {
  let upstream: Socket;
  try {
    // The SOCKS server gets the name unresolved.
    ({ socket: upstream } = await SocksClient.createConnection({
      proxy: socksOf(proxy),
      command: "connect",
      destination: { host, port },
      timeout: SOCKS_TIMEOUT_MS,
    }));
  } catch {
    socket.end(REFUSAL);
    return;
  }
  if (socket.destroyed) return void upstream.destroy();
  upstream.on("error", () => socket.destroy());
  upstream.on("close", () => socket.end());
  socket.on("close", () => upstream.destroy());
  if (head === undefined) socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  else upstream.write(head, "latin1");
  if (rest.length > 0) upstream.write(rest);
  socket.pipe(upstream);
  upstream.pipe(socket);
}
