/**
 * Verbs of administrators on other users' accounts. Each decides by `mayActOn` on the locked row, writes its audit row
 * in the same transaction and announces "users", so that caches of every instance drop the account within a second.
 */
import { eq } from "drizzle-orm";
import type * as z from "zod";
import { AppError, fail } from "../../../shared/errors";
import { DEFAULT_GROUP } from "../../../shared/group";
import { LIMIT_FIELDS } from "../../../shared/limits";
import { UNITS_LIMIT } from "../../../shared/quota";
import { type ManageAction, mayActOn, ROLE, USER_STATUS, type UserAction } from "../../../shared/roles";
import type { ManagedUser, userCreate, UserChange } from "../../../shared/user-manage";
import { seconds, type UserCtx } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { UserRow } from "../../db/schema";
import { forUpdate, withoutNul } from "../../db/sql";
import { isUniqueViolation } from "../../db/errors";
import { randomText } from "../../lib/secrets";
import { auditRow, changes } from "../audit/record";
import { hashPassword } from "../auth/password";
import { removeFactorSteps } from "../factor/own";
import { groupFacts } from "../group/facts";
import { rewardRegistration } from "../invite/reward";
import { creditSteps } from "../wallet/credit";
import { withBindings } from "./manage-list";
import { claimName } from "./name";

const announce = (ctx: UserCtx, q: Q, id: number): Steps<void> => ctx.cluster.bus.announce(q, "users", String(id));

/** The account, locked until the transaction ends, when the caller may change it so; the refusal otherwise. */
export function* lockedTarget(ctx: UserCtx, q: Q, id: number, action: UserAction): Steps<UserRow> {
  const { users } = ctx.db.t;
  const [row] = yield* run(forUpdate(ctx.db, q.select().from(users).where(eq(users.id, id))));
  if (!row) return fail("user_not_found");
  const refusal = mayActOn(
    ctx.actor,
    { id: row.id, role: row.role, status: row.status, deleted: row.deleted_at !== null },
    action,
  );
  if (refusal) fail(refusal);
  return row;
}

async function presented(ctx: UserCtx, row: UserRow): Promise<ManagedUser> {
  const [user] = await withBindings(ctx, [row]);
  return user ?? fail("user_not_found");
}

/** What the audit log keeps of an account; balances have separate entries. */
const factsOf = ({
  username,
  display_name,
  group,
  role,
  status,
  rpm,
  tpm,
  concurrency,
  budget_day,
  budget_month,
}: UserRow) => ({ username, display_name, group, role, status, rpm, tpm, concurrency, budget_day, budget_month });

/**
 * A new account in the default group, with what new users get. Refuses taken names, also those of deleted accounts
 * (D-35).
 */
export async function createUser(
  ctx: UserCtx,
  { username, password, display_name, role }: z.output<typeof userCreate>,
): Promise<ManagedUser> {
  const refusal = mayActOn(ctx.actor, { id: 0, role }, "create");
  if (refusal) fail(refusal);
  const name = withoutNul(username);
  const password_hash = await hashPassword(password);
  const time = seconds(ctx);
  const created = await ctx.db.tx(
    function* (q) {
      yield* claimName(ctx, q, name);
      const [row] = yield* run(
        q
          .insert(ctx.db.t.users)
          .values({
            username: name,
            display_name: withoutNul(display_name) || name,
            password_hash,
            role,
            group: DEFAULT_GROUP,
            created_at: time,
          })
          .onConflictDoNothing()
          .returning(),
      );
      if (!row) return fail("username_taken");
      yield* rewardRegistration(ctx, q, row, undefined, time);
      yield* run(
        q
          .insert(ctx.db.t.audit_log)
          .values(auditRow(ctx, { action: "user.create", target: row.id, after: factsOf(row) })),
      );
      const [fresh] = yield* run(q.select().from(ctx.db.t.users).where(eq(ctx.db.t.users.id, row.id)));
      yield* announce(ctx, q, row.id);
      return fresh ?? fail("user_not_found");
    },
    { durable: true },
  );
  return presented(ctx, created);
}

/** The change of a balance: by so many units, or to so many. */
type Adjustment = { by: number; note?: string | undefined; key?: string | undefined } | { to: number };

/**
 * A ledger entry of the difference, never an overwritten balance (D-47): calls that run meanwhile keep what they took.
 * A deduction beyond the balance is refused. The owner sees it in their log as type 3.
 */
function* adjustSteps(ctx: UserCtx, q: Q, user: UserRow, wanted: Adjustment): Steps<void> {
  const note = withoutNul("by" in wanted ? (wanted.note ?? "") : "");
  const key = ("by" in wanted && wanted.key) || randomText(20);
  let balance = user.quota;
  // A balance of an older release may exceed what one exact number can correct: then it takes several.
  for (let part = 0; ; part++) {
    const missing = "by" in wanted ? (part === 0 ? wanted.by : 0) : wanted.to - balance;
    if (missing === 0) break;
    const amount = Math.max(-UNITS_LIMIT, Math.min(missing, UNITS_LIMIT));
    const idempotency_key = `adjust:${user.id}:${key}${part === 0 ? "" : `:${part}`}`;
    const done = yield* creditSteps(
      ctx.db,
      q,
      { user_id: user.id, amount, kind: "adjust", idempotency_key, note, actor_id: ctx.actor.id },
      seconds(ctx),
    );
    if (done.reason === "insufficient") fail("user_quota_negative", { balance: done.balance });
    if (done.reason === "limit") fail("invalid_request", { detail: "quota" });
    if (!done.applied) return;
    ({ balance } = done);
  }
  const amount = balance - user.quota;
  if (amount === 0) return;
  const facts = { amount, balance_before: balance - amount, balance, note };
  const change = `${amount > 0 ? "+" : ""}${amount}`;
  const params = { before: balance - amount, balance, change, ...(note && { note }) };
  yield* ctx.events.record(q, { type: "admin", event: "quota_adjusted", user, params, other: { amount, balance } });
  yield* run(
    q.insert(ctx.db.t.audit_log).values(auditRow(ctx, { action: "user.quota", target: user.id, after: facts })),
  );
}

