/**
 * A proxy to a TCP server that can be cut (connections end, and new ones are refused) or go silent, until it is
 * restored.
 */
import type { Socket, TCPSocketListener } from "bun";

interface Side {
  other: Socket<Side> | undefined;
  /** Data that arrived before the other side was connected. */
  early: Uint8Array[];
  /** Data for this side that its kernel has not taken yet. */
  waiting: Uint8Array[];
}

export interface Way {
  readonly port: number;
  cut(): void;
  /** Nothing passes any more, without an error: what was sent is lost. */
  silence(): void;
  mend(): void;
  close(): void;
}

/** Writes what the kernel takes, and keeps the rest for `drain`. */
function give(socket: Socket<Side>, bytes: Uint8Array): void {
  const { waiting } = socket.data;
  const written = waiting.length > 0 ? 0 : Math.max(0, socket.write(bytes));
  if (written < bytes.length) waiting.push(Uint8Array.from(bytes.subarray(written)));
}

function drain(socket: Socket<Side>): void {
  for (const bytes of socket.data.waiting.splice(0)) give(socket, bytes);
}

/** Forwards to `port` of this machine. */
export function wayTo(port: number): Way {
  const open = new Set<Socket<Side>>();
  let silent = false;
  const end = (socket: Socket<Side>): void => {
    open.delete(socket);
    socket.data.other?.end();
  };
  const pass = (socket: Socket<Side>, bytes: Uint8Array): void => {
    if (silent) return;
    const { other, early } = socket.data;
    if (!other) return void early.push(Uint8Array.from(bytes));
    give(other, bytes);
  };
  const listen = (at: number): TCPSocketListener<Side> =>
    Bun.listen<Side>({
      hostname: "127.0.0.1",
      port: at,
      socket: {
        open: (near) => {
          near.data = { other: undefined, early: [], waiting: [] };
          open.add(near);
          void Bun.connect<Side>({
            hostname: "127.0.0.1",
            port,
            data: { other: near, early: [], waiting: [] },
            socket: {
              open: (far) => {
                near.data.other = far;
                for (const bytes of near.data.early) give(far, bytes);
              },
              data: pass,
              drain,
              close: end,
              error: end,
            },
          }).catch(() => near.end());
        },
        data: pass,
        drain,
        close: end,
        error: end,
      },
    });
  let listener: TCPSocketListener<Side> | undefined = listen(0);
  const { port: own } = listener;
  const cut = (): void => {
    listener?.stop(true);
    listener = undefined;
    for (const socket of open) socket.terminate();
    open.clear();
  };
  return {
    port: own,
    cut,
    silence: () => void (silent = true),
    mend: () => {
      if (silent) cut();
      silent = false;
      listener ??= listen(own);
    },
    close: cut,
  };
}
