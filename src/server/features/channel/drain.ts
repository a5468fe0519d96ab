/**
 * Draining a channel or one of its keys: no instance begins a call with it any more, those that run end as usual or at
 * a deadline, and jobs go on being asked about. It lasts, over restarts too, until it is resumed or disabled.
 */
import { and, eq, notInArray } from "drizzle-orm";
import { drainFor, type DrainView } from "../../../shared/drain";
import { fail } from "../../../shared/errors";
import { FINAL_STATUSES } from "../../../shared/task";
import { type Ctx, seconds as now } from "../../contracts/context";
import { run } from "../../db/transaction";
import { count } from "../../db/sql";
import { recordAct } from "../audit/record";
import { runningCalls } from "../instance/running";
import { announceChange } from "./announce";
import { findChannel } from "./service";

const RELEASED = { draining_since: 0, drain_deadline: 0 };

/** What a channel's drain still waits for. Throws channel_not_found. */
export async function channelDrain(ctx: Ctx, id: number): Promise<DrainView> {
  const { draining_since, drain_deadline } = await findChannel(ctx, id);
  const { tasks } = ctx.db.t;
  const [left] = await ctx.db.q
    .select({ n: count() })
    .from(tasks)
    .where(and(eq(tasks.channel_id, id), notInArray(tasks.status, [...FINAL_STATUSES])));
  const running = (await runningCalls(ctx)).channels[id] ?? 0;
  return { draining_since, drain_deadline, running, jobs: left?.n ?? 0 };
}

/** Drains a channel; its running calls are ended after `seconds`, 0 = never. Throws channel_not_found. */
export const drainChannel = (ctx: Ctx, id: number, seconds: number): Promise<DrainView> =>
  setChannel(ctx, id, drainFor(now(ctx), seconds), "channel.drain");

/** The channel gets calls again. Throws channel_not_found. */
export const resumeChannel = (ctx: Ctx, id: number): Promise<DrainView> =>
  setChannel(ctx, id, RELEASED, "channel.resume");

async function setChannel(
  ctx: Ctx,
  id: number,
  set: typeof RELEASED,
  action: "channel.drain" | "channel.resume",
): Promise<DrainView> {
  const { channels } = ctx.db.t;
  await ctx.db.tx(function* (q) {
    const [row] = yield* run(q.update(channels).set(set).where(eq(channels.id, id)).returning({ id: channels.id }));
    if (!row) fail("channel_not_found");
    yield* announceChange(ctx, q, id);
  });
  await recordAct(ctx, { action, target: id, after: set });
  return channelDrain(ctx, id);
}

/** Drains one key of a channel that has several. Throws channel_key_not_found. */
export const drainKey = (ctx: Ctx, id: number, key_id: number, seconds: number): Promise<DrainView> =>
  setKey(ctx, id, key_id, drainFor(now(ctx), seconds), "channel.drain");

/** The key gets calls again. Throws channel_key_not_found. */
export const resumeKey = (ctx: Ctx, id: number, key_id: number): Promise<DrainView> =>
  setKey(ctx, id, key_id, RELEASED, "channel.resume");

async function setKey(
  ctx: Ctx,
  id: number,
  key_id: number,
  set: typeof RELEASED,
  action: "channel.drain" | "channel.resume",
): Promise<DrainView> {
  const { channel_keys: t, tasks } = ctx.db.t;
  await ctx.db.tx(function* (q) {
    const mine = and(eq(t.id, key_id), eq(t.channel_id, id));
    const [row] = yield* run(q.update(t).set(set).where(mine).returning({ id: t.id }));
    if (!row) fail("channel_key_not_found");
    yield* announceChange(ctx, q, id);
  });
  await recordAct(ctx, { action, target: id, after: { key_id, ...set } });
  const [left] = await ctx.db.q
    .select({ n: count() })
    .from(tasks)
    .where(
      and(eq(tasks.channel_id, id), eq(tasks.channel_key_id, key_id), notInArray(tasks.status, [...FINAL_STATUSES])),
    );
  return { ...set, running: (await runningCalls(ctx)).keys[key_id] ?? 0, jobs: left?.n ?? 0 };
}
