/** What needs an administrator's attention: one small answer for the dashboard. */
import { and, desc, eq, gte, inArray, lt, ne, sql } from "drizzle-orm";
import { CHANNEL_STATUS } from "../../../shared/channel";
import { type Attention, LOW_BALANCE } from "../../../shared/dashboard";
import { FOLDED } from "../../../shared/log";
import { ROLE } from "../../../shared/roles";
import { seconds, type UserCtx } from "../../contracts/context";
import { count } from "../../db/sql";
import { countByStatus } from "../channel/list";
import { inPartitions } from "../log/partitions";
import { unpricedOf } from "../pricing/catalogue";

const DAY = 86_400;
/** Tests that are read: the newest of the last day. */
const MAX_TESTS = 5000;

export async function attention(ctx: UserCtx): Promise<Attention> {
  const { channels, withdrawals } = ctx.db.t;
  const enabled = eq(channels.status, CHANNEL_STATUS.enabled);
  const [statuses, low, failing, [waiting]] = await Promise.all([
    countByStatus(ctx),
    ctx.db.read
      .select({ id: channels.id })
      .from(channels)
      .where(and(enabled, ne(channels.balance_updated_time, 0), lt(channels.balance, LOW_BALANCE)))
      .limit(1000),
    failingTests(ctx),
    ctx.db.read.select({ n: count() }).from(withdrawals).where(eq(withdrawals.status, "pending")),
  ]);
  const stillEnabled =
    failing.length === 0
      ? []
      : await ctx.db.read
          .select({ id: channels.id })
          .from(channels)
          .where(and(enabled, inArray(channels.id, failing)));
  return {
    channels: Object.values(statuses).reduce((sum, n) => sum + n, 0),
    auto_disabled: statuses[CHANNEL_STATUS.auto_disabled] ?? 0,
    low_balances: low.length,
    failing_tests: stillEnabled.length,
    unpriced_models: unpricedOf(ctx, [...ctx.pool.enabledModels()]),
    withdrawals: waiting?.n ?? 0,
    unlisted_proxy: ctx.actor.role >= ROLE.root ? (ctx.unbelieved_proxy ?? "") : "",
  };
}

/** Channels whose newest test of the last day failed. Tests are in the log and in no roll-up. */
async function failingTests(ctx: UserCtx): Promise<number[]> {
  const { logs } = ctx.db.t;
  const since = seconds(ctx) - DAY;
  const tests = await ctx.db.read
    .select({ channel: logs.channel, end_reason: logs.end_reason })
    .from(logs)
    .where(
      and(
        sql`(${logs.folded} = ${sql.raw(String(FOLDED.never))} or not ${logs.visible})`,
        eq(logs.folded, FOLDED.never),
        gte(logs.created_at, since),
        await inPartitions(ctx.db, since, 0),
      ),
    )
    .orderBy(desc(logs.created_at), desc(logs.id))
    .limit(MAX_TESTS);
  const newest = new Map<number, string>();
  for (const { channel, end_reason } of tests) if (!newest.has(channel)) newest.set(channel, end_reason);
  return [...newest].filter(([, end_reason]) => end_reason !== "complete").map(([channel]) => channel);
}
