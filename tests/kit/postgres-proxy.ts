/**
 * A TCP proxy in front of Postgres that fails like networks do: refuses and cuts connections, or goes silent without
 * closing them.
 */
import { connect, createServer, type Server, type Socket } from "node:net";

export interface PostgresProxy {
  /** The database's URL through the proxy. */
  readonly url: string;
  /** Connections that are open and still forwarded. */
  live(): number;
  /** Connections that went silent and that the client has not closed yet. */
  silent(): number;
  /** The current connections stop forwarding both ways, and stay open: no RST, no FIN. `next`: later ones too. */
  silence(options: { next: boolean }): void;
  /** Later connections are forwarded again. */
  heal(): void;
  /** Every connection is cut, and new ones are refused. */
  cut(): void;
  /** After any of these: connections are accepted and forwarded again, and silent ones end on both sides. */
  mend(): void;
  /** Cuts a connection as soon as the client sends a statement that `matches`. */
  cutWhen(matches: ((statement: string) => boolean) | undefined): void;
  /** How many were cut. */
  readonly cuts: number;
  close(): Promise<void>;
}

interface Link {
  client: Socket;
  server: Socket;
  silent: boolean;
}

/** Finds the statements that a client starts (frontend messages of protocol 3); prepared ones by their name. */
function statementReader(): (chunk: Buffer) => string[] {
  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  const prepared = new Map<string, string>();
  return (chunk) => {
    const found: string[] = [];
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      // The first message has no type.
      const head = started ? 1 : 0;
      if (rest.length < head + 4) return found;
      const end = head + rest.readInt32BE(head);
      if (rest.length < end) return found;
      const type = started ? String.fromCharCode(rest[0] ?? 0) : "";
      const [first = "", second = ""] = rest
        .subarray(head + 4, end)
        .toString("latin1")
        .split("\0");
      if (type === "P") prepared.set(first, second);
      if (type === "B") found.push(prepared.get(second) ?? "");
      if (type === "Q") found.push(first);
      started = true;
      rest = rest.subarray(end);
    }
  };
}

export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const links = new Set<Link>();
  /** Server sides of silent connections that the client has closed. */
  const left = new Set<Socket>();
  let next = false;
  let matches: ((statement: string) => boolean) | undefined;
  let cuts = 0;

  const server: Server = createServer((client) => {
    const link: Link = { client, server: connect(Number(target.port), target.hostname), silent: next };
    links.add(link);
    const end = () => {
      if (!links.delete(link)) return;
      client.destroy();
      // A silent network does not report a lost client to the server.
      if (link.silent) left.add(link.server);
      else link.server.destroy();
    };
    const read = statementReader();
    const forward = (from: Socket, to: Socket, look: boolean) => {
      from.on("data", (chunk: Buffer) => {
        const wanted = matches;
        // Always read: a statement prepared now may run later.
        if (look && read(chunk).some((statement) => wanted?.(statement))) {
          cuts++;
          return end();
        }
        if (!link.silent) to.write(chunk);
      });
      from.on("close", end);
      from.on("error", end);
    };
    forward(client, link.server, true);
    forward(link.server, client, false);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  let listens = true;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy did not start");
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(address.port);

  const endLeft = (): void => {
    for (const upstream of left) upstream.destroy();
    left.clear();
  };
  const count = (silent: boolean) => [...links].filter((link) => link.silent === silent).length;
  return {
    url: url.href,
    live: () => count(false),
    silent: () => count(true),
    silence: (options) => {
      for (const link of links) link.silent = true;
      next = options.next;
    },
    heal: () => {
      next = false;
    },
    cut: () => {
      if (listens) server.close();
      listens = false;
      for (const { client } of links) client.destroy();
    },
    mend: () => {
      next = false;
      for (const link of links) {
        if (!link.silent) continue;
        // A network that works again tells the server, too.
        link.silent = false;
        link.client.destroy();
      }
      endLeft();
      if (!listens) server.listen(address.port, "127.0.0.1");
      listens = true;
    },
    cutWhen: (found) => {
      matches = found;
    },
    get cuts() {
      return cuts;
    },
    close: async () => {
      for (const { client, server: upstream } of links) {
        client.destroy();
        upstream.destroy();
      }
      endLeft();
      if (listens) await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
