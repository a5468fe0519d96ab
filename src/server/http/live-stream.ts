/** Server-sent events for a page that stays open, for as long as its caller may read them. */
import type { UserActor } from "../contracts/actor";
import type { Services } from "../contracts/context";
import { PING, writeFrame } from "../lib/sse";
import { watchStanding } from "./standing";

const PING_EVERY_MS = 15_000;
/** After this the listener must reconnect: a connection whose other end is gone does not stay for ever. */
const LISTEN_MS = 300_000;
/** Events that wait for a slow reader. */
const BUFFER = 8;

export interface LiveStream {
  /** False while the reader is behind: what is said then waits in memory. */
  ready(): boolean;
  /** Sends a value as JSON. */
  say(value: unknown): void;
  /** Ends the response. */
  close(): void;
}

export interface LiveParts {
  request: Request;
  actor: UserActor;
  /** Ends the response when it aborts: the process stops. */
  over: AbortSignal;
  /** Called once when reading begins. */
  began(stream: LiveStream): void | Promise<void>;
  /** Called once when the response has ended, by either side. */
  ended(): void;
}

/** The response; it ends with the caller's standing, after five minutes, or when they leave. */
export function liveResponse(services: Services, { request, actor, over, began, ended }: LiveParts): Response {
  let close = () => {};
  const body = new ReadableStream<Uint8Array>(
    {
      start: async (controller) => {
        const ready = () => (controller.desiredSize ?? 0) > 0;
        const ping = setInterval(() => ready() && controller.enqueue(PING), PING_EVERY_MS);
        const limit = setTimeout(() => close(), LISTEN_MS);
        const unwatch = watchStanding(services, request, actor, () => close());
        const left = () => close();
        close = () => {
          close = () => {};
          clearInterval(ping);
          clearTimeout(limit);
          unwatch();
          ended();
          over.removeEventListener("abort", left);
          try {
            controller.close();
          } catch {
            // The listener has disconnected, and the stream is over.
          }
        };
        over.addEventListener("abort", left, { once: true });
        request.signal.addEventListener("abort", left, { once: true });
        await began({ ready, say: (value) => controller.enqueue(writeFrame(JSON.stringify(value))), close: left });
      },
      cancel: () => close(),
    },
    { highWaterMark: BUFFER },
  );
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    },
  });
}
