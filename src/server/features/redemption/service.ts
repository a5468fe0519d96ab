/**
 * Verbs on redemption codes: administrators make and manage them, every user redeems. Money moves by creditSteps alone.
 */
import { and, desc, eq, gt, inArray, isNull, lte, ne, or, type SQL } from "drizzle-orm";
import type { Page } from "../../../shared/envelope";
import { fail } from "../../../shared/errors";
import {
  bareCode,
  isRedemptionExpired,
  REDEMPTION_LIMITS,
  REDEMPTION_STATUS,
  type RedemptionBatch,
  type RedemptionChange,
  type RedemptionState,
} from "../../../shared/redemption";
import { MOST_FOUND } from "../../../shared/search";
import { type Ctx, seconds, type UserCtx } from "../../contracts/context";
import { run } from "../../db/transaction";
import type { RedemptionRow } from "../../db/schema";
import { contains, count, withoutNul } from "../../db/sql";
import { randomText } from "../../lib/secrets";
import { auditRow, changes, recordAct } from "../audit/record";
import { creditSteps } from "../wallet/credit";
import { quotaText } from "../wallet/quota-text";

const CODE_LENGTH = 32;
const HEX = "0123456789abcdef";
/** Rows of one insert: Postgres and SQLite bound the parameters of a statement. */
const ROWS_AT_ONCE = 50;

const alive = (ctx: Ctx): SQL => isNull(ctx.db.t.redemptions.deleted_at);

/** Rows of a state; `unused` leaves out what has expired. */
function inState(ctx: Ctx, state: RedemptionState): SQL | undefined {
  const { redemptions } = ctx.db.t;
  const now = seconds(ctx);
  const late = and(gt(redemptions.expired_time, 0), lte(redemptions.expired_time, now));
  const inTime = or(eq(redemptions.expired_time, 0), gt(redemptions.expired_time, now));
  if (state === "expired") return and(eq(redemptions.status, REDEMPTION_STATUS.unused), late);
  return and(eq(redemptions.status, REDEMPTION_STATUS[state]), state === "unused" ? inTime : undefined);
}

/** The keyword is an id, part of a name (C-121), or a whole code. */
function matching(ctx: Ctx, keyword: string): SQL | undefined {
  const { redemptions } = ctx.db.t;
  if (keyword === "") return undefined;
  const id = /^\d{1,15}$/.test(keyword) ? eq(redemptions.id, Number(keyword)) : undefined;
  const code = eq(redemptions.key_hash, ctx.secrets.hash("redemption-key", bareCode(keyword)));
  return or(id, contains(redemptions.name, keyword), code);
}

/** Newest first. */
export async function pageRedemptions(
  ctx: Ctx,
  { p, page_size, keyword = "", state }: { p: number; page_size: number; keyword?: string; state?: RedemptionState },
): Promise<Page<RedemptionRow>> {
  const { redemptions } = ctx.db.t;
  const where = and(alive(ctx), matching(ctx, withoutNul(keyword.trim())), state ? inState(ctx, state) : undefined);
  const [[all], items] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(redemptions).where(where),
    ctx.db.read
      .select()
      .from(redemptions)
      .where(where)
      .orderBy(desc(redemptions.id))
      .limit(page_size)
      .offset((p - 1) * page_size),
  ]);
  return { items, page: p, page_size, total: all?.n ?? 0 };
}

/** The few codes that fit a keyword, the newest first. */
export async function findRedemptions(ctx: Ctx, keyword: string): Promise<RedemptionRow[]> {
  const { redemptions } = ctx.db.t;
  return ctx.db.read
    .select()
    .from(redemptions)
    .where(and(alive(ctx), matching(ctx, withoutNul(keyword.trim()))))
    .orderBy(desc(redemptions.id))
    .limit(MOST_FOUND);
}

