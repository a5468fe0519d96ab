/**
 * A tab that is seen follows what is changed elsewhere: by other users, other browsers, programs and the gateway. The
 * tabs of one browser also tell each other (tabs.ts), and need no connection for that.
 */
import type { QueryClient } from "@tanstack/react-query";
import { serverInDoubt } from "./connection";
import { follow, onVisibility } from "./live";
import { readAgain } from "./tabs";

/** Milliseconds between two readings of everything shown while the server cannot tell of changes. */
const POLL_MS = 15_000;
/** Milliseconds until a lost stream is a reason to ask for the server: a page that is left loses its own, too. */
const DOUBT_MS = 300;

/** Follows while the tab is seen; returns the end of it. */
export function followChanges(queries: QueryClient): () => void {
  let stop = new AbortController();
  let poll: ReturnType<typeof setInterval> | undefined;
  let doubt: ReturnType<typeof setTimeout> | undefined;
  let missed = false;
  const heard = (live: boolean) => {
    if (!live) {
      missed = true;
      poll ??= setInterval(() => void queries.refetchQueries({ type: "active", stale: true }), POLL_MS);
      return;
    }
    clearInterval(poll);
    poll = undefined;
    if (missed) readAgain(queries, null);
    missed = false;
  };
  const begin = () =>
    void follow<{ nouns: readonly string[] }>({
      path: () => "/api/changes",
      signal: stop.signal,
      take: ({ nouns }) => nouns.forEach((noun) => readAgain(queries, noun)),
      heard: (live) => {
        heard(live);
        clearTimeout(doubt);
        if (!live) doubt = setTimeout(serverInDoubt, DOUBT_MS);
      },
      refused: () => undefined,
    });
  const end = () => {
    stop.abort();
    clearTimeout(doubt);
    clearInterval(poll);
    poll = undefined;
    missed = true;
  };
  const leave = onVisibility(() => {
    end();
    if (document.hidden) return;
    stop = new AbortController();
    begin();
  });
  if (!document.hidden) begin();
  return () => {
    leave();
    end();
  };
}
