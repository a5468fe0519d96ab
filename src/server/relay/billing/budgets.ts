/** Limits as the relay sees them: a call asks to enter, is told where it stands, and says what it used when it ends. */
import type { Admission, Used } from "../../contracts/rate-limits";

interface Slots {
  admission?: Admission;
  channelSlot: Admission | undefined;
}

/** A call that holds places ends. Resolves when its budgets are corrected; undefined when there are none. */
export function releaseSlots({ admission, channelSlot }: Slots, used: Used): Promise<unknown> | undefined {
  const ends = [admission?.end(used), channelSlot?.end(used)].filter((end) => end !== undefined);
  return ends.length > 0 ? Promise.all(ends) : undefined;
}

/** The budgets that count a call. */
export const budgetsOf = ({ admission, channelSlot }: Slots): string[] => [
  ...(admission?.budgets ?? []),
  ...(channelSlot?.budgets ?? []),
];

/** A running call costs more; false when a budget does not cover it. */
export async function askBudgets({ admission, channelSlot }: Slots, units: number): Promise<boolean> {
  return (!admission?.more || (await admission.more(units))) && (!channelSlot?.more || (await channelSlot.more(units)));
}