export async function findRedemption(ctx: Ctx, id: number): Promise<RedemptionRow> {
  const { redemptions } = ctx.db.t;
  const [row] = await ctx.db.q
    .select()
    .from(redemptions)
    .where(and(alive(ctx), eq(redemptions.id, id)));
  return row ?? fail("redemption_not_found");
}

/** An empty name is the quota as it is displayed (C-437, C-438). */
const nameOf = (ctx: Ctx, name: string, quota: number): string =>
  withoutNul(name) || quotaText(ctx, quota).slice(0, REDEMPTION_LIMITS.name);

function requireFuture(ctx: Ctx, expired_time: number): void {
  if (isRedemptionExpired({ expired_time }, seconds(ctx))) fail("redemption_expiry_invalid");
}

/** Makes `count` codes, all or none; returns them in clear. */
export async function createRedemptions(ctx: UserCtx, batch: RedemptionBatch): Promise<string[]> {
  requireFuture(ctx, batch.expired_time);
  const codes = Array.from({ length: batch.count }, () => randomText(CODE_LENGTH, HEX));
  const name = nameOf(ctx, batch.name, batch.quota);
  const rows = codes.map((code) => ({
    user_id: ctx.actor.id,
    name,
    key_hash: ctx.secrets.hash("redemption-key", code),
    key_cipher: ctx.secrets.encrypt("redemption-key", code),
    quota: batch.quota,
    created_time: seconds(ctx),
    expired_time: batch.expired_time,
  }));
  const { redemptions, audit_log } = ctx.db.t;
  await ctx.db.tx(function* (q) {
    const ids: number[] = [];
    for (let i = 0; i < rows.length; i += ROWS_AT_ONCE) {
      const made = yield* run(
        q
          .insert(redemptions)
          .values(rows.slice(i, i + ROWS_AT_ONCE))
          .returning({ id: redemptions.id }),
      );
      ids.push(...made.map(({ id }) => id));
    }
    const after = { ids, name, quota: batch.quota, expired_time: batch.expired_time };
    yield* run(
      q
        .insert(audit_log)
        .values(auditRow(ctx, { action: "redemption.create", target: "", after }))
        .returning({ id: audit_log.id }),
    );
  });
  return codes;
}

/** What the audit log keeps of a code; never the code itself. */
const factsOf = ({ name, status, quota, expired_time, used_user_id }: RedemptionRow) => ({
  name,
  status,
  quota,
  expired_time,
  used_user_id,
});

async function recordChange(ctx: Ctx, before: RedemptionRow, after: RedemptionRow): Promise<void> {
  const facts = changes(factsOf(before), factsOf(after));
  if (Object.keys(facts.after).length > 0)
    await recordAct(ctx, { action: "redemption.update", target: after.id, ...facts });
}

/**
 * Sets the fields that are sent, of an unused code: one that is redeemed meanwhile keeps the value that was credited
 * (C-354).
 */
export async function updateRedemption(ctx: Ctx, id: number, change: RedemptionChange): Promise<RedemptionRow> {
  const { redemptions } = ctx.db.t;
  const stored = await findRedemption(ctx, id);
  if (stored.status !== REDEMPTION_STATUS.unused) fail("redemption_not_editable");
  // An unchanged time may be past: forms send back the old value.
  if (change.expired_time !== undefined && change.expired_time !== stored.expired_time)
    requireFuture(ctx, change.expired_time);
  const { name, quota, expired_time } = change;
  const set = {
    ...(name !== undefined && { name: nameOf(ctx, name, quota ?? stored.quota) }),
    ...(quota !== undefined && { quota }),
    ...(expired_time !== undefined && { expired_time }),
  };
  if (Object.keys(set).length === 0) return stored;
  const [row] = await ctx.db.q
    .update(redemptions)
    .set(set)
    .where(and(alive(ctx), eq(redemptions.id, id), eq(redemptions.status, REDEMPTION_STATUS.unused)))
    .returning();
  if (!row) fail("redemption_not_editable");
  await recordChange(ctx, stored, row);
  return row;
}

