/** The first thing that a caller gets: the outcome, or a ping. */
import type { Admitted } from "../call/call";

/** The outcome of a call's attempts, or "ping" when the caller is owed a sign of life before. */
export function outcomeOrPing<Outcome>({ deadlines }: Admitted, outcome: Promise<Outcome>): Promise<Outcome | "ping"> {
  return Promise.race([outcome, new Promise<"ping">((resolve) => (deadlines.onPing = () => resolve("ping")))]);
}
