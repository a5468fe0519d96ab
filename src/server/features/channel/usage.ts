/** A channel's use by the log: its last 24 hours, and who used it. */
import { and, desc, eq, gte, inArray, max, min, ne, sql } from "drizzle-orm";
import type { UpstreamUse } from "../../../shared/channel-operations";
import { UNKNOWN_CLIENT } from "../../../shared/client-type";
import { type HealthHour, NO_CALLS } from "../../../shared/health";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import { type Ctx, seconds } from "../../contracts/context";
import { count, jsonMember, total } from "../../db/sql";
import { findChannel } from "./service";

const HOUR = 3600;
export const HEALTH_HOURS = 24;

/**
 * The last 24 hours of each channel, oldest first, from the hourly roll-ups (about a second behind the log). Calls are
 * its attempts: those that it served and those that failed by its own fault, even if another one served the call.
 */
export async function channelHealth(ctx: Ctx, ids: readonly number[]): Promise<Record<number, HealthHour[]>> {
  const { usage_hourly: u, failed_attempts: f } = ctx.db.t;
  const now = seconds(ctx);
  const first = now - (now % HOUR) - (HEALTH_HOURS - 1) * HOUR;
  const empty = (): HealthHour[] =>
    Array.from({ length: HEALTH_HOURS }, (_, i) => ({ ...NO_CALLS, hour: first + i * HOUR }));
  const result: Record<number, HealthHour[]> = Object.fromEntries(ids.map((id) => [id, empty()]));
  if (ids.length === 0) return result;
  const asked = [...new Set(ids)];
  const served = ctx.db.read
    .select({
      channel: u.channel,
      hour: u.hour,
      calls: total(u.count),
      quota: total(u.quota),
      tokens: total(sql`${u.prompt_tokens} + ${u.completion_tokens}`),
      completion_tokens: total(u.completion_tokens),
      use_time: total(u.use_time),
      first_token_ms: total(u.first_token_ms),
      first_tokens: total(u.first_tokens),
    })
    .from(u)
    .where(and(inArray(u.channel, asked), gte(u.hour, first)))
    .groupBy(u.channel, u.hour);
  const failed = ctx.db.read
    .select({ channel: f.channel, hour: f.hour, errors: total(f.count) })
    .from(f)
    .where(and(inArray(f.channel, asked), gte(f.hour, first)))
    .groupBy(f.channel, f.hour);
  const bucketOf = (channel: number, hour: number) => result[channel]?.[(hour - first) / HOUR];
  for (const { channel, hour, ...sums } of await served) Object.assign(bucketOf(channel, hour) ?? {}, sums);
  for (const { channel, hour, errors } of await failed) {
    const bucket = bucketOf(channel, hour);
    if (!bucket) continue;
    bucket.errors = errors;
    bucket.calls += errors;
  }
  return result;
}

/** Calls that are read: the newest of the channel. */
const MAX_CALLS = 50_000;

/** Who used a channel: groups, newest first, and in each the programs that called. Throws channel_not_found. */
export async function upstreamUse(ctx: Ctx, id: number): Promise<UpstreamUse> {
  await findChannel(ctx, id);
  const { logs } = ctx.db.t;
  const calls = ctx.db.read
    .select({
      group: logs.group,
      created_at: logs.created_at,
      client_type: jsonMember(ctx.db, logs.other, "client_type").as("client_type"),
    })
    .from(logs)
    .where(
      and(
        eq(logs.channel, id),
        inArray(logs.type, [LOG_TYPE.consume, LOG_TYPE.error]),
        // Channel tests are not calls of a user.
        ne(logs.folded, FOLDED.never),
      ),
    )
    .orderBy(desc(logs.created_at))
    .limit(MAX_CALLS)
    .as("calls");
  const rows = await ctx.db.read
    .select({
      group: calls.group,
      client_type: calls.client_type,
      count: count(),
      first_seen: min(calls.created_at).mapWith(Number),
      last_seen: max(calls.created_at).mapWith(Number),
    })
    .from(calls)
    .groupBy(calls.group, sql`${calls.client_type}`);
  const groups = new Map<string, UpstreamUse["groups"][number]>();
  for (const { group, client_type, count: calls, first_seen, last_seen } of rows) {
    const entry = groups.get(group) ?? { group, first_seen, last_seen, client_types: [] };
    groups.set(group, entry);
    entry.first_seen = Math.min(entry.first_seen, first_seen);
    entry.last_seen = Math.max(entry.last_seen, last_seen);
    entry.client_types.push({ client_type: client_type || UNKNOWN_CLIENT, count: calls, first_seen, last_seen });
  }
  const newest = (a: { last_seen: number }, b: { last_seen: number }): number => b.last_seen - a.last_seen;
  for (const entry of groups.values()) entry.client_types.sort((a, b) => b.count - a.count || newest(a, b));
  return { groups: [...groups.values()].sort(newest) };
}
