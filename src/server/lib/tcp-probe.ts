/** Whether a host answers at all: fetch does not distinguish a connection that hangs from a slow response. */

const DEFAULT_PORT: Readonly<Record<string, number>> = { "https:": 443, "wss:": 443, "http:": 80, "ws:": 80 };

const PROXY_VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];

/** Opens and closes a TCP connection to the host of a URL. False when it is refused or takes longer than `ms`. */
export async function reachable(url: string, ms: number): Promise<boolean> {
  // fetch uses the environment's proxy: a direct connection would prove nothing.
  if (PROXY_VARIABLES.some((name) => process.env[name])) return true;
  const { hostname, port, protocol } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const connection = Bun.connect({
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (DEFAULT_PORT[protocol] ?? 443) : Number(port),
    socket: {
      open(socket) {
        resolve(true);
        socket.end();
      },
      data() {},
    },
  });
  connection.catch(() => resolve(false));
  const reached = await promise;
  clearTimeout(timer);
  return reached;
}
