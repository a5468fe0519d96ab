/**
 * Figures by model from real traffic: success, time to the first content, speed. From the hourly sums, without what
 * callers got wrong themselves; of models that the viewer could call.
 */
import { and, eq, gte, inArray, ne, sql } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { failureCode, FAILURES, type FailureKind, isCallers } from "../../../shared/failures";
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

interface Sums {
  served: number;
  errors: number;
  completion_tokens: number;
  use_time: number;
  first_token_ms: number;
  first_tokens: number;
}

/** Model -> its sums by hour, the oldest first. */
interface Figures {
  since: number;
  models: Map<string, Sums[]>;
}

const callersCodes = (Object.keys(FAILURES) as FailureKind[]).filter(isCallers).map(failureCode);
const nothing = (): Sums => ({
  served: 0,
  errors: 0,
  completion_tokens: 0,
  use_time: 0,
  first_token_ms: 0,
  first_tokens: 0,
});

async function read(db: Db, now: number): Promise<Figures> {
  const since = now - (now % HOUR) - (STATUS_HOURS - 1) * HOUR;
  const { usage_hourly: u, logs } = db.t;
  // A call that was refused before a channel was asked has none.
  const sums = db.read
    .select({
      model: u.model_name,
      hour: u.hour,
      served: total(u.count),
      errors: total(u.error_count),
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
  const models = new Map<string, Sums[]>();
  const hoursOf = (model: string): Sums[] => {
    let hours = models.get(model);
    if (!hours) models.set(model, (hours = Array.from({ length: STATUS_HOURS }, nothing)));
    return hours;
  };
  for (const { model, hour, ...found } of await sums) {
    const at = hoursOf(model)[(hour - since) / HOUR];
    if (at) Object.assign(at, found);
  }
  for (const { model, hour, calls } of await mistakes) {
    const at = hoursOf(model)[(hour - since) / HOUR];
    if (at) at.errors = Math.max(0, at.errors - calls);
  }
  return { since, models };
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

const share = ({ served, errors }: Pick<Sums, "served" | "errors">): number | null =>
  served + errors < FEWEST_CALLS ? null : Math.round((served / (served + errors)) * 10_000) / 10_000;

function statusOf(model: string, hours: readonly Sums[] = Array.from({ length: STATUS_HOURS }, nothing)): ModelStatus {
  const sum = (name: keyof Sums): number => hours.reduce((all, hour) => all + hour[name], 0);
  const [served, firsts, seconds_used] = [sum("served"), sum("first_tokens"), sum("use_time")];
  return {
    model,
    success: share({ served, errors: sum("errors") }),
    first_token_ms: firsts < FEWEST_CALLS ? null : Math.round(sum("first_token_ms") / firsts),
    tokens_per_second:
      served < FEWEST_CALLS || seconds_used === 0
        ? null
        : Math.round((sum("completion_tokens") / seconds_used) * 10) / 10,
    hours: hours.map(share),
  };
}

/**
 * The models that the viewer may call. For administrators, and for all while the option StatusPageEnabled is on. Throws
 * forbidden.
 */
export async function modelStatus(ctx: Ctx): Promise<StatusBoard> {
  const isAdmin = ctx.actor.kind === "user" && ctx.actor.role >= ROLE.admin;
  if (!isAdmin && !ctx.options.get("StatusPageEnabled")) fail("forbidden");
  const { since, models } = await figuresOf(ctx);
  const listed = catalogue(ctx, groupOf(ctx.actor)).models;
  // A call to a virtual model counts for the model that answered.
  return { since, models: listed.flatMap(({ model, steps }) => (steps ? [] : [statusOf(model, models.get(model))])) };
}
