/** Reports that hold a vendor's bill against what was counted here; kept in `reports`. */
import { gunzipSync, gzipSync } from "node:zlib";
import { and, desc, eq, gte, inArray, lt, lte, sql } from "drizzle-orm";
import { canonicalModel } from "../../../shared/channel-types";
import { jsonObject } from "../../../shared/channel";
import { fail } from "../../../shared/errors";
import { resolveMapping } from "../../../shared/model-mapping";
import {
  type CountedRow,
  reconcile,
  type Reconciliation,
  type ReconcileInput,
  type ReportHead,
} from "../../../shared/reconciliation";
import { seconds, type UserCtx } from "../../contracts/context";
import { total } from "../../db/sql";

const DAY = 86_400;
const BILLIONTHS = 1e9;
/** Reports that are kept. */
const MOST_REPORTS = 100;
const KIND = "reconciliation";

const dayNumber = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000 / DAY;
const dayText = (number: number): string => new Date(number * DAY * 1000).toISOString().slice(0, 10);

/** The model that a channel sends for a name, by its mapping of today. */
async function sentModels(
  ctx: UserCtx,
  channels: readonly number[],
): Promise<(channel: number, model: string) => string> {
  const { channels: t } = ctx.db.t;
  const rows = await ctx.db.read
    .select({ id: t.id, model_mapping: t.model_mapping })
    .from(t)
    .where(inArray(t.id, [...channels]));
  const mappings = new Map(
    rows.map(({ id, model_mapping }) => [id, resolveMapping(jsonObject(model_mapping) ?? {}).mapping]),
  );
  return (channel, model) => canonicalModel(mappings.get(channel)?.get(model) ?? model);
}

/** What the channels' calls cost by day (UTC) and model sent. `from` and `to`: days since 1970, both included. */
async function countedBetween(
  ctx: UserCtx,
  channels: readonly number[],
  from: number,
  to: number,
): Promise<CountedRow[]> {
  const { usage_hourly: t } = ctx.db.t;
  const day = sql<number>`${t.hour} / ${sql.raw(String(DAY))}`;
  const [sent, rows] = await Promise.all([
    sentModels(ctx, channels),
    ctx.db.read
      .select({
        day: day.mapWith(Number),
        channel: t.channel,
        model: t.model_name,
        cost: total(t.upstream_cost),
        unknown: total(sql`quota - costed_quota`),
      })
      .from(t)
      .where(and(inArray(t.channel, [...channels]), gte(t.hour, from * DAY), lt(t.hour, (to + 1) * DAY)))
      .groupBy(day, t.channel, t.model_name),
  ]);
  return rows.map((row) => ({
    day: dayText(row.day),
    model: sent(row.channel, row.model),
    cost: row.cost / BILLIONTHS,
    unknown: Math.max(0, row.unknown),
  }));
}

/** Compares and keeps the report. The days are those of the file, the ones between its first and its last included. */
export async function reconcileBill(ctx: UserCtx, input: ReconcileInput): Promise<{ id: number }> {
  const days = input.rows.map(({ day }) => dayNumber(day));
  const report = reconcile(input, await countedBetween(ctx, input.channels, Math.min(...days), Math.max(...days)));
  const { reports: t } = ctx.db.t;
  const [row] = await ctx.db.q
    .insert(t)
    .values({
      kind: KIND,
      title: input.title,
      created_at: seconds(ctx),
      actor_id: ctx.actor.id,
      data: gzipSync(JSON.stringify(report)).toString("base64"),
    })
    .returning({ id: t.id });
  const [oldest] = await ctx.db.q
    .select({ id: t.id })
    .from(t)
    .where(eq(t.kind, KIND))
    .orderBy(desc(t.id))
    .offset(MOST_REPORTS)
    .limit(1);
  if (oldest) await ctx.db.q.delete(t).where(and(eq(t.kind, KIND), lte(t.id, oldest.id)));
  return { id: row?.id ?? fail("internal") };
}

/** Newest first. */
export function reconciliations(ctx: UserCtx): Promise<ReportHead[]> {
  const { reports: t } = ctx.db.t;
  return ctx.db.read
    .select({ id: t.id, title: t.title, created_at: t.created_at })
    .from(t)
    .where(eq(t.kind, KIND))
    .orderBy(desc(t.id));
}

/** Throws report_not_found. */
export async function reconciliation(ctx: UserCtx, id: number): Promise<Reconciliation> {
  const { reports: t } = ctx.db.t;
  const [row] = await ctx.db.read
    .select({ data: t.data })
    .from(t)
    .where(and(eq(t.id, id), eq(t.kind, KIND)));
  if (!row) return fail("report_not_found");
  return JSON.parse(gunzipSync(Buffer.from(row.data, "base64")).toString("utf8")) as Reconciliation;
}
