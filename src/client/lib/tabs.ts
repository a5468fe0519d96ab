/**
 * Tabs of one browser agree: what one of them changes, the others read again at once, and one alone asks whether a lost
 * server is back.
 */
import type { QueryClient } from "@tanstack/react-query";

const NAME = "weir-changes";

/** A router of the server ("channel"); null: it is not known what was changed. */
type Changed = string | null;

/** Nouns whose figures follow from others' changes too. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  redemption: ["user", "log", "order"],
  order: ["user", "log"],
  user: ["log", "invite"],
  token: ["log"],
  channel: ["group", "pricing", "log", "dashboard"],
};
/** What these change can show anywhere. */
const EVERYWHERE: readonly string[] = ["option", "auth", "setup", "demo"];

/** The first part of a tRPC key: [["channel", "update"], …]. */
const nounOf = (key: unknown): Changed => {
  const path: unknown = Array.isArray(key) ? key[0] : undefined;
  return Array.isArray(path) && typeof path[0] === "string" ? path[0] : null;
};

/** Reads again what a change of `changed` concerns. */
export function readAgain(queries: QueryClient, changed: Changed): void {
  if (changed === null || EVERYWHERE.includes(changed)) return void queries.invalidateQueries();
  const concerned = [changed, "audit", ...(FOLLOWS[changed] ?? [])];
  void queries.invalidateQueries({
    predicate: ({ queryKey }) => {
      const noun = nounOf(queryKey);
      return noun === null || concerned.includes(noun);
    },
  });
}

/** Tells the other tabs of every change that succeeded here, and hears of theirs. Returns the end of it. */
export function joinTabs(queries: QueryClient): () => void {
  const channel = new BroadcastChannel(NAME);
  channel.onmessage = ({ data }) => readAgain(queries, typeof data === "string" ? data : null);
  const leave = queries.getMutationCache().subscribe((event) => {
    if (event.type === "updated" && event.action.type === "success")
      channel.postMessage(nounOf(event.mutation.options.mutationKey));
  });
  return () => {
    leave();
    channel.close();
  };
}
