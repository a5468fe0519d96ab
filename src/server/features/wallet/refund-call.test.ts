/** What an operator gives back from a bill: never more than the charge, never their own, undone while it is young. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { addToken, callLog, calls, expectBalanced, tokenOf, userOf } from "../../../../tests/money/world";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { zhText } from "../../../../tests/kit/row-text";
import { ROLE } from "../../../shared/roles";
import type { TaskStatus } from "../../../shared/task";
import { foldBatch } from "../log/fold";
import { findTask } from "../task/row";
import { taskEndings } from "../task/task-end";
import { audit } from "./audit";

for (const engine of ENGINES) {
  describe(`refunds from a bill on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    beforeAll(async () => {
      h = await openHarness(engine);
      admin = await h.person({ role: ROLE.admin });
      await h.services.db.q
        .insert(h.services.db.t.channels)
        .values({ id: 1, type: 1, name: "c", created_time: 1 })
        .returning();
    }, HOOK_MS);
    afterAll(async () => {
      await foldBatch(h.services.db);
      expect(await Array.fromAsync(audit(h.services.db))).toEqual([]);
      await h.close();
    });

    let number = 0;
    /** A call of `units` by a person with 1000 units and a limited token of 500. */
    async function charged(units: number, person?: Person, other = "") {
      const { db, ledger } = h.services;
      const { actor } = (person ?? (await h.person())).ctx;
      await ledger.credit({
        user_id: actor.id,
        amount: 1000,
        kind: "setup",
        idempotency_key: `setup:${actor.id}:${++number}`,
      });
      const token = await addToken(db, actor.id, { remain_quota: 500 });
      const request_id = `call-${++number}`;
      await calls(ledger, actor.id, token).settle(request_id, units, { ...(other && { other }) });
      return { user: actor.id, token, request_id };
    }

    test("parts and then the rest go back to user and token, each a row of type 6 that names its charge and its reason", async () => {
      const { user, token, request_id } = await charged(120);
      const first = await admin.call.log.refund({ request_id, quota: 50, reason: " wrong model " });
      expect(first).toMatchObject({ quota: 50, left: 70 });
      expect(await userOf(h.services.db, user)).toMatchObject({ quota: 930, used_quota: 70, request_count: 1 });
      expect(await tokenOf(h.services.db, token)).toMatchObject({ remain_quota: 430, used_quota: 70 });
      expect(await admin.call.log.refund({ request_id })).toMatchObject({ quota: 70, left: 0 });
      const { left, items } = await admin.call.log.refunds({ request_id });
      expect(left).toBe(0);
      expect(items.map(({ type, quota, code, refund_of }) => [type, quota, code, refund_of])).toEqual([
        [6, 50, "call_refunded", request_id],
        [6, 70, "call_refunded", request_id],
      ]);
      const [row] = await h.services.db.q
        .select()
        .from(h.services.db.t.logs)
        .where(eq(h.services.db.t.logs.request_id, first.refund_id));
      expect(row && zhText(row)).toContain("wrong model");
      expect(JSON.parse(row?.other ?? "")).toMatchObject({ admin_info: { actor_id: admin.ctx.actor.id } });
      await expectBalanced(h.services.db, user);
    });

    test("more than what is left is refused with what is left, and so are odd amounts, rows that are no charge and free calls", async () => {
      const { request_id } = await charged(30);
      await admin.call.log.refund({ request_id, quota: 10 });
      const refused = await admin.rest("POST", "/api/log/refund", { request_id, quota: 21 });
      expect(refused.body).toMatchObject({ success: false, message: "退款不能超过这次调用尚未退还的 20 额度" });
      for (const quota of [0, -5, 1.5, 2 ** 60, "all"]) {
        expect((await admin.rest("POST", "/api/log/refund", { request_id, quota })).body.success).toBe(false);
      }
      for (const id of ["", "unknown", "\u0000", `${request_id}/refund`]) {
        expect((await admin.rest("POST", "/api/log/refund", { request_id: id })).body.success).toBe(false);
      }
      const free = await charged(0);
      expect((await admin.rest("POST", "/api/log/refund", { request_id: free.request_id })).body.success).toBe(false);
      expect((await admin.call.log.refunds({ request_id })).left).toBe(20);
    });

    test("nobody refunds their own calls or those of their peers, and users refund none", async () => {
      const own = await charged(10, admin);
      await expect(admin.call.log.refund({ request_id: own.request_id })).rejects.toThrow("refund your own");
      const root = await h.person({ role: ROLE.root });
      const roots = await charged(10, root);
      await expect(root.call.log.refund({ request_id: roots.request_id })).rejects.toThrow("refund your own");
      await expect(admin.call.log.refund({ request_id: roots.request_id })).rejects.toThrow("level");
      const user = await h.person();
      await expect(user.call.log.refund({ request_id: own.request_id })).rejects.toThrow("no permission");
      await expect(user.call.log.refunds({ request_id: own.request_id })).rejects.toThrow("no permission");
      expect(await root.call.log.refund({ request_id: own.request_id })).toMatchObject({ quota: 10 });
    });

    test("a refund is undone once, within a minute, while the balance covers it", async () => {
      const { user, token, request_id } = await charged(80);
      const { refund_id } = await admin.call.log.refund({ request_id });
      expect(await admin.call.log.undoRefund({ request_id: refund_id })).toEqual({ quota: 80 });
      await expect(admin.call.log.undoRefund({ request_id: refund_id })).rejects.toThrow("undone already");
      expect(await userOf(h.services.db, user)).toMatchObject({ quota: 920, used_quota: 80 });
      expect(await tokenOf(h.services.db, token)).toMatchObject({ remain_quota: 420, used_quota: 80 });
      const { left, items } = await admin.call.log.refunds({ request_id });
      expect([left, items.map(({ quota }) => quota)]).toEqual([80, [80, -80]]);
      // What was undone can be given again, and an undoing is no refund.
      await expect(admin.call.log.undoRefund({ request_id: items[1]?.request_id ?? "" })).rejects.toThrow(
        "No such log row",
      );
      const again = await admin.call.log.refund({ request_id });
      const { ledger } = h.services;
      await calls(ledger, user, token).settle(`${request_id}-more`, 1000);
      await expect(admin.call.log.undoRefund({ request_id: again.refund_id })).rejects.toThrow("no longer covers");
      await ledger.credit({ user_id: user, amount: 5000, kind: "adjust", idempotency_key: `more:${user}` });
      // The token's own quota is spent.
      await expect(admin.call.log.undoRefund({ request_id: again.refund_id })).rejects.toThrow("no longer covers");
      const late = await charged(40);
      const old = await admin.call.log.refund({ request_id: late.request_id });
      h.advance(61);
      await expect(admin.call.log.undoRefund({ request_id: old.refund_id })).rejects.toThrow("60 seconds");
      await expectBalanced(h.services.db, user);
    });

    test("budgets of a period that runs count it no longer, those of a past period stay, and an undoing counts it again", async () => {
      const { db } = h.services;
      const now = Math.floor(h.services.now() / 1000);
      const week = 7 * 86_400;
      await db.q.insert(db.t.budget_spend).values([
        { name: "past", amount: 300, expires_at: now - 10 + week },
        { name: "running", amount: 300, expires_at: now + 1000 + week },
      ]);
      const other = JSON.stringify({ admin_info: { use_channel: [], attempts: [], budgets: ["past", "running"] } });
      const { request_id } = await charged(100, undefined, other);
      const spent = async () =>
        Object.fromEntries(
          (
            await db.q
              .select()
              .from(db.t.budget_spend)
              .orderBy(sql`name`)
          ).map(({ name, amount }) => [name, amount]),
        );
      const { refund_id } = await admin.call.log.refund({ request_id, quota: 60 });
      expect(await spent()).toEqual({ past: 300, running: 240 });
      await admin.call.log.undoRefund({ request_id: refund_id });
      expect(await spent()).toEqual({ past: 300, running: 300 });
    });

    test("a job that fails after a refund gives back only what is left of its charge", async () => {
      const { user, request_id } = await charged(90);
      await admin.call.log.refund({ request_id, quota: 40 });
      expect(await h.services.ledger.refund({ charge_id: request_id })).toEqual({ refunded: true, quota: 50 });
      expect((await expectBalanced(h.services.db, user)).quota).toBe(1000);
    });

    test("the row of a job says what it was charged less all refunds, also of those given while it ran, and an undoing is told there too", async () => {
      const { db } = h.services;
      const t = db.t.tasks;
      const endings = taskEndings(h.services);
      const job = async (status: TaskStatus) => {
        const { user, request_id } = await charged(100);
        const [charge] = await db.q.select().from(db.t.logs).where(eq(db.t.logs.request_id, request_id));
        await db.q.insert(t).values({
          task_id: `task-${request_id}`,
          platform: "suno",
          action: "MUSIC",
          user_id: user,
          channel_id: 1,
          status,
          submit_time_ms: (charge?.created_at ?? 0) * 1000 - 5000,
          quota: 100,
          charge_id: request_id,
          state: JSON.stringify({ budgets: [] }),
        });
        const read = async () => {
          const task = await findTask(db, eq(t.charge_id, request_id));
          return task ?? Promise.reject(new Error("no such job"));
        };
        const said = async () => {
          const { quota, refunded } = await read();
          return { quota, refunded };
        };
        return { user, request_id, read, said };
      };

      const over = await job("SUCCESS");
      const { refund_id } = await admin.call.log.refund({ request_id: over.request_id, quota: 30 });
      expect(await over.said()).toEqual({ quota: 70, refunded: 30 });
      await admin.call.log.undoRefund({ request_id: refund_id });
      expect(await over.said()).toEqual({ quota: 100, refunded: 0 });

      // It came to 80: what the operator gave is a gift all the same.
      const cheaper = await job("IN_PROGRESS");
      await admin.call.log.refund({ request_id: cheaper.request_id, quota: 40 });
      expect(await cheaper.said()).toEqual({ quota: 100, refunded: 0 });
      expect(await endings.succeed(await cheaper.read(), "IN_PROGRESS", 80, {})).toBe(true);
      expect(await cheaper.said()).toEqual({ quota: 40, refunded: 60 });
      expect((await expectBalanced(db, cheaper.user)).quota).toBe(960);

      const same = await job("IN_PROGRESS");
      await admin.call.log.refund({ request_id: same.request_id, quota: 40 });
      await endings.succeed(await same.read(), "IN_PROGRESS", 100, {});
      expect(await same.said()).toEqual({ quota: 60, refunded: 40 });

      const failed = await job("IN_PROGRESS");
      await admin.call.log.refund({ request_id: failed.request_id, quota: 40 });
      await endings.fail(await failed.read(), "IN_PROGRESS", "broken", {});
      expect(await failed.said()).toEqual({ quota: 0, refunded: 100 });
      expect((await expectBalanced(db, failed.user)).quota).toBe(1000);

      // What it cost beyond its first charge is collected beside a refund that was given meanwhile.
      const dearer = await job("IN_PROGRESS");
      await endings.succeed(await dearer.read(), "IN_PROGRESS", 120, {});
      await admin.call.log.refund({ request_id: dearer.request_id, quota: 10 });
      await endings.collect((await dearer.read()).id);
      expect(await dearer.said()).toEqual({ quota: 110, refunded: 10 });
      expect((await expectBalanced(db, dearer.user)).quota).toBe(890);
    });

    test("the true end of a call that a sweep had charged does not overwrite a charge that was refunded", async () => {
      const { user, token, request_id } = await charged(50, undefined, JSON.stringify({ swept: true }));
      await admin.call.log.refund({ request_id, quota: 20 });
      const log = callLog(request_id, user, token, 70);
      expect(await h.services.ledger.settle({ request_id, user_id: user, token_id: token, quota: 70, log })).toEqual({
        settled: false,
      });
    });

    test("refund and undoing are in the audit log with who, what and why", async () => {
      const root = await h.person({ role: ROLE.root });
      const { request_id, user } = await charged(60);
      const { refund_id } = await admin.call.log.refund({ request_id, quota: 20, reason: "twice" });
      await admin.call.log.undoRefund({ request_id: refund_id });
      const { items } = await root.call.audit.list({ target_type: "call", target_id: request_id });
      expect(items.map(({ action, actor_id, after }) => [action, actor_id, JSON.parse(after)])).toEqual([
        ["call.refund_undo", admin.ctx.actor.id, { user_id: user, refund_id, quota: 20 }],
        ["call.refund", admin.ctx.actor.id, { user_id: user, refund_id, quota: 20, left: 40, reason: "twice" }],
      ]);
    });
  });
}
