/** The second step of a sign-in: what is required, and which component asks for it. */
import { useSyncExternalStore } from "react";
import type { SecondFactorNeeded } from "../../../shared/sign-in-answer";

let needed: SecondFactorNeeded | null = null;
const listeners = new Set<() => void>();

function set(next: SecondFactorNeeded | null): void {
  needed = next;
  for (const listener of listeners) listener();
}

/** Opens the question; the server knows by a cookie which sign-in it belongs to. */
export const askSecondStep = (owed: SecondFactorNeeded): void => set(owed);
export const closeSecondStep = (): void => set(null);

export function useSecondStep(): SecondFactorNeeded | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => needed,
  );
}