/** Enables or disables; a used code stays used (C-353). */
export async function setRedemptionStatus(ctx: Ctx, id: number, status: number): Promise<RedemptionRow> {
  if (status !== REDEMPTION_STATUS.unused && status !== REDEMPTION_STATUS.disabled) fail("redemption_status_invalid");
  const { redemptions } = ctx.db.t;
  const stored = await findRedemption(ctx, id);
  const [row] = await ctx.db.q
    .update(redemptions)
    .set({ status })
    .where(and(alive(ctx), eq(redemptions.id, id), ne(redemptions.status, REDEMPTION_STATUS.used)))
    .returning();
  if (!row) fail("redemption_already_used");
  await recordChange(ctx, stored, row);
  return row;
}

/** Soft: who redeemed what stays known. An unused code stops working. */
export async function deleteRedemption(ctx: Ctx, id: number): Promise<void> {
  const { redemptions } = ctx.db.t;
  const [gone] = await ctx.db.q
    .update(redemptions)
    .set({ deleted_at: seconds(ctx) })
    .where(and(alive(ctx), eq(redemptions.id, id)))
    .returning();
  if (!gone) fail("redemption_not_found");
  await recordAct(ctx, { action: "redemption.delete", target: id, before: factsOf(gone) });
}

/** Deletes codes that cannot be redeemed any more: used, disabled, expired. Returns how many. */
export async function deleteInvalidRedemptions(ctx: Ctx): Promise<number> {
  const { redemptions } = ctx.db.t;
  const invalid = or(
    inArray(redemptions.status, [REDEMPTION_STATUS.disabled, REDEMPTION_STATUS.used]),
    inState(ctx, "expired"),
  );
  const gone = await ctx.db.q
    .update(redemptions)
    .set({ deleted_at: seconds(ctx) })
    .where(and(alive(ctx), invalid))
    .returning({ id: redemptions.id });
  if (gone.length > 0)
    await recordAct(ctx, { action: "redemption.delete", target: "", before: { ids: gone.map(({ id }) => id) } });
  return gone.length;
}

/**
 * Redeems a code for the caller and returns the units that were added. Marking the code, crediting and logging are one
 * transaction, and the mark is a conditional statement: of any number at the same moment one gets the units.
 */
export async function redeem(ctx: UserCtx, key: string): Promise<number> {
  const code = bareCode(key);
  if (code === "") fail("redemption_key_missing");
  const { redemptions } = ctx.db.t;
  const now = seconds(ctx);
  const which = and(eq(redemptions.key_hash, ctx.secrets.hash("redemption-key", code)), alive(ctx));
  return ctx.db.tx(
    function* (q) {
      const [taken] = yield* run(
        q
          .update(redemptions)
          .set({ status: REDEMPTION_STATUS.used, redeemed_time: now, used_user_id: ctx.actor.id })
          .where(and(which, inState(ctx, "unused")))
          .returning(),
      );
      if (!taken) {
        const [known] = yield* run(q.select().from(redemptions).where(which));
        if (known?.status === REDEMPTION_STATUS.unused && isRedemptionExpired(known, now)) fail("redemption_expired");
        return fail("redemption_invalid");
      }
      const { id, quota, name } = taken;
      const done = yield* creditSteps(
        ctx.db,
        q,
        {
          user_id: ctx.actor.id,
          amount: quota,
          kind: "redeem",
          idempotency_key: `redeem:${id}`,
          note: name,
          actor_id: ctx.actor.id,
        },
        now,
      );
      if (!done.applied) fail("redemption_invalid");
      yield* ctx.events.record(q, {
        type: "topup",
        user: ctx.actor,
        quota,
        ip: ctx.ip,
        event: "redeemed",
        params: { redemption_id: id },
      });
      return quota;
    },
    { durable: true },
  );
}
