/**
 * What was spent in the periods of budgets, with what running calls hold: one row a budget and period, moved by
 * conditional statements, so calls on any number of instances never take more than a budget together. Only callers with
 * a budget come here. The hold of a call names the budgets that count it, in the same transaction, so that a sweep of a
 * killed process's hold gives them back.
 */
import { eq, inArray, lt, sql } from "drizzle-orm";
import { type Services, seconds } from "../../contracts/context";
import { run } from "../../db/transaction";
import { budgetSteps } from "../wallet/hold-draft";
import { BUDGET_KEPT_SECONDS } from "../wallet/refund";

/** A budget in its period. */
export interface Budget {
  /** "user:12:2026-11-21" */
  name: string;
  /** Units. */
  limit: number;
  /** Epoch seconds. */
  ends: number;
}

/** Pauses before a correction that failed is tried again. */
const RETRIES_MS = [200, 1000, 5000];

export interface SpendStore {
  /**
   * Takes `units` from every budget, or from none: undefined when it was taken, else the name of one that is too small.
   * `hold`: request id of the call's hold, which remembers it when it is there.
   */
  take(budgets: readonly Budget[], units: number, hold?: string): Promise<string | undefined>;
  /**
   * Adds `units` (negative: gives back) to budgets that were taken from before. With `hold` only while that is there:
   * a sweep has corrected them otherwise. Never rejects.
   */
  correct(names: readonly string[], units: number, hold?: string): Promise<void>;
  /** What is spent and held: name -> units. A name without a row is not in it. */
  spent(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

class Full extends Error {
  constructor(readonly budget: string) {
    super("a budget is used up");
  }
}

/** The store of budgets in the database. */
export function createSpendStore({ db, log }: Pick<Services, "db" | "log">): SpendStore {
  const t = db.t.budget_spend;
  return {
    async take(budgets, units, hold) {
      const small = budgets.find(({ limit }) => units > limit);
      if (small) return small.name;
      // A fixed order, so that two calls never wait for each other.
      const ordered = budgets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      try {
        await db.tx(function* (q) {
          for (const { name, limit, ends } of ordered) {
            const spent = sql`${t.amount} + ${units}`;
            const taken = yield* run(
              q
                .insert(t)
                .values({ name, amount: units, expires_at: ends + BUDGET_KEPT_SECONDS })
                .onConflictDoUpdate({ target: t.name, set: { amount: spent }, setWhere: sql`${spent} <= ${limit}` })
                .returning({ name: t.name }),
            );
            if (taken.length === 0) throw new Full(name);
          }
          const names = ordered.map(({ name }) => name);
          if (hold !== undefined) yield* budgetSteps(db, q, hold, names, units);
        });
      } catch (error) {
        if (error instanceof Full) return error.budget;
        throw error;
      }
      return undefined;
    },

    async correct(names, units, hold) {
      if (units === 0 || names.length === 0) return;
      const change = (): Promise<void> =>
        db.tx(function* (q) {
          if (hold !== undefined && !(yield* budgetSteps(db, q, hold, names, units))) return;
          // In the order of `take`: rows are locked one by one.
          for (const name of names.toSorted()) {
            yield* run(
              q
                .update(t)
                .set({ amount: sql`${t.amount} + ${units}` })
                .where(eq(t.name, name))
                .returning({ name: t.name }),
            );
          }
        });
      for (const pause of [...RETRIES_MS, undefined]) {
        try {
          return await change();
        } catch (error) {
          if (pause === undefined)
            return void log.error({ err: error, budgets: names, units }, "a budget could not be corrected");
          await Bun.sleep(pause);
        }
      }
    },

    async spent(names) {
      if (names.length === 0) return new Map();
      const rows = await db.q
        .select({ name: t.name, amount: t.amount })
        .from(t)
        .where(inArray(t.name, [...names]));
      return new Map(rows.map(({ name, amount }) => [name, amount]));
    },
  };
}

/** Drops the rows of periods that are long over. */
export async function forgetSpend(services: Pick<Services, "db" | "now">): Promise<void> {
  const t = services.db.t.budget_spend;
  await services.db.bulk.delete(t).where(lt(t.expires_at, seconds(services)));
}
