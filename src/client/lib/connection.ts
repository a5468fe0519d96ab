/** Whether the server can be reached, judged by the calls that the pages make, and since when it cannot. */
import { type QueryClient, onlineManager } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { faultOf } from "./errors";
import { isServerThere } from "./http";

/** Milliseconds until the next question while the server is away: doubled each time, up to half a minute. */
const FIRST_PAUSE = 3000;
const LAST_PAUSE = 30_000;
export const nextPause = (pause: number): number => Math.min(pause * 2, LAST_PAUSE);

/** Tabs say here that they ask, so that the others wait, and that the server is back. */
const NAME = "weir-connection";

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

let doubt = (): void => {};
/** A connection ended: asks at once whether the server is there, and says so when it is not. */
export const serverInDoubt = (): void => doubt();

/**
 * Watches the calls of a page. While the server is away, one tab that is seen asks whether it is back, ever more
 * rarely, and tells the others; then everything shown is read again. Returns the end of it.
 */
export function watchConnection(queries: QueryClient): () => void {
  const tabs = new BroadcastChannel(NAME);
  let pause = FIRST_PAUSE;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const came = () => {
    lastAnswer = seconds();
    if (lostAt === null) return;
    clearTimeout(timer);
    pause = FIRST_PAUSE;
    change(null);
    void queries.invalidateQueries();
  };
  const plan = (milliseconds: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), milliseconds);
  };
  const ask = async () => {
    // A tab that is not seen asks when it is.
    if (lostAt === null || document.hidden) return;
    tabs.postMessage("asking");
    if (await isServerThere()) {
      tabs.postMessage("back");
      return came();
    }
    pause = nextPause(pause);
    plan(pause);
  };
  const lost = () => {
    const isNews = lostAt === null;
    change(lastAnswer || seconds());
    if (isNews) plan(pause);
  };
  doubt = () => {
    if (lostAt === null) void isServerThere().then((there) => there || lost());
  };
  tabs.onmessage = ({ data }) => {
    if (data === "back") return came();
    if (lostAt === null) return;
    // Another tab asks: this one does only when that one stops.
    pause = nextPause(pause);
    plan(pause * (1.2 + Math.random() / 2));
  };
  const seen = () => {
    if (!document.hidden) void ask();
  };
  document.addEventListener("visibilitychange", seen);
  const judge = (outcome: "success" | "error", error?: unknown) => {
    if (outcome === "success") {
      // Without a network it is the answer to an earlier call.
      if (onlineManager.isOnline()) came();
    } else if (faultOf(error).kind === "unreachable") lost();
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
    onlineManager.subscribe((online) => (online ? void ask() : lost())),
  ];
  return () => {
    clearTimeout(timer);
    tabs.close();
    document.removeEventListener("visibilitychange", seen);
    for (const end of ends) end();
    doubt = () => {};
    lostAt = null;
  };
}
