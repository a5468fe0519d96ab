/**
 * All data of one person: exported, or removed. What money needs stays: ledger, charges and orders have an id and no
 * name; so `weir audit` passes before and after.
 */
import { and, asc, eq, gt, inArray, isNull, ne, or } from "drizzle-orm";
import { seconds, type UserCtx } from "../../contracts/context";
import { run } from "../../db/transaction";
import type { LogRow } from "../../db/schema";
import { auditRow, recordAct } from "../audit/record";
import { earningLines, eraseEarningSteps } from "../invite/personal";
import { presentForOwner } from "../log/present";
import { readerOf } from "../log/service";
import { eraseOrderSteps } from "../order/personal";
import { presentToken } from "../token/present";
import { eraseIncidentSteps } from "../alert/incidents";
import { deleteSteps, lockedTarget } from "./manage";
import { getUser, readableUser } from "./manage-list";

/** Log rows of one slice of an export; rows changed in one statement of an erasure. */
const SLICE = 1000;
const BATCH = 500;

/**
 * One part of an export, as lines `{ kind, … }`: without `cursor` everything but the log, with it the log after that
 * id. `next` is the cursor of the following part, absent at the end. No key, hash or cipher is in it.
 */
export async function exportUser(
  ctx: UserCtx,
  id: number,
  cursor?: number,
): Promise<{ lines: object[]; next?: number }> {
  if (cursor !== undefined) return exportLog(ctx, id, cursor);
  const { tokens, credits, sessions, identities, passkeys, orders, tasks } = ctx.db.t;
  const account = await getUser(ctx, id);
  const [row, ownTokens, ownCredits, ownSessions, ownIdentities, ownPasskeys, ownOrders, ownEarnings, ownTasks] =
    await Promise.all([
      readableUser(ctx, id),
      ctx.db.read.select().from(tokens).where(eq(tokens.user_id, id)).orderBy(asc(tokens.id)),
      ctx.db.read.select().from(credits).where(eq(credits.user_id, id)).orderBy(asc(credits.id)),
      ctx.db.read
        .select({
          created_at: sessions.created_at,
          last_seen_at: sessions.last_seen_at,
          ip: sessions.ip,
          user_agent: sessions.user_agent,
        })
        .from(sessions)
        .where(eq(sessions.user_id, id)),
      ctx.db.read.select().from(identities).where(eq(identities.user_id, id)),
      ctx.db.read
        .select({ name: passkeys.name, created_at: passkeys.created_at, last_used_at: passkeys.last_used_at })
        .from(passkeys)
        .where(eq(passkeys.user_id, id)),
      ctx.db.read.select().from(orders).where(eq(orders.user_id, id)).orderBy(asc(orders.id)),
      earningLines(ctx, id),
      ctx.db.read.select().from(tasks).where(eq(tasks.user_id, id)).orderBy(asc(tasks.id)),
    ]);
  await recordAct(ctx, { action: "user.export", target: id });
  const lines = [
    { kind: "account", ...account, aff_code: row.aff_code ?? "" },
    ...ownIdentities.map(({ provider, subject, name, created_at }) => ({
      kind: "identity",
      provider,
      subject,
      name,
      created_at,
    })),
    ...ownPasskeys.map((passkey) => ({ kind: "passkey", ...passkey })),
    ...ownSessions.map((session) => ({ kind: "session", ...session })),
    ...ownTokens.map((token) => ({ kind: "token", ...presentToken(ctx, token) })),
    ...ownCredits.map(({ id: credit, amount, kind, note, created_at }) => ({
      kind: "credit",
      id: credit,
      amount,
      cause: kind,
      note,
      created_at,
    })),
    ...ownOrders.map(({ id: order, trade_no, quota, money, currency, status, create_time }) => ({
      kind: "order",
      id: order,
      trade_no,
      quota,
      money,
      currency,
      status,
      create_time,
    })),
    ...ownEarnings,
    ...ownTasks.map(({ task_id, platform, action, model, status, prompt, input, data, quota, submit_time_ms }) => ({
      kind: "task",
      task_id,
      platform,
      action,
      model,
      status,
      prompt,
      input,
      data,
      quota,
      submit_time_ms,
    })),
  ];
  return { lines, next: 0 };
}

async function exportLog(ctx: UserCtx, id: number, cursor: number): Promise<{ lines: object[]; next?: number }> {
  const { logs } = ctx.db.t;
  await readableUser(ctx, id);
  const rows: LogRow[] = await ctx.db.read
    .select()
    .from(logs)
    .where(and(eq(logs.user_id, id), gt(logs.id, cursor)))
    .orderBy(asc(logs.id))
    .limit(SLICE);
  const last = rows.at(-1);
  const reader = readerOf(ctx);
  const lines = rows.map((row) => ({ kind: "log", ...presentForOwner(row, reader) }));
  return { lines, ...(rows.length === SLICE && last ? { next: last.id } : {}) };
}

