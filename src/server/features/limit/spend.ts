/**
 * What was spent in the periods of budgets, with what running calls hold: one row a budget and period, moved by
 * conditional statements, so calls on any number of instances never take more than a budget together. Only callers with
 * a budget come here. The hold of a call names the budgets that count it, in the same transaction, so that a sweep of a
 * killed process's hold gives them back.
 */
import { eq, inArray, lt, sql } from "drizzle-orm";
import { type Services, seconds } from "../../contracts/context";
import { isTransient } from "../../db/errors";
import { run } from "../../db/transaction";
import { createLanes } from "../../lib/lanes";
import { budgetSteps } from "../wallet/hold-draft";
import { BUDGET_KEPT_SECONDS } from "../wallet/refund";
import { addToRows, takeFromRows } from "./spend.pg";

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

interface Request {
  /** In the common lock order; those of one lane are the same. */
  readonly budgets: readonly Budget[];
  readonly units: number;
}

class Full extends Error {
  constructor(readonly budget: string) {
    super("a budget is used up");
  }
}

/** Between the names of a lane. */
const SEPARATOR = "\n";

/**
 * The store of budgets in the database. Calls under the same budgets share transactions: each alone would wait for the
 * row and for the disk, one after the other, on all instances.
 */
export function createSpendStore({ db, log }: Pick<Services, "db" | "log">): SpendStore {
  const t = db.t.budget_spend;

  /** In one transaction; `budgets` in the common lock order. The name of one that is too small: nothing is taken. */
  async function takeAll(budgets: readonly Budget[], units: number, hold?: string): Promise<string | undefined> {
    const small = budgets.find(({ limit }) => units > limit);
    if (small) return small.name;
    const { postgres } = db.driver;
    if (postgres && hold === undefined) {
      try {
        const { taken, full } = await takeFromRows(postgres, budgets, units);
        if (taken || full !== undefined) return full;
      } catch (error) {
        // The transaction below is repeated as often as it needs.
        if (!isTransient(error)) throw error;
      }
    }
    try {
      await db.tx(function* (q) {
        for (const { name, limit, ends } of budgets) {
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
        const names = budgets.map(({ name }) => name);
        if (hold !== undefined) yield* budgetSteps(db, q, hold, names, units);
      });
    } catch (error) {
      if (error instanceof Full) return error.budget;
      throw error;
    }
    return undefined;
  }

  /** All together where they fit, else in halves: each is decided as if it had come alone. */
  async function takeEach(requests: readonly Request[]): Promise<(string | undefined)[]> {
    const [first] = requests;
    if (!first) return [];
    const units = requests.reduce((sum, request) => sum + request.units, 0);
    // A limit may have been changed in between.
    const budgets = first.budgets.map((budget, i) => ({
      ...budget,
      limit: Math.min(...requests.map((request) => request.budgets[i]?.limit ?? 0)),
    }));
    const full = await takeAll(budgets, units);
    if (full === undefined || requests.length === 1) return requests.map(() => full);
    const half = Math.ceil(requests.length / 2);
    return [...(await takeEach(requests.slice(0, half))), ...(await takeEach(requests.slice(half)))];
  }

  /** In one transaction; with `hold` only while that is there. */
  const change = (names: readonly string[], units: number, hold?: string): Promise<void> => {
    const { postgres } = db.driver;
    if (postgres && hold === undefined) return addToRows(postgres, names, units);
    return db.tx(function* (q) {
      if (hold !== undefined && !(yield* budgetSteps(db, q, hold, names, units))) return;
      // In the order of `take`: rows are locked one by one.
      for (const name of names) {
        yield* run(
          q
            .update(t)
            .set({ amount: sql`${t.amount} + ${units}` })
            .where(eq(t.name, name))
            .returning({ name: t.name }),
        );
      }
    });
  };

  const takings = createLanes<Request, string | undefined>((_, requests) => takeEach(requests));
  const changes = createLanes<number, void>(async (key, units) => {
    const sum = units.reduce((all, one) => all + one, 0);
    if (sum !== 0) await change(key.split(SEPARATOR), sum);
    return units.map(() => undefined);
  });

  return {
    take(budgets, units, hold) {
      // A fixed order, so that two calls never wait for each other.
      const ordered = budgets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      if (hold !== undefined) return takeAll(ordered, units, hold);
      return takings(ordered.map(({ name }) => name).join(SEPARATOR), { budgets: ordered, units });
    },

    async correct(names, units, hold) {
      if (units === 0 || names.length === 0) return;
      const ordered = names.toSorted();
      for (const pause of [...RETRIES_MS, undefined]) {
        try {
          return await (hold === undefined ? changes(ordered.join(SEPARATOR), units) : change(ordered, units, hold));
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
