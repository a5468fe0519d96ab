/** A vendor that answers one WebSocket message with many. */
import { socketThrough } from "../../lib/proxy";
import type { PoolChannel } from "../../contracts/channel";
import type { ProviderContext } from "./provider";

/** The browser's WebSocket type, which the compiler uses, has no options. */
const Socket = WebSocket as unknown as new (url: string, options: Bun.WebSocketOptions) => WebSocket;

/** Most buffered characters for a slow caller: a WebSocket cannot be paused. */
const MAX_WAITING = 16 << 20;

/**
 * Connects, sends one text and yields the texts received, until the other side or the reader ends it. Throws when the
 * connection fails or breaks, and when the call's signal aborts. Uses the channel's proxy.
 */
export async function* messagesOf(
  url: string,
  text: string,
  { setting: { proxy } }: PoolChannel,
  { signal }: ProviderContext,
): AsyncGenerator<string> {
  signal.throwIfAborted();
  const socket = await socketThrough(proxy, (through) => new Socket(url, through));
  const waiting: string[] = [];
  let size = 0;
  let ended = false;
  let problem: unknown;
  let wake: () => void = () => undefined;
  const end = (error?: unknown): void => {
    problem ??= error;
    ended = true;
    wake();
  };
  const abort = (): void => end(signal.reason ?? new Error("aborted"));
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  socket.onopen = () => socket.send(text);
  socket.onmessage = ({ data }: MessageEvent<unknown>) => {
    const message = typeof data === "string" ? data : Buffer.from(data as ArrayBuffer).toString("utf8");
    size += message.length;
    if (size > MAX_WAITING) return end(new Error("too much of an answer is waiting"));
    waiting.push(message);
    wake();
  };
  socket.onerror = () => end(new Error("the connection failed"));
  socket.onclose = ({ code }) =>
    end(code === 1000 || code === 1005 ? undefined : new Error(`the connection was closed: ${code}`));
  try {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) {
        size -= next.length;
        yield next;
      } else if (ended) {
        if (problem !== undefined) throw problem;
        return;
      } else {
        await new Promise<void>((resolve) => (wake = resolve));
      }
    }
  } finally {
    signal.removeEventListener("abort", abort);
    socket.close();
  }
}
