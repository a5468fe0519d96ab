import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { type LogTail, type LogView, MAX_TAIL_ROWS } from "../../../shared/log-list";
import { eventData } from "../../lib/event-stream";
import { reportError } from "../../lib/errors";
import { callHeaders, refusalOf } from "../../lib/http";

/** Milliseconds until the next attempt after a lost connection: doubled each time, up to half a minute. */
const FIRST_RETRY = 1000;
const LAST_RETRY = 30_000;

function onVisibility(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}

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

/** Listens until `signal` aborts; reconnects, with the last row it received, whenever the connection ends. */
async function follow(
  query: string,
  signal: AbortSignal,
  take: (tail: LogTail) => void,
  heard: (live: boolean) => void,
): Promise<void> {
  let end: number | undefined;
  let retry = FIRST_RETRY;
  while (!signal.aborted) {
    try {
      const since = end === undefined ? "" : `&since=${end}`;
      const response = await fetch(`/api/log/live?${query}${since}`, { headers: callHeaders(), signal });
      if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
        reportError(await refusalOf(response));
        // Signed out, or not allowed: asking again changes nothing.
        if (response.status < 429) return heard(false);
      } else if (response.body) {
        for await (const data of eventData(response.body)) {
          const tail = JSON.parse(data) as LogTail; // our own server's
          end = tail.end;
          retry = FIRST_RETRY;
          heard(true);
          take(tail);
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

export interface LiveLog {
  /** Newest first, at most MAX_TAIL_ROWS. */
  rows: readonly LogView[];
  /** Rows held back while the pointer is over the list or a row is open. */
  waiting: number;
  /** More came than could be shown. */
  skipped: boolean;
  /** False while reconnecting. */
  connected: boolean;
  /** Shows the rows held back. */
  flush: () => void;
}

const NONE: readonly LogView[] = [];

/**
 * New rows of the log as they are written. Not connected while `on` is false or the tab is hidden; when it is
 * shown again, the missed rows are loaded. While `held` new rows wait, so that nothing moves under the pointer.
 */
export function useLogTail({ on, query, held }: { on: boolean; query: string; held: boolean }): LiveLog {
  const hidden = useSyncExternalStore(onVisibility, () => document.hidden);
  const [shown, setShown] = useState(NONE);
  const [waiting, setWaiting] = useState(NONE);
  const [skipped, setSkipped] = useState(false);
  const [connected, setConnected] = useState(true);
  const isHeld = useRef(held);
  isHeld.current = held;

  useEffect(() => {
    setShown(NONE);
    setWaiting(NONE);
    setSkipped(false);
  }, [on, query]);

  useEffect(() => {
    if (!on || hidden) return;
    const stop = new AbortController();
    const take = ({ items, skipped: more }: LogTail) => {
      if (more) setSkipped(true);
      if (items.length > 0) (isHeld.current ? setWaiting : setShown)((rows) => joinRows(items, rows));
    };
    void follow(query, stop.signal, take, setConnected);
    return () => stop.abort();
  }, [on, hidden, query]);

  const flush = () => {
    setShown((rows) => joinRows(waiting, rows));
    setWaiting(NONE);
  };
  useEffect(() => {
    if (held || waiting.length === 0) return;
    setShown((rows) => joinRows(waiting, rows));
    setWaiting(NONE);
  }, [held, waiting]);

  return { rows: shown, waiting: waiting.length, skipped, connected, flush };
}

/** Two runs of rows as one: each row once, newest first, at most MAX_TAIL_ROWS. */
export function joinRows(newer: readonly LogView[], older: readonly LogView[]): readonly LogView[] {
  const known = new Set(newer.map((row) => row.id));
  const all = [...newer, ...older.filter((row) => !known.has(row.id))];
  return all.sort((a, b) => b.created_at - a.created_at || b.id - a.id).slice(0, MAX_TAIL_ROWS);
}
