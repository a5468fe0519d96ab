/**
 * Figures by model from real traffic: success, time to the first content, speed. From the hourly sums, without what
 * callers got wrong themselves; of models that the viewer could call.
 */
import { and, eq, gte, inArray, ne, sql } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { failureCode, FAILURES, type FailureKind, isCallers } from "../../../shared/failures";
import { addUp, firstTokenOf, type HealthSums, NO_CALLS, speedOf, successOf } from "../../../shared/health";
import { LOG_TYPE } from "../../../shared/log";
import { FEWEST_CALLS, type ModelStatus, STATUS_HOURS, type StatusBoard } from "../../../shared/model-status";
import { ROLE } from "../../../shared/roles";
import { type Ctx, seconds } from "../../contracts/context";
import type { Db } from "../../db/types";
import { count, total } from "../../db/sql";
import { groupOf } from "../group/facts";
import { inPartitions } from "../log/partitions";
import { catalogue } from "../pricing/catalogue";

const HOUR = 3600;
const FRESH_MS = 30_000;

/** Model -> its sums by hour, the oldest first. */
interface Figures {
  since: number;
  models: Map<string, HealthSums[]>;
  /** Model -> attempts at channels that failed. */
  failed: Map<string, number>;
}

const callersCodes = (Object.keys(FAILURES) as FailureKind[]).filter(isCallers).map(failureCode);
const noHours = (): HealthSums[] => Array.from({ length: STATUS_HOURS }, () => ({ ...NO_CALLS }));

async function read(db: Db, now: number): Promise<Figures> {
  const since = now - (now % HOUR) - (STATUS_HOURS - 1) * HOUR;
  const { usage_hourly: u, failed_attempts: f, logs } = db.t;
  // A call that was refused before a channel was asked has none.
  const sums = db.read
    .select({
      model: u.model_name,
      hour: u.hour,
      served: total(u.count),
      errors: total(u.error_count),
      quota: total(u.quota),
      tokens: total(sql`${u.prompt_tokens} + ${u.completion_tokens}`),
      completion_tokens: total(u.completion_tokens),
      use_time: total(u.use_time),
      first_token_ms: total(u.first_token_ms),
      first_tokens: total(u.first_tokens),
    })
    .from(u)
    .where(and(gte(u.hour, since), ne(u.channel, 0)))
    .groupBy(u.model_name, u.hour);
  const start = sql<number>`${logs.created_at} - ${logs.created_at} % 3600`;
  const mistakes = db.read
    .select({ model: logs.model_name, hour: start.mapWith(Number), calls: count() })
    .from(logs)
    .where(
      and(
        eq(logs.type, LOG_TYPE.error),
        gte(logs.created_at, since),
        await inPartitions(db, since, 0),
        inArray(logs.code, callersCodes),
        ne(logs.channel, 0),
      ),
    )
    .groupBy(logs.model_name, start);
  const attempts = db.read
    .select({ model: f.model_name, failed: total(f.count) })
    .from(f)
    .where(gte(f.hour, since))
    .groupBy(f.model_name);
  const models = new Map<string, HealthSums[]>();
  const hoursOf = (model: string): HealthSums[] => {
    let hours = models.get(model);
    if (!hours) models.set(model, (hours = noHours()));
    return hours;
  };
  for (const { model, hour, served, errors, ...found } of await sums) {
    const at = hoursOf(model)[(hour - since) / HOUR];
    if (at) Object.assign(at, found, { calls: served + errors, errors });
  }
  for (const { model, hour, calls } of await mistakes) {
    const at = hoursOf(model)[(hour - since) / HOUR];
    if (!at) continue;
    const forgiven = Math.min(at.errors, calls);
    at.errors -= forgiven;
    at.calls -= forgiven;
  }
  return { since, models, failed: new Map((await attempts).map(({ model, failed }) => [model, failed])) };
}

/** A reading serves all callers for a while, those who ask while it runs included. */
const kept = new WeakMap<Db, { until: number; figures: Promise<Figures> }>();

function figuresOf(ctx: Ctx): Promise<Figures> {
  const now = ctx.now();
  const known = kept.get(ctx.db);
  if (known && known.until > now) return known.figures;
  const figures = read(ctx.db, seconds(ctx));
  kept.set(ctx.db, { until: now + FRESH_MS, figures });
  figures.catch(() => kept.delete(ctx.db));
  return figures;
}

/** The three figures of some hours, each null below the fewest calls. */
function figures(sums: HealthSums): Pick<ModelStatus, "success" | "first_token_ms" | "tokens_per_second"> {
  const success = sums.calls < FEWEST_CALLS ? null : successOf(sums);
  return {
    success: success === null ? null : Math.round(success * 10_000) / 10_000,
    first_token_ms: sums.first_tokens < FEWEST_CALLS ? null : firstTokenOf(sums),
    tokens_per_second: sums.calls - sums.errors < FEWEST_CALLS ? null : speedOf(sums),
  };
}

function statusOf({ models, failed }: Figures, model: string, isAdmin: boolean): ModelStatus {
  const hours = models.get(model) ?? noHours();
  const each = hours.map(figures);
  return {
    model,
    ...figures(addUp(hours)),
    hours: each.map(({ success }) => success),
    first_token_hours: each.map(({ first_token_ms }) => first_token_ms),
    speed_hours: each.map(({ tokens_per_second }) => tokens_per_second),
    failed_attempts: isAdmin ? (failed.get(model) ?? 0) : null,
    quota_hours: isAdmin ? hours.map(({ quota }) => quota) : null,
  };
}

/**
 * The models that the viewer may call. For administrators, and for all while the option StatusPageEnabled is on. Throws
 * forbidden.
 */
export async function modelStatus(ctx: Ctx): Promise<StatusBoard> {
  const isAdmin = ctx.actor.kind === "user" && ctx.actor.role >= ROLE.admin;
  if (!isAdmin && !ctx.options.get("StatusPageEnabled")) fail("forbidden");
  const known = await figuresOf(ctx);
  const listed = catalogue(ctx, groupOf(ctx.actor)).models;
  // A call to a virtual model counts for the model that answered.
  return {
    since: known.since,
    models: listed.flatMap(({ model, steps }) => (steps ? [] : [statusOf(known, model, isAdmin)])),
  };
}
