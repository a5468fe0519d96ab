/** Verbs on invitation earnings: transfers into the balance, withdrawals, and the lists behind the agent tabs. */
import { and, desc, eq, gte, inArray, sql } from "drizzle-orm";
import type { Page } from "../../../shared/envelope";
import { fail } from "../../../shared/errors";
import type {
  DividendView,
  InvitedView,
  WithdrawalState,
  WithdrawalToSettle,
  WithdrawalView,
} from "../../../shared/invite";
import { seconds, type UserCtx } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { count, total, withoutNul } from "../../db/sql";
import { auditRow } from "../audit/record";
import { creditSteps } from "../wallet/credit";
import { quotaText } from "../wallet/quota-text";
import { presentWithdrawal } from "./present";

/** The least that may be transferred or withdrawn: a dollar. */
const smallest = (ctx: UserCtx): number => Math.ceil(ctx.options.get("QuotaPerUnit"));

/** Takes `amount` of the caller's earnings; a conditional statement, so that they never fall below zero. */
function* takeEarnings(ctx: UserCtx, q: Q, amount: number): Steps<void> {
  const { users } = ctx.db.t;
  const mine = eq(users.id, ctx.actor.id);
  const taken = yield* run(
    q
      .update(users)
      .set({ aff_quota: sql`${users.aff_quota} - ${amount}` })
      .where(and(mine, gte(users.aff_quota, amount)))
      .returning({ id: users.id }),
  );
  if (taken.length > 0) return;
  const [row] = yield* run(q.select({ aff_quota: users.aff_quota }).from(users).where(mine));
  fail("invite_quota_insufficient", { balance: quotaText(ctx, row?.aff_quota ?? 0) });
}

/** Moves earnings to the balance; answers the units that were moved. */
export async function transferEarnings(ctx: UserCtx, quota: number): Promise<number> {
  if (quota < smallest(ctx)) fail("transfer_too_small", { minimum: quotaText(ctx, smallest(ctx)) });
  const now = seconds(ctx);
  // Made before the transaction, which may run again on Postgres.
  const key = `transfer:${crypto.randomUUID()}`;
  await ctx.db.tx(
    function* (q) {
      yield* takeEarnings(ctx, q, quota);
      const credit = {
        user_id: ctx.actor.id,
        amount: quota,
        kind: "transfer",
        idempotency_key: key,
        actor_id: ctx.actor.id,
      } as const;
      const { applied } = yield* creditSteps(ctx.db, q, credit, now);
      if (!applied) fail("internal");
      yield* ctx.events.record(q, {
        type: "system",
        user: ctx.actor,
        quota,
        ip: ctx.ip,
        event: "earnings_transferred",
      });
    },
    { durable: true },
  );
  return quota;
}

/** Requests a payment: the earnings are taken at once and wait for an administrator. */
export async function requestWithdrawal(
  ctx: UserCtx,
  { amount, account }: { amount: number; account: string },
): Promise<WithdrawalView> {
  if (amount < smallest(ctx)) fail("withdrawal_too_small", { minimum: quotaText(ctx, smallest(ctx)) });
  const { withdrawals } = ctx.db.t;
  const asked = { user_id: ctx.actor.id, amount, account: withoutNul(account), created_at: seconds(ctx) };
  return ctx.db.tx(
    function* (q) {
      yield* takeEarnings(ctx, q, amount);
      const [row] = yield* run(q.insert(withdrawals).values(asked).returning());
      yield* ctx.events.record(q, {
        type: "system",
        user: ctx.actor,
        quota: amount,
        ip: ctx.ip,
        event: "withdrawal_asked",
      });
      return row ? presentWithdrawal(row) : fail("internal");
    },
    { durable: true },
  );
}

/** Paid, or refused, which gives the earnings back. The second of two calls fails: it is settled. */
export async function settleWithdrawal(
  ctx: UserCtx,
  { id, status, note }: { id: number; status: "paid" | "refused"; note: string },
): Promise<WithdrawalView> {
  const { withdrawals, users, audit_log } = ctx.db.t;
  const which = eq(withdrawals.id, id);
  return ctx.db.tx(
    function* (q) {
      const [row] = yield* run(
        q
          .update(withdrawals)
          .set({ status, note: withoutNul(note), settled_at: seconds(ctx), actor_id: ctx.actor.id })
          .where(and(which, eq(withdrawals.status, "pending")))
          .returning(),
      );
      if (!row) {
        const [settled] = yield* run(q.select({ id: withdrawals.id }).from(withdrawals).where(which));
        return fail(settled ? "withdrawal_settled" : "withdrawal_not_found");
      }
      const back = status === "refused" ? row.amount : 0;
      const [owner] = yield* run(
        q
          .update(users)
          .set({ aff_quota: sql`${users.aff_quota} + ${back}` })
          .where(eq(users.id, row.user_id))
          .returning(),
      );
      if (!owner) return fail("user_not_found");
      // The administrator who settled it, for administrators.
      const admin_info = { actor_id: ctx.actor.id, actor: ctx.actor.username };
      yield* ctx.events.record(q, {
        type: "admin",
        user: owner,
        quota: row.amount,
        event: status === "paid" ? "withdrawal_paid" : "withdrawal_refused",
        other: { withdrawal_id: id, status, admin_info },
      });
      const after = { status, note: row.note, amount: row.amount, user_id: row.user_id };
      const act = auditRow(ctx, { action: "withdrawal.settle", target: id, before: { status: "pending" }, after });
      yield* run(q.insert(audit_log).values(act).returning({ id: audit_log.id }));
      return presentWithdrawal(row);
    },
    { durable: true },
  );
}

