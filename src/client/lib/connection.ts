/** Whether the server can be reached, judged by the calls that the pages make, and since when it cannot. */
import { type QueryClient, onlineManager } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { faultOf } from "./errors";

/** Milliseconds between two tries while the server is away. */
const RETRY = 3000;

/** Epoch seconds of the last answer before the connection was lost; null: it is there. */
let lostAt: number | null = null;
let lastAnswer = 0;
const listeners = new Set<() => void>();

const seconds = (): number => Math.floor(Date.now() / 1000);

function change(next: number | null): void {
  if ((next === null) === (lostAt === null)) return;
  lostAt = next;
  for (const listener of listeners) listener();
}

/** The time of the data on screen while the server cannot be reached; null while it can. */
export const useLostConnection = (): number | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => lostAt,
  );

/**
 * Watches the calls of a page. While the server is away it is asked whether it is back, and then everything shown is
 * read again. Returns the end of it.
 */
export function watchConnection(queries: QueryClient): () => void {
  const came = () => {
    lastAnswer = seconds();
    if (lostAt === null) return;
    change(null);
    void queries.invalidateQueries();
  };
  const lost = () => change(lastAnswer || seconds());
  const judge = (outcome: "success" | "error", error?: unknown) => {
    if (outcome === "success") came();
    else if (faultOf(error).kind === "unreachable") lost();
  };
  const ends = [
    queries.getQueryCache().subscribe((event) => {
      if (event.type !== "updated") return;
      // What a page writes into the cache by hand is no answer.
      if (event.action.type === "success" && !event.action.manual) judge("success");
      if (event.action.type === "error") judge("error", event.action.error);
    }),
    queries.getMutationCache().subscribe((event) => {
      if (event.type !== "updated") return;
      if (event.action.type === "success") judge("success");
      if (event.action.type === "error") judge("error", event.action.error);
    }),
    onlineManager.subscribe((online) => (online ? void probe(came) : lost())),
  ];
  const timer = setInterval(() => lostAt !== null && void probe(came), RETRY);
  return () => {
    clearInterval(timer);
    for (const end of ends) end();
    lostAt = null;
  };
}

/** Asks whether the server is there. */
async function probe(came: () => void): Promise<void> {
  try {
    if ((await fetch("/api/status", { cache: "no-store" })).ok) came();
  } catch {
    // Still away.
  }
}
