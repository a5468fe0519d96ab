/** What `weir doctor` has found. */

export interface Found {
  check: string;
  /** `wrong`: Weir does not start with it, or loses something by it. `note`: it works, and could be better. */
  state: "ok" | "note" | "wrong";
  found: string;
  /** What to do; absent where nothing is to be done. */
  advice?: string;
}

export const problemText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A check that cannot be made is wrong itself: it says why. */
export async function checked(check: string, look: () => Promise<Found[]> | Found[]): Promise<Found[]> {
  try {
    return await look();
  } catch (error) {
    return [{ check, state: "wrong", found: problemText(error) }];
  }
}
