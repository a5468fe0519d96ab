/**
 * Tabs of one browser agree: what one of them changes, the others read again at once, and one alone asks whether a lost
 * server is back.
 */
import type { QueryClient } from "@tanstack/react-query";
import { loadStatus } from "./status";

const NAME = "weir-changes";

/** A router of the server ("channel"); null: it is not known what was changed. */
type Changed = string | null;

/** Nouns whose figures follow from others' changes too. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  redemption: ["user", "log", "order"],
  order: ["user", "log", "invite", "redemption"],
  user: ["log", "invite", "order", "token", "factor", "identity", "dashboard"],
  token: ["log"],
  channel: ["group", "pricing", "log", "dashboard", "status"],
  pricing: ["group", "channel", "dashboard"],
  log: ["user", "token", "dashboard"],
  task: ["midjourney"],
  invite: ["user", "log"],
  incident: ["dashboard"],
  instance: ["status"],
  factor: ["auth", "user"],
  identity: ["auth", "user"],
  notice: ["user"],
};
/** What these change can show anywhere. */
const EVERYWHERE: readonly string[] = ["*", "option", "auth", "setup", "demo"];

/** The first part of a tRPC key: [["channel", "update"], …]. */
const nounOf = (key: unknown): Changed => {
  const path: unknown = Array.isArray(key) ? key[0] : undefined;
  return Array.isArray(path) && typeof path[0] === "string" ? path[0] : null;
};

/** The routers whose figures a change can alter; undefined: any. */
export const concernedBy = (changed: string): readonly string[] | undefined =>
  EVERYWHERE.includes(changed) ? undefined : [changed, "audit", ...(FOLLOWS[changed] ?? [])];

/** Reads again what a change of `changed` concerns. */
export function readAgain(queries: QueryClient, changed: Changed): void {
  const concerned = changed === null ? undefined : concernedBy(changed);
  // The name, the menu's flags and the like are no query. A sign-in changes none of them.
  if (!concerned && changed !== "auth") void loadStatus();
  if (!concerned) return void queries.invalidateQueries();
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
