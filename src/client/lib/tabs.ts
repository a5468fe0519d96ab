/** Tabs of one browser agree: what one of them changes, the others read again at once. */
import type { QueryClient } from "@tanstack/react-query";

const NAME = "weir-changes";

/** Tells the other tabs of every change that succeeded here, and hears of theirs. Returns the end of it. */
export function joinTabs(queries: QueryClient): () => void {
  const channel = new BroadcastChannel(NAME);
  channel.onmessage = () => void queries.invalidateQueries();
  const leave = queries.getMutationCache().subscribe((event) => {
    if (event.type === "updated" && event.action.type === "success") channel.postMessage(null);
  });
  return () => {
    leave();
    channel.close();
  };
}
