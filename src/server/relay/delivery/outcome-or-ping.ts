/** The first output to a caller: the outcome, or a ping. */
import type { Admitted } from "../call/call";

/** The outcome of a call's attempts, or "ping" when the caller has to be pinged first. */
export function outcomeOrPing<Outcome>({ deadlines }: Admitted, outcome: Promise<Outcome>): Promise<Outcome | "ping"> {
  return Promise.race([outcome, new Promise<"ping">((resolve) => (deadlines.onPing = () => resolve("ping")))]);
}
