/** The use of limits by a call: the caller's limits and those of the current channel. */
import type { Admission, Used } from "../../contracts/rate-limits";

/**
 * The call ends. Resolves when its budgets are corrected; undefined when there are none. `hold`: see Admission.end.
 */
export function releaseSlots(
  admission: Admission | undefined,
  slot: Admission | undefined,
  used: Used,
  hold?: Promise<number | undefined>,
): Promise<unknown> | undefined {
  // As most calls are, here and below.
  if (!admission && !slot) return undefined;
  const ends = [admission?.end(used, hold), slot?.end(used, hold)].filter((end) => end !== undefined);
  return ends.length > 0 ? Promise.all(ends) : undefined;
}

/** Before the charge of a call: see Admission.cover. undefined when there is nothing to wait for. */
export function coverCharge(
  admission: Admission | undefined,
  slot: Admission | undefined,
  units: number,
): Promise<unknown> | undefined {
  if (!admission && !slot) return undefined;
  const covers = [admission?.cover?.(units), slot?.cover?.(units)].filter((cover) => cover !== undefined);
  return covers.length > 0 ? Promise.all(covers) : undefined;
}

const NONE: readonly string[] = [];

/** The budgets that count a call. */
export const budgetsOf = (admission: Admission | undefined, slot: Admission | undefined): readonly string[] =>
  admission || slot ? [...(admission?.budgets ?? []), ...(slot?.budgets ?? [])] : NONE;

/** A running call costs more; false when a budget does not cover it. */
export async function askBudgets(
  admission: Admission | undefined,
  slot: Admission | undefined,
  units: number,
): Promise<boolean> {
  return (!admission?.more || (await admission.more(units))) && (!slot?.more || (await slot.more(units)));
}
