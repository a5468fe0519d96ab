/**
 * The second step of the roll-ups: `usage_sums` holds, for hours that are over, the sums of `usage_hourly` by model,
 * user, channel, token and group, one at a time. Figures of all users over months are read from there.
 *
 * Its end is kept in `meta`. A call counts in the hour in which it began, so an hour is added up only once it has been
 * over for a while; a later count in an earlier hour sets the mark back to it (`reopen`), and it is added up again. So
 * a sum is never wrong for longer than until the next round.
 */
import { and, asc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import { DIMENSIONS, type Dimension } from "../../../shared/dashboard";
import type { Db, Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { forUpdate } from "../../db/sql";

const HOUR = 3600;
/** An hour is added up when it has been over for this long: most streams that began in it have ended. */
const SETTLED_SECONDS = 900;
/** Hours of one round; the next timer goes on. */
const MAX_HOURS = 50;

/** Row of `meta`: hours before it are in usage_sums; epoch seconds. */
export const SUMMED_UNTIL = "usage_summed_until";
/**
 * So long after the beginning of an hour, Postgres' ledger writes the mark when it counts in that hour, as
 * `reopenSteps` does: ten minutes before anyone adds it up. Before that, the charges of an hour wait for no row that
 * all share. By the database's clock. `ledger_batch_2` has it too.
 */
export const MARKED_AFTER = HOUR + 300;

/** Columns of usage_hourly. */
export const DIMENSION_COLUMN: Record<Dimension, string> = {
  model: "model_name",
  user: "user_id",
  channel: "channel",
  token: "token_id",
  group: `"group"`,
};

/** The end of usage_sums: it is complete before this hour; 0 = it is empty. */
export async function summedUntil(db: Db): Promise<number> {
  const [row] = await db.q.select({ value: db.t.meta.value }).from(db.t.meta).where(eq(db.t.meta.name, SUMMED_UNTIL));
  return Number(row?.value ?? 0);
}

/** The same as part of a statement. */
export const SUMMED = sql.raw(
  `(SELECT coalesce(max(CAST(value AS bigint)), 0) FROM meta WHERE name = '${SUMMED_UNTIL}')`,
);

/** Sets the mark back to `hour` when that is earlier. For SQLite's ledger; the same as `reopenSteps`. */
export const REOPEN = `UPDATE meta SET value = ?1 WHERE name = '${SUMMED_UNTIL}' AND CAST(value AS integer) > ?1`;

/**
 * Within the transaction that counts something in `hour`. The mark's row is written even when the mark stays where it
 * is: `nextHour` must wait for a count that is not committed yet, or it would add up the hour without it.
 */
export function* reopenSteps(db: Db, q: Q, hour: number): Steps<void> {
  const { meta } = db.t;
  const mark = sql`cast(${meta.value} as bigint)`;
  yield* run(
    q
      .insert(meta)
      .values({ name: SUMMED_UNTIL, value: "0" })
      .onConflictDoUpdate({
        target: meta.name,
        set: { value: sql`case when ${mark} > ${hour} then ${String(hour)} else ${meta.value} end` },
      })
      .returning({ name: meta.name }),
  );
}

/** Adds up the hours that are over; `now`: epoch seconds. Returns how many. For the holder of the fold's lease. */
export async function sumHours(db: Db, now: number): Promise<number> {
  const over = now - SETTLED_SECONDS - HOUR;
  const until = over - (over % HOUR) + HOUR;
  let summed = 0;
  while (summed < MAX_HOURS && (await db.tx((q) => nextHour(db, q, until), { long: true }))) {
    summed++;
    await new Promise((resolve) => setImmediate(resolve)); // streams first
  }
  return summed;
}

/** The next hour before `until` that has rows, whole, in one transaction. False when there is none. */
function* nextHour(db: Db, q: Q, until: number): Steps<boolean> {
  const { meta, usage_hourly, usage_sums } = db.t;
  yield* run(
    q.insert(meta).values({ name: SUMMED_UNTIL, value: "0" }).onConflictDoNothing().returning({ name: meta.name }),
  );
  // A concurrent count waits here or is waited for, and its rows are seen below.
  const [mark] = yield* run(
    forUpdate(db, q.select({ value: meta.value }).from(meta).where(eq(meta.name, SUMMED_UNTIL))),
  );
  const from = Number(mark?.value ?? 0);
  if (from === until) return false;
  if (from > until) {
    // The clock was set back: hours that were over are not, and are added up again.
    yield* run(
      q
        .update(meta)
        .set({ value: String(until) })
        .where(eq(meta.name, SUMMED_UNTIL))
        .returning({ name: meta.name }),
    );
    return false;
  }
  const [next] = yield* run(
    q
      .select({ hour: usage_hourly.hour })
      .from(usage_hourly)
      .where(and(gte(usage_hourly.hour, from), lt(usage_hourly.hour, until)))
      .orderBy(asc(usage_hourly.hour))
      .limit(1),
  );
  const hour = next?.hour;
  const reached = hour === undefined ? until : hour + HOUR;
  yield* run(
    q
      .update(meta)
      .set({ value: String(reached) })
      .where(eq(meta.name, SUMMED_UNTIL))
      .returning({ name: meta.name }),
  );
  if (hour === undefined) return false;
  for (const dimension of DIMENSIONS) {
    yield* run(
      q
        .delete(usage_sums)
        .where(and(eq(usage_sums.dimension, dimension), eq(usage_sums.hour, hour)))
        .returning({ hour: usage_sums.hour }),
    );
    const item = sql.raw(DIMENSION_COLUMN[dimension]);
    const { count, error_count, quota, prompt_tokens, completion_tokens, upstream_cost, costed_quota } = usage_hourly;
    yield* run(
      q
        .insert(usage_sums)
        .select(
          q
            .select({
              dimension: sql<string>`${sql.raw(`'${dimension}'`)}`.as("dimension"),
              hour: sql<number>`${sql.raw(String(hour))}`.as("hour"),
              item: sql<string>`cast(${item} as text)`.as("item"),
              count: sql<number>`sum(${count})`.as("count"),
              error_count: sql<number>`sum(${error_count})`.as("error_count"),
              quota: sql<number>`sum(${quota})`.as("quota"),
              tokens: sql<number>`sum(${prompt_tokens} + ${completion_tokens})`.as("tokens"),
              upstream_cost: sql<number>`sum(${upstream_cost})`.as("upstream_cost"),
              costed_quota: sql<number>`sum(${costed_quota})`.as("costed_quota"),
            })
            .from(usage_hourly)
            .where(eq(usage_hourly.hour, hour))
            .groupBy(item),
        )
        .returning({ hour: usage_sums.hour }),
    );
  }
  return true;
}

/**
 * All users' sums by one item in [start, end), both whole hours: a table of hour, item (text), quota, count,
 * error_count, tokens, upstream_cost and costed_quota, for a FROM. `until` as `summedUntil` returned it. `items`: a
 * condition on `item`.
 */
export function sumsBy(
  dimension: Dimension,
  { start, end }: { start: number; end: number },
  until: number,
  items?: SQL,
): SQL {
  const number = (value: number): SQL => sql.raw(String(value)); // literals, so that the planner knows the range
  const column = sql.raw(`cast(${DIMENSION_COLUMN[dimension]} as text)`);
  const border = Math.min(Math.max(start, until), end);
  const chosen = items ? sql` AND ${items}` : sql``;
  const summed = sql`SELECT "hour", item, quota, "count", error_count, tokens, upstream_cost, costed_quota FROM usage_sums
    WHERE dimension = ${sql.raw(`'${dimension}'`)} AND "hour" >= ${number(start)} AND "hour" < ${number(border)}${chosen}`;
  const hourly = sql`SELECT "hour", item, quota, "count", error_count, tokens, upstream_cost, costed_quota FROM (
      SELECT "hour", ${column} AS item, quota, "count", error_count, prompt_tokens + completion_tokens AS tokens,
        upstream_cost, costed_quota
      FROM usage_hourly WHERE "hour" >= ${number(border)} AND "hour" < ${number(end)}
    ) AS recent${items ? sql` WHERE ${items}` : sql``}`;
  return sql`${summed} UNION ALL ${hourly}`;
}
