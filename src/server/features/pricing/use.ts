/** Recent use of models from the roll-ups, for the price editor. */
import { desc, gte, sql } from "drizzle-orm";
import { canonicalModel } from "../../../shared/channel-types";
import { MAX_HOURS, MAX_USED, type PriceUse } from "../../../shared/price-use";
import { type Ctx, seconds } from "../../contracts/context";
import { total } from "../../db/sql";
import { summedUntil, sumsBy } from "../log/sums";

const HOUR = 3600;
const DAY_HOURS = 24;
const WEEK_HOURS = 7 * DAY_HOURS;

/** Whole hours: the current one and those before it. At most MAX_USED and MAX_HOURS, those that earned most. */
export async function recentUse(ctx: Ctx): Promise<PriceUse> {
  const { usage_hourly: hourly } = ctx.db.t;
  const now = seconds(ctx);
  const end = now - (now % HOUR) + HOUR;
  const quota = total(sql`quota`);
  const calls = total(sql`"count"`);
  const [week, day] = await Promise.all([
    ctx.db.read
      .select({ model: sql<string>`item`, count: calls, quota })
      .from(sql`(${sumsBy("model", { start: end - WEEK_HOURS * HOUR, end }, await summedUntil(ctx.db))}) AS sums`)
      .groupBy(sql`item`)
      .orderBy(desc(quota), desc(calls), sql`item`)
      .limit(MAX_USED),
    ctx.db.read
      .select({
        model: hourly.model_name,
        group: hourly.group,
        hour: hourly.hour,
        count: total(hourly.count),
        quota: total(hourly.quota),
        prompt_tokens: total(hourly.prompt_tokens),
        completion_tokens: total(hourly.completion_tokens),
      })
      .from(hourly)
      .where(gte(hourly.hour, end - DAY_HOURS * HOUR))
      .groupBy(hourly.model_name, hourly.group, hourly.hour)
      .orderBy(desc(total(hourly.quota)), hourly.model_name, hourly.group, hourly.hour)
      .limit(MAX_HOURS),
  ]);
  // Prices use the canonical name, like the ledger.
  return { week, day: day.map((use) => ({ ...use, model: canonicalModel(use.model) })) };
}
