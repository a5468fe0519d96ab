/** Users, tokens and calls for money tests, and the audit of every history. */
import { eq } from "drizzle-orm";
import { expect } from "bun:test";
import type { Db } from "../../src/server/db/types";
import type { TokenRow } from "../../src/server/db/schema";
import { total } from "../../src/server/db/sql";
import { type CallLog, type Ledger, WALLET } from "../../src/server/contracts/ledger";
import { LOG_TYPE } from "../../src/shared/log";

/** Noon, 2026-11-21 UTC. */
export const NOON = 1_795_262_400;
export const clock = () => NOON * 1000;

let names = 0;

/** A user whose balance came in as one credit, like every balance. */
export async function addUser(db: Db, ledger: Ledger, quota: number): Promise<number> {
  const name = `user-${process.pid}-${++names}`;
  const [user] = await db.q
    .insert(db.t.users)
    .values({ username: name, password_hash: "x", created_at: NOON })
    .returning({ id: db.t.users.id });
  if (!user) throw new Error("no user");
  if (quota !== 0)
    await ledger.credit({ user_id: user.id, amount: quota, kind: "setup", idempotency_key: `setup:${user.id}` });
  return user.id;
}

export async function addToken(db: Db, user_id: number, token: Partial<TokenRow> = {}): Promise<number> {
  const name = `token-${process.pid}-${++names}`;
  const [row] = await db.q
    .insert(db.t.tokens)
    .values({ user_id, name, key_hash: name, key_cipher: "x", key_hint: "x", created_time: NOON, ...token })
    .returning({ id: db.t.tokens.id });
  if (!row) throw new Error("no token");
  return row.id;
}

export const callLog = (
  request_id: string,
  user_id: number,
  token_id: number,
  quota = 0,
  log: Partial<CallLog> = {},
): CallLog => ({
  request_id,
  user_id,
  token_id,
  quota,
  created_at: NOON,
  username: `u${user_id}`,
  token_name: "t",
  channel: 1,
  channel_name: "c",
  group: "default",
  model_name: "gpt-4o",
  prompt_tokens: 10,
  completion_tokens: 5,
  other: "{}",
  ...log,
});

/** The ledger with the arguments that a test needs. */
export function calls(ledger: Ledger, user_id: number, token_id: number) {
  return {
    hold: (request_id: string, amount: number, least?: number) =>
      ledger.hold({
        request_id,
        user_id,
        token_id,
        sources: WALLET,
        amount,
        ...(least !== undefined && { least }),
        draft: JSON.stringify(callLog(request_id, user_id, token_id)),
      }),
    settle: (request_id: string, quota: number, log: Partial<CallLog> = {}) =>
      ledger.settle({ request_id, user_id, token_id, quota, log: callLog(request_id, user_id, token_id, quota, log) }),
  };
}

export async function userOf(db: Db, id: number) {
  const [user] = await db.q.select().from(db.t.users).where(eq(db.t.users.id, id));
  if (!user) throw new Error(`no user ${id}`);
  return user;
}

export async function tokenOf(db: Db, id: number) {
  const [token] = await db.q.select().from(db.t.tokens).where(eq(db.t.tokens.id, id));
  if (!token) throw new Error(`no token ${id}`);
  return token;
}

/** Sums of everything that concerns a user, from the tables. */
export async function booksOf(db: Db, id: number) {
  const { holds, credits, logs } = db.t;
  const { quota, used_quota, request_count } = await userOf(db, id);
  const [held] = await db.q
    .select({ sum: total(holds.amount) })
    .from(holds)
    .where(eq(holds.user_id, id));
  const [credited] = await db.q
    .select({ sum: total(credits.amount) })
    .from(credits)
    .where(eq(credits.user_id, id));
  const rows = await db.q.select({ quota: logs.quota, type: logs.type }).from(logs).where(eq(logs.user_id, id));
  const sumOf = (of: typeof rows) => of.reduce((sum, row) => sum + row.quota, 0);
  const charges = rows.filter((row) => row.type === LOG_TYPE.consume);
  const refunds = rows.filter((row) => row.type === LOG_TYPE.refund);
  return {
    quota,
    used_quota,
    request_count,
    held: held?.sum ?? 0,
    credited: credited?.sum ?? 0,
    /** Charges less refunds. */
    logged: sumOf(charges) - sumOf(refunds),
    calls: charges.length,
  };
}

/** quota + holds + used_quota = credits, and the log agrees with the balance. */
export async function expectBalanced(db: Db, id: number) {
  const books = await booksOf(db, id);
  expect(books.quota + books.held + books.used_quota).toBe(books.credited);
  expect(books.used_quota).toBe(books.logged);
  expect(books.request_count).toBe(books.calls);
  return books;
}
