import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { type LogTail, type LogView, MAX_TAIL_ROWS } from "../../../shared/log-list";
import { reportError } from "../../lib/errors";
import { follow, onVisibility } from "../../lib/live";

export interface LiveLog {
  /** Newest first, at most MAX_TAIL_ROWS. */
  rows: readonly LogView[];
  /** Rows held back while the pointer is over the list or a row is open. */
  waiting: number;
  /** More came than could be shown. */
  skipped: boolean;
  /** Milliseconds since 1970 at which the latest row came; 0: none did. */
  came: number;
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
  const [came, setCame] = useState(0);
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
    // With the last row it received, whenever it connects again.
    let seen: number | undefined;
    const take = ({ items, end, skipped: more }: LogTail) => {
      seen = end;
      if (more) setSkipped(true);
      if (items.length > 0) setCame(Date.now());
      if (items.length > 0) (isHeld.current ? setWaiting : setShown)((rows) => joinRows(items, rows));
    };
    void follow({
      path: () => `/api/log/live?${query}${seen === undefined ? "" : `&since=${seen}`}`,
      signal: stop.signal,
      take,
      heard: setConnected,
      refused: reportError,
    });
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

  return { rows: shown, waiting: waiting.length, skipped, came, connected, flush };
}

/** Two runs of rows as one: each row once, newest first, at most MAX_TAIL_ROWS. */
export function joinRows(newer: readonly LogView[], older: readonly LogView[]): readonly LogView[] {
  const known = new Set(newer.map((row) => row.id));
  const all = [...newer, ...older.filter((row) => !known.has(row.id))];
  return all.sort((a, b) => b.created_at - a.created_at || b.id - a.id).slice(0, MAX_TAIL_ROWS);
}