/**
 * Sets the fields that are sent; an empty password stays. A new password ends the account's sessions and its system
 * access token.
 */
export async function updateUser(
  ctx: UserCtx,
  id: number,
  change: UserChange & { quota?: number | undefined },
): Promise<ManagedUser> {
  const { users, sessions, audit_log } = ctx.db.t;
  const password_hash = change.password ? await hashPassword(change.password) : undefined;
  try {
    const row = await ctx.db.tx(
      function* (q) {
        const stored = yield* lockedTarget(ctx, q, id, "update");
        const set = columnsOf(ctx, stored, change);
        const after = { ...stored, ...set };
        if (set.username !== undefined) yield* claimName(ctx, q, set.username, id);
        if (Object.keys(set).length > 0)
          yield* run(q.update(users).set(set).where(eq(users.id, id)).returning({ id: users.id }));
        if (password_hash) {
          yield* run(
            q
              .update(users)
              .set({ password_hash, access_token_hash: null })
              .where(eq(users.id, id))
              .returning({ id: users.id }),
          );
          yield* run(q.delete(sessions).where(eq(sessions.user_id, id)).returning({ id: sessions.id }));
        }
        const facts = changes(factsOf(stored), factsOf(after));
        if (password_hash) facts.after = { ...facts.after, password_hash: "changed" };
        if (Object.keys(facts.after).length > 0) {
          yield* run(q.insert(audit_log).values(auditRow(ctx, { action: "user.update", target: id, ...facts })));
        }
        if (change.add_quota !== undefined)
          yield* adjustSteps(ctx, q, after, { by: change.add_quota, note: change.note, key: change.adjust_key });
        else if (change.quota !== undefined) yield* adjustSteps(ctx, q, after, { to: change.quota });
        const [fresh] = yield* run(q.select().from(users).where(eq(users.id, id)));
        yield* announce(ctx, q, id);
        return fresh ?? fail("user_not_found");
      },
      { durable: true },
    );
    return await presented(ctx, row);
  } catch (error) {
    if (!(error instanceof AppError) && isUniqueViolation(error)) fail("username_taken");
    throw error;
  }
}

/** The columns of a change. A group must have a ratio, unless it is the account's current one. */
function columnsOf(ctx: UserCtx, stored: UserRow, change: UserChange): Partial<UserRow> {
  const group = change.group === undefined ? undefined : withoutNul(change.group);
  if (group !== undefined && group !== stored.group && !Object.hasOwn(groupFacts(ctx).ratios, group))
    fail("user_group_unknown", { group });
  const set: Partial<UserRow> = {};
  if (change.username !== undefined) set.username = withoutNul(change.username);
  if (change.display_name !== undefined) set.display_name = withoutNul(change.display_name);
  if (group !== undefined) set.group = group;
  for (const field of LIMIT_FIELDS) {
    const value = change[field];
    if (value !== undefined) set[field] = value;
  }
  return Object.fromEntries(Object.entries(set).filter(([field, value]) => stored[field as keyof UserRow] !== value));
}

const EFFECTS: Readonly<Record<Exclude<ManageAction, "delete">, Partial<UserRow>>> = {
  promote: { role: ROLE.admin },
  demote: { role: ROLE.user },
  enable: { status: USER_STATUS.active },
  disable: { status: USER_STATUS.banned },
};

/**
 * One of the five actions (A-328 to A-337). Demotion and ban hold at the next call: role and status are read with each.
 */
export async function manageUser(ctx: UserCtx, id: number, action: ManageAction): Promise<ManagedUser> {
  const { users, audit_log } = ctx.db.t;
  const row = await ctx.db.tx(function* (q) {
    const stored = yield* lockedTarget(ctx, q, id, action);
    const effect = action === "delete" ? yield* deleteSteps(ctx, q, id) : EFFECTS[action];
    const [changed] = yield* run(q.update(users).set(effect).where(eq(users.id, id)).returning());
    if (!changed) return fail("user_not_found");
    const facts = action === "delete" ? { before: factsOf(stored) } : changes(factsOf(stored), factsOf(changed));
    yield* run(q.insert(audit_log).values(auditRow(ctx, { action: `user.${action}`, target: id, ...facts })));
    yield* announce(ctx, q, id);
    return changed;
  });
  return presented(ctx, row);
}

/**
 * Deleting is soft (D-33, D-35): name and address stay taken, log and invitations stay readable; sessions, access token
 * and second factors end, identities elsewhere are free again. Calls that run settle; relay keys are refused by the
 * owner's state.
 */
export function* deleteSteps(ctx: Pick<UserCtx, "db" | "now">, q: Q, id: number): Steps<Partial<UserRow>> {
  const { sessions, identities, push_subscriptions } = ctx.db.t;
  yield* run(q.delete(sessions).where(eq(sessions.user_id, id)).returning({ user_id: sessions.user_id }));
  yield* run(q.delete(identities).where(eq(identities.user_id, id)).returning({ user_id: identities.user_id }));
  yield* removeFactorSteps(ctx, q, id);
  yield* run(
    q
      .delete(push_subscriptions)
      .where(eq(push_subscriptions.user_id, id))
      .returning({ user_id: push_subscriptions.user_id }),
  );
  return { deleted_at: seconds(ctx), access_token_hash: null };
}
