/** Streams of the server that a page follows while it is seen. */
import { eventData } from "./event-stream";
import { type CallError, callHeaders, refusalOf } from "./http";

/** Milliseconds until the next attempt after a lost connection: doubled each time, up to half a minute. */
const FIRST_RETRY = 1000;
const LAST_RETRY = 30_000;

const pause = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });

export interface Following<T> {
  /** The address, asked before each attempt. */
  path: () => string;
  signal: AbortSignal;
  /** An event of the stream. */
  take: (event: T) => void;
  /** Whether it is connected. */
  heard: (live: boolean) => void;
  /** The server answered with something else. */
  refused: (error: CallError) => void;
}

/** Listens until `signal` aborts; connects again whenever the connection ends. */
export async function follow<T>({ path, signal, take, heard, refused }: Following<T>): Promise<void> {
  let retry = FIRST_RETRY;
  while (!signal.aborted) {
    try {
      const response = await fetch(path(), { headers: callHeaders(), signal });
      if (response.status === 204) {
        retry = LAST_RETRY;
      } else if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
        refused(await refusalOf(response));
        // Signed out, or not allowed: asking again changes nothing.
        if (response.status < 429) return heard(false);
      } else if (response.body) {
        for await (const data of eventData(response.body)) {
          retry = FIRST_RETRY;
          heard(true);
          take(JSON.parse(data) as T); // our own server's
        }
      }
    } catch {
      // The connection was lost; the next attempt shows whether it is back.
    }
    if (signal.aborted) return;
    heard(false);
    await pause(retry, signal);
    retry = Math.min(retry * 2, LAST_RETRY);
  }
}

/** For useSyncExternalStore: the tab was hidden or shown. */
export function onVisibility(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}