/** Replaces a name. It is longer than a name may be, so no user can take it. */
export const erasedName = (id: number): string => `erased-user-${id}`;

/**
 * Removes name, address, bindings, tokens, files, bodies and IP addresses of calls of an account, forever; an account
 * that is not deleted is deleted first. The rows of its calls stay, without names. May be repeated when it was
 * interrupted.
 */
export async function eraseUser(ctx: UserCtx, id: number): Promise<void> {
  const { users, tokens, audit_log } = ctx.db.t;
  const name = erasedName(id);
  await ctx.db.tx(function* (q) {
    const stored = yield* lockedTarget(ctx, q, id, "erase");
    const ended = yield* deleteSteps(ctx, q, id);
    yield* run(
      q
        .update(users)
        .set({
          ...ended,
          deleted_at: stored.deleted_at ?? seconds(ctx),
          username: name,
          display_name: "",
          email: "",
          password_hash: "-",
          aff_code: null,
          setting: "",
        })
        .where(eq(users.id, id))
        .returning({ id: users.id }),
    );
    yield* run(
      q
        .update(tokens)
        .set({ name: "", allow_ips: "", deny_ips: "", deleted_at: seconds(ctx) })
        .where(and(eq(tokens.user_id, id), isNull(tokens.deleted_at)))
        .returning({ id: tokens.id }),
    );
    yield* run(
      q
        .update(tokens)
        .set({ name: "", allow_ips: "", deny_ips: "" })
        .where(eq(tokens.user_id, id))
        .returning({ id: tokens.id }),
    );
    // Names in the log of what was done to this account; what this account did as an administrator stays in its name.
    yield* run(
      q
        .update(audit_log)
        .set({ before: "", after: "" })
        .where(and(eq(audit_log.target_type, "user"), eq(audit_log.target_id, String(id))))
        .returning({ id: audit_log.id }),
    );
    yield* eraseEarningSteps(ctx, q, id);
    yield* eraseOrderSteps(ctx, q, id);
    yield* eraseIncidentSteps(ctx, q, id);
    yield* run(q.insert(audit_log).values(auditRow(ctx, { action: "user.erase", target: id })));
    yield* ctx.cluster.bus.announce(q, "users", String(id));
  });
  await eraseFiles(ctx, id);
  while ((await eraseLogBatch(ctx, id, name)) === BATCH) {
    // The next batch.
  }
}

/** Stored responses, files and jobs of the account. */
async function eraseFiles(ctx: UserCtx, id: number): Promise<void> {
  const { stored_objects, tasks } = ctx.db.t;
  await ctx.db.bulk
    .delete(stored_objects)
    .where(eq(stored_objects.user_id, id))
    .returning({ id: stored_objects.object_id });
  // A running job is still charged or given back; its content is removed.
  const over = and(eq(tasks.user_id, id), eq(tasks.next_poll_at_ms, 0));
  await ctx.db.bulk.delete(tasks).where(over).returning({ id: tasks.id });
  const bare = { username: erasedName(id), prompt: "", input: "", data: "", client_key: null };
  await ctx.db.bulk.update(tasks).set(bare).where(eq(tasks.user_id, id)).returning({ id: tasks.id });
}

/**
 * One batch of the log: name, address and token name are removed, and the kept bodies; the text of failures may quote a
 * prompt.
 */
async function eraseLogBatch(ctx: UserCtx, id: number, name: string): Promise<number> {
  const { logs, log_bodies } = ctx.db.t;
  return ctx.db.tx(
    function* (q) {
      const rows = yield* run(
        q
          .select({ request_id: logs.request_id })
          .from(logs)
          .where(and(eq(logs.user_id, id), or(ne(logs.username, name), ne(logs.ip, ""))))
          .limit(BATCH),
      );
      if (rows.length === 0) return 0;
      const requests = rows.map((row) => row.request_id);
      yield* run(
        q
          .delete(log_bodies)
          .where(inArray(log_bodies.request_id, requests))
          .returning({ request_id: log_bodies.request_id }),
      );
      yield* run(
        q
          .update(logs)
          .set({ username: name, token_name: "", ip: "", content: "", params: "", tags: "" })
          .where(inArray(logs.request_id, requests))
          .returning({ id: logs.id }),
      );
      return rows.length;
    },
    { long: true },
  );
}
