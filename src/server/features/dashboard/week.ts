/** one-api's statistics of an account, which its front-ends and apps show on their first page. */
import { and, eq, gte, sql } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { seconds, type UserCtx } from "../../contracts/context";
import { total } from "../../db/sql";

const DAY = 86_400;
const DAYS = 7;

/** Member names as there (songquanpeng/one-api model/log.go, LogStatistic, read 2026-11). */
export interface DayOfModel {
  /** 2026-11-23, UTC. */
  Day: string;
  ModelName: string;
  RequestCount: number;
  Quota: number;
  PromptTokens: number;
  CompletionTokens: number;
}

/** The caller's consumption of today and the six days before, by day and model, oldest first. Throws dashboard_off. */
export async function ownWeek(ctx: UserCtx): Promise<DayOfModel[]> {
  if (!ctx.options.get("DataExportEnabled")) fail("dashboard_off");
  const { usage_hourly: u } = ctx.db.t;
  const today = Math.floor(seconds(ctx) / DAY);
  const day = sql<number>`${u.hour} / ${sql.raw(String(DAY))}`;
  const rows = await ctx.db.read
    .select({
      day: day.mapWith(Number),
      ModelName: u.model_name,
      RequestCount: total(u.count),
      Quota: total(u.quota),
      PromptTokens: total(u.prompt_tokens),
      CompletionTokens: total(u.completion_tokens),
    })
    .from(u)
    .where(and(eq(u.user_id, ctx.actor.id), gte(u.hour, (today - DAYS + 1) * DAY)))
    .groupBy(day, u.model_name)
    .orderBy(day, u.model_name);
  return rows.map(({ day: number, ...row }) => ({
    Day: new Date(number * DAY * 1000).toISOString().slice(0, 10),
    ...row,
  }));
}
