/** What calls brought and what they cost, from the hourly sums: for administrators alone. */
import { asc, desc, sql } from "drizzle-orm";
import { MAX_MARGINS, type MarginItem, type MarginQuery, type MarginView } from "../../../shared/dashboard";
import type { UserCtx } from "../../contracts/context";
import { total } from "../../db/sql";
import { summedUntil, sumsBy } from "../log/sums";
import { labelled, namesOf, requireEnabled, wholeHours } from "./service";

const DAY = 86_400;
const SUMS = {
  quota: total(sql`quota`),
  costed_quota: total(sql`costed_quota`),
  upstream_cost: total(sql`upstream_cost`),
};

/** Throws dashboard_off, invalid_parameter, range_too_long. */
export async function margin(ctx: UserCtx, query: MarginQuery): Promise<MarginView> {
  requireEnabled(ctx);
  const range = wholeHours(query);
  const until = await summedUntil(ctx.db);
  // By group: the fewest rows.
  const [totals] = await ctx.db.read.select(SUMS).from(sql`(${sumsBy("group", range, until)}) AS sums`);
  const items =
    query.group_by === "day" ? await byDay(ctx, range, until) : await byItem(ctx, query.group_by, range, until);
  return { ...range, totals: totals ?? { quota: 0, costed_quota: 0, upstream_cost: 0 }, items };
}

type Range = { start: number; end: number };

async function byDay(ctx: UserCtx, range: Range, until: number): Promise<MarginItem[]> {
  const day = sql<number>`"hour" / ${sql.raw(String(DAY))}`.mapWith(Number);
  const rows = await ctx.db.read
    .select({ day, ...SUMS })
    .from(sql`(${sumsBy("group", range, until)}) AS sums`)
    .groupBy(day)
    .orderBy(asc(day));
  return rows.map(({ day: number, ...sums }) => {
    const key = new Date(number * DAY * 1000).toISOString().slice(0, 10);
    return { key, label: key, owner: "", ...sums };
  });
}

async function byItem(
  ctx: UserCtx,
  group_by: Exclude<MarginQuery["group_by"], "day">,
  range: Range,
  until: number,
): Promise<MarginItem[]> {
  const item = sql<string>`item`;
  const rows = await ctx.db.read
    .select({ item, ...SUMS })
    .from(sql`(${sumsBy(group_by, range, until)}) AS sums`)
    .groupBy(item)
    .orderBy(desc(SUMS.quota), item)
    .limit(MAX_MARGINS);
  const names = await namesOf(
    ctx,
    group_by,
    rows.map((row) => row.item),
  );
  return rows.map(({ item: id, ...sums }) => ({ ...labelled(group_by, id, names), ...sums }));
}
