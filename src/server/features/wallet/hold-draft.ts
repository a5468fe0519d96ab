/**
 * The draft of a hold (HoldRequest.draft): the row of its call as far as it was known, and the units that budgets count
 * for it. A sweep, which knows nothing else of the call, writes the row and gives the units back.
 */
import { eq } from "drizzle-orm";
import type { CallLog } from "../../contracts/ledger";
import type { HoldRow } from "../../db/schema";
import { forUpdate } from "../../db/sql";
import { run, type Steps } from "../../db/transaction";
import type { Db, Q } from "../../db/types";

/** Units that budgets count for a hold: name -> units. */
export type Budgeted = Readonly<Record<string, number>>;

interface Draft extends Partial<CallLog> {
  /** The release before this one stored names alone: each counts the whole hold. */
  budgets?: Budgeted | readonly string[];
}

const isNames = (budgets: Budgeted | readonly string[]): budgets is readonly string[] => Array.isArray(budgets);
const each = (names: readonly string[], units: number): Budgeted =>
  Object.fromEntries(names.map((name) => [name, units]));

/** The draft of a hold; of one that cannot be read nothing is known. */
export function readDraft({ draft, amount }: Pick<HoldRow, "draft" | "amount">): {
  row: Partial<CallLog>;
  budgets: Budgeted;
} {
  const { budgets = {}, ...row } = parseObject(draft) as Draft; // written here and by the relay's log rows
  return { row, budgets: isNames(budgets) ? each(budgets, amount) : budgets };
}

/** The draft of a hold whose units these budgets count. */
export const draftWith = (draft: string, names: readonly string[], units: number): string =>
  JSON.stringify({ ...parseObject(draft), budgets: each(names, units) });

/**
 * Writes into the hold of a call that these budgets count so many units more (negative: fewer) for it. False when the
 * hold is gone: ended, or swept.
 */
export function* budgetSteps(
  db: Db,
  q: Q,
  request_id: string,
  names: readonly string[],
  units: number,
): Steps<boolean> {
  const { holds } = db.t;
  const its = eq(holds.request_id, request_id);
  const [hold] = yield* run(
    forUpdate(db, q.select({ draft: holds.draft, amount: holds.amount }).from(holds).where(its)),
  );
  if (!hold) return false;
  const { row, budgets } = readDraft(hold);
  const counted = new Map(Object.entries(budgets));
  for (const name of names) {
    const left = (counted.get(name) ?? 0) + units;
    if (left > 0) counted.set(name, left);
    else counted.delete(name);
  }
  const draft = JSON.stringify({ ...row, budgets: Object.fromEntries(counted) });
  yield* run(q.update(holds).set({ draft }).where(its).returning({ request_id: holds.request_id }));
  return true;
}

export function parseObject(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
