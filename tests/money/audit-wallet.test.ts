/**
 * The audit of codes, orders, dividends and withdrawals: no findings when they are consistent, and a finding for every
 * row that is not.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Db } from "../../src/server/db/types";
import { audit } from "../../src/server/features/wallet/audit";
import type { Credit, Ledger } from "../../src/server/contracts/ledger";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { ENGINES, type FreshDatabase, freshDatabase } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { addUser, callLog, calls, clock, NOON } from "./world";

describe.each(ENGINES)("the audit of the wallet on %s", (engine) => {
  let fresh: FreshDatabase;
  let db: Db;
  let ledger: Ledger;
  let inviter: number;
  let payer: number;
  beforeAll(async () => {
    fresh = await freshDatabase(engine);
    db = fresh.db;
    ledger = createLedger(db, "x", clock);
    inviter = await addUser(db, ledger, 100);
    payer = await addUser(db, ledger, 100);
  }, HOOK_MS);
  afterAll(() => fresh?.close());

  const found = async () =>
    (await Array.fromAsync(audit(db))).map(({ rule, row, expected, found }) => [rule, row, expected, found]);
  const code = async (values: Partial<Db["t"]["redemptions"]["$inferInsert"]>) => {
    const key = crypto.randomUUID();
    const row = { user_id: 1, name: "c", key_hash: key, key_cipher: key, quota: 500, created_time: NOON, ...values };
    return (await db.q.insert(db.t.redemptions).values(row).returning())[0]?.id ?? 0;
  };
  const order = async (values: Partial<Db["t"]["orders"]["$inferInsert"]>) => {
    const row = {
      trade_no: crypto.randomUUID(),
      user_id: payer,
      amount: 1,
      quota: 700,
      money: "7.30",
      provider: "epay",
      create_time: NOON,
      ...values,
    };
    return (await db.q.insert(db.t.orders).values(row).returning())[0]?.id ?? 0;
  };
  const credit = (user_id: number, amount: number, kind: Credit["kind"], idempotency_key: string) =>
    ledger.credit({ user_id, amount, kind, idempotency_key });
  const creditId = async (key: string) =>
    (await db.q.select().from(db.t.credits).where(eq(db.t.credits.idempotency_key, key)))[0]?.id;

  test("codes, orders, earnings, transfers, withdrawals and refunds that are in order are a clean audit", async () => {
    await code({});
    await code({ status: 2 });
    const used = await code({ status: 3, used_user_id: payer, deleted_at: NOON });
    await credit(payer, 500, "redeem", `redeem:${used}`);
    await order({});
    await order({ status: "expired" });
    const paid = await order({ status: "success", trade_no: "T-0" });
    await credit(payer, 700, "order", "order:T-0");
    const named = await order({ status: "refunded", trade_no: "T-1" });
    await credit(payer, 700, "order", "order:T-1");
    await db.q
      .insert(db.t.dividends)
      .values([
        { user_id: inviter, invitee_id: payer, order_id: paid, amount: 70, created_at: NOON },
        { user_id: inviter, invitee_id: payer, order_id: named, amount: 70, created_at: NOON },
      ])
      .returning();
    await credit(inviter, 50, "transfer", "transfer:1");
    const asked = { user_id: inviter, account: "bank", created_at: NOON };
    await db.q
      .insert(db.t.withdrawals)
      .values([
        { ...asked, amount: 30 },
        { ...asked, amount: 20, status: "paid" },
        { ...asked, amount: 40, status: "refused" },
      ])
      .returning();
    // 200 earned: 140 of dividends and 60 of a reward; 50 transferred, 30 requested, 20 paid out.
    await db.q
      .update(db.t.users)
      .set({ aff_history_quota: 200, aff_quota: 100 })
      .where(eq(db.t.users.id, inviter))
      .returning();
    await calls(ledger, payer, 0).settle("charge", 40);
    await ledger.refund({ charge_id: "charge", quota: 15 });
    expect(await found()).toEqual([]);
  });

  test("every row that breaks a rule is named with what it should be", async () => {
    const unpaid = await code({ status: 3, used_user_id: payer });
    const stranger = await code({ status: 3, used_user_id: payer, quota: 10 });
    await credit(inviter, 10, "redeem", `redeem:${stranger}`);
    const less = await code({ status: 3, used_user_id: payer, quota: 500 });
    await credit(payer, 499, "redeem", `redeem:${less}`);
    await credit(payer, 5, "redeem", "redeem:999999");
    const missing = await order({ status: "success" });
    const more = await order({ status: "success", trade_no: "T-2" });
    await credit(payer, 701, "order", "order:T-2");
    const early = await order({ status: "pending", trade_no: "T-3" });
    await credit(payer, 700, "order", "order:T-3");
    const unused = await code({ quota: 20 });
    await credit(payer, 20, "redeem", `redeem:${unused}`);
    const [dividend] = await db.q
      .insert(db.t.dividends)
      .values({ user_id: inviter, invitee_id: payer, order_id: early, amount: 900, created_at: NOON })
      .returning();
    await calls(ledger, payer, 0).settle("small", 10);
    await ledger.refund({ charge_id: "small" });
    await db.q.update(db.t.logs).set({ quota: 8 }).where(eq(db.t.logs.request_id, "small")).returning();
    await db.q
      .insert(db.t.credits)
      .values({ user_id: 777, amount: 1, kind: "adjust", idempotency_key: "nobody", created_at: NOON })
      .returning();
    await db.q
      .insert(db.t.holds)
      .values({ request_id: "lost", user_id: 777, amount: 3, token_amount: 0, created_at: NOON, instance_id: "x" })
      .returning();
    await db.q
      .insert(db.t.logs)
      .values({ ...callLog("stray", 777, 0, 6), type: 2, folded: 0 })
      .returning();
    await db.q.update(db.t.users).set({ aff_quota: 101 }).where(eq(db.t.users.id, inviter)).returning();

    const all = await found();
    const wallet = all.filter(([rule]) => !["user_charges", "hourly_quota"].includes(String(rule)));
    const strangersCredit = await creditId(`redeem:${stranger}`);
    const inText = (a: unknown[], b: unknown[]) => (String(a[1]) < String(b[1]) ? -1 : 1);
    expect(wallet).toEqual([
      ["refunds", "logs small", 8, 10],
      ...[
        ["owners", `credits ${await creditId("nobody")}`, 0, 1],
        ["owners", "holds lost", 0, 3],
        ["owners", "logs stray", 0, 6],
      ],
      ...[
        ["codes", `redemptions ${unpaid}`, 500, 0],
        ["codes", `redemptions ${stranger}`, 10, 0],
        ["codes", `redemptions ${less}`, 500, 499],
        ["codes", `redemptions ${unused}`, 0, 20],
      ].sort(inText),
      ...[
        ["code_credits", `credits ${strangersCredit}`, 0, 10],
        ["code_credits", `credits ${await creditId("redeem:999999")}`, 0, 5],
        ["code_credits", `credits ${await creditId(`redeem:${unused}`)}`, 0, 20],
      ].sort(inText),
      ...[
        ["orders", `orders ${missing}`, 700, 0],
        ["orders", `orders ${more}`, 700, 701],
        ["orders", `orders ${early}`, 0, 700],
      ].sort(inText),
      ["order_credits", `credits ${await creditId("order:T-3")}`, 0, 700],
      ["dividends", `dividends ${dividend?.id}`, 0, 900],
      ["invite_earnings", `users ${inviter}`, 200, 201],
      ["dividends_earned", `users ${inviter}`, 1040, 200],
    ]);
    expect(all.length).toBeGreaterThan(wallet.length); // the changed charge breaks the log's own rules too
  });
});
