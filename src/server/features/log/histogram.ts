/**
 * The rows of a filter over time: counted one by one while they are few; of many, whole hours from the roll-ups where
 * these have the filters' columns, else the newest rows alone.
 */
import { and, desc, type SQL, sql } from "drizzle-orm";
import { LOG_TYPE } from "../../../shared/log";
import { HISTOGRAM_BARS, HISTOGRAM_ROWS, type LogFilter, type LogHistogram } from "../../../shared/log-list";
import { seconds, type UserCtx } from "../../contracts/context";
import { count, total } from "../../db/sql";
import { conditions, type LogScope, namesOf, rangeOf } from "./filter";
import { hoursOf, inRollUps, known } from "./stat";

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Of a filter without a beginning. */
const LATELY = 30 * DAY;
/** Seconds of a bar: what people count in. */
const STEPS = [
  1,
  2,
  5,
  10,
  15,
  30,
  60,
  120,
  300,
  600,
  900,
  1800,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  7 * DAY,
  30 * DAY,
  365 * DAY,
];
const FAILED = sql.raw(String(LOG_TYPE.error));

/** Where a bar begins and the sums of one. */
interface Bar {
  at: number;
  errors: number;
  others: number;
}

/**
 * The chart above the list of the same filters. An end in the future counts as now, no start as 30 days ago. `most`:
 * rows that are counted one by one.
 */
export async function logHistogram(
  ctx: UserCtx,
  scope: LogScope,
  filter: LogFilter,
  most = HISTOGRAM_ROWS,
): Promise<LogHistogram> {
  const now = seconds(ctx);
  const end = Math.min(Math.floor(filter.end_timestamp || now), now);
  const start = Math.min(Math.floor(filter.start_timestamp || end - LATELY), end);
  const bounded = { ...filter, start_timestamp: start, end_timestamp: end };
  const named = await namesOf(ctx, scope, bounded);
  const { searched_from, ...range } = await rangeOf(ctx, scope, bounded, named);
  const matches = await conditions(ctx, scope, filter, range, { named });
  const { logs } = ctx.db.t;
  const [all] = await ctx.db.gather((q) =>
    q.select({ n: count() }).from(
      q
        .select({ id: logs.id })
        .from(logs)
        .where(matches)
        .limit(most + 1)
        .as("bounded"),
    ),
  );
  const many = (all?.n ?? 0) > most;
  const fine = stepOf(start, end);
  if (!many) return filled(start, end, fine, await oneByOne(ctx, fine, matches), searched_from);

  const coarse = Math.max(fine, HOUR);
  const calls = !filter.type || filter.type === LOG_TYPE.consume || filter.type === LOG_TYPE.error;
  if (calls && searched_from === undefined && inRollUps(filter, named) && end - start >= 6 * HOUR) {
    const hours = { start: start - (start % HOUR), end: end - (end % HOUR) + HOUR };
    const from = sql`(${await hoursOf(ctx, hours, known(ctx, scope, filter, named))}) AS hours`;
    const at = bucket(sql`hours."hour"`, coarse);
    const rows = await ctx.db.read
      .select({
        at,
        errors: filter.type === LOG_TYPE.consume ? NONE : total(sql`error_count`),
        others: filter.type === LOG_TYPE.error ? NONE : total(sql`"count"`),
      })
      .from(from)
      .groupBy(sql`1`);
    return filled(start, end, coarse, rows);
  }
  const walked = await conditions(ctx, scope, filter, range, { named, common: true });
  const [oldest] = await ctx.db.read
    .select({ at: logs.created_at })
    .from(logs)
    .where(walked)
    .orderBy(desc(logs.created_at), desc(logs.id))
    .limit(1)
    .offset(most);
  const counted = Math.max(oldest?.at ?? start, searched_from ?? start);
  const newest = and(walked, sql`${logs.created_at} > ${counted}`);
  return filled(start, end, fine, await oneByOne(ctx, fine, newest), counted);
}

const NONE = sql<number>`0`.mapWith(Number);

/** The smallest step with which the range has no more than HISTOGRAM_BARS bars. */
function stepOf(start: number, end: number): number {
  const bars = (step: number) => Math.floor(end / step) - Math.floor(start / step) + 1;
  return STEPS.find((step) => bars(step) <= HISTOGRAM_BARS) ?? 365 * DAY;
}

// A literal: bound parameters would make SELECT and GROUP BY two different expressions.
const bucket = (time: SQL, step: number): SQL<number> =>
  sql<number>`${time} - ${time} % ${sql.raw(String(step))}`.mapWith(Number);

async function oneByOne(ctx: UserCtx, step: number, matches: SQL | undefined): Promise<Bar[]> {
  const { logs } = ctx.db.t;
  return ctx.db.read
    .select({
      at: bucket(sql`${logs.created_at}`, step),
      errors: total(sql`case when ${logs.type} = ${FAILED} then 1 else 0 end`),
      others: total(sql`case when ${logs.type} = ${FAILED} then 0 else 1 end`),
    })
    .from(logs)
    .where(matches)
    .groupBy(sql`1`);
}

/** Every bar of the range, also the empty ones. */
function filled(start: number, end: number, step: number, rows: readonly Bar[], counted_from?: number): LogHistogram {
  const first = start - (start % step);
  const by = new Map(rows.map((row) => [row.at, row]));
  const bars = Array.from({ length: Math.floor((end - first) / step) + 1 }, (_, index) => {
    const { errors = 0, others = 0 } = by.get(first + index * step) ?? {};
    return { errors, others };
  });
  return { start: first, step, bars, ...(counted_from !== undefined && { counted_from }) };
}