interface Paging {
  page: number;
  page_size: number;
}
const slice = ({ page, page_size }: Paging) => ({ limit: page_size, offset: (page - 1) * page_size });

/** The users that the caller invited, newest first, and the earnings from each. */
export async function invitedUsers(ctx: UserCtx, paging: Paging): Promise<Page<InvitedView>> {
  const { users, dividends } = ctx.db.t;
  // The literal condition makes the partial index of inviters usable.
  const where = and(eq(users.inviter_id, ctx.actor.id), sql`inviter_id <> 0`);
  const { limit, offset } = slice(paging);
  const [[all], people] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(users).where(where),
    ctx.db.read
      .select({ id: users.id, username: users.username, created_at: users.created_at })
      .from(users)
      .where(where)
      .orderBy(desc(users.id))
      .limit(limit)
      .offset(offset),
  ]);
  const ids = people.map(({ id }) => id);
  const brought =
    ids.length === 0
      ? []
      : await ctx.db.read
          .select({ id: dividends.invitee_id, orders: count(), amount: total(dividends.amount) })
          .from(dividends)
          .where(and(eq(dividends.user_id, ctx.actor.id), inArray(dividends.invitee_id, ids)))
          .groupBy(dividends.invitee_id);
  const byId = new Map(brought.map((sum) => [sum.id, sum]));
  const items = people.map((person) => ({
    ...person,
    orders: byId.get(person.id)?.orders ?? 0,
    amount: byId.get(person.id)?.amount ?? 0,
  }));
  return { items, ...paging, total: all?.n ?? 0 };
}

/** The caller's shares of paid orders, newest first. */
export async function ownDividends(ctx: UserCtx, paging: Paging): Promise<Page<DividendView>> {
  const { users, dividends } = ctx.db.t;
  const where = eq(dividends.user_id, ctx.actor.id);
  const { limit, offset } = slice(paging);
  const [[all], items] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(dividends).where(where),
    ctx.db.read
      .select({
        id: dividends.id,
        invitee_id: dividends.invitee_id,
        username: sql<string>`coalesce(${users.username}, '')`,
        order_id: dividends.order_id,
        amount: dividends.amount,
        created_at: dividends.created_at,
      })
      .from(dividends)
      .leftJoin(users, eq(users.id, dividends.invitee_id))
      .where(where)
      .orderBy(desc(dividends.id))
      .limit(limit)
      .offset(offset),
  ]);
  return { items, ...paging, total: all?.n ?? 0 };
}

/** The caller's withdrawals, newest first. */
export async function ownWithdrawals(ctx: UserCtx, paging: Paging): Promise<Page<WithdrawalView>> {
  const { withdrawals } = ctx.db.t;
  const where = eq(withdrawals.user_id, ctx.actor.id);
  const { limit, offset } = slice(paging);
  const [[all], rows] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(withdrawals).where(where),
    ctx.db.read.select().from(withdrawals).where(where).orderBy(desc(withdrawals.id)).limit(limit).offset(offset),
  ]);
  return { items: rows.map(presentWithdrawal), ...paging, total: all?.n ?? 0 };
}

/** All users' withdrawals, for administrators; of one status, or all. Newest first. */
export async function allWithdrawals(
  ctx: UserCtx,
  { status, ...paging }: Paging & { status?: WithdrawalState },
): Promise<Page<WithdrawalToSettle>> {
  const { withdrawals, users } = ctx.db.t;
  const where = status ? eq(withdrawals.status, status) : undefined;
  const { limit, offset } = slice(paging);
  const [[all], rows] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(withdrawals).where(where),
    ctx.db.read
      .select({ row: withdrawals, username: sql<string>`coalesce(${users.username}, '')` })
      .from(withdrawals)
      .leftJoin(users, eq(users.id, withdrawals.user_id))
      .where(where)
      .orderBy(desc(withdrawals.id))
      .limit(limit)
      .offset(offset),
  ]);
  const items = rows.map(({ row, username }) => ({ ...presentWithdrawal(row), user_id: row.user_id, username }));
  return { items, ...paging, total: all?.n ?? 0 };
}
