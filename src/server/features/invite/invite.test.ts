import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { ROLE } from "../../../shared/roles";
import { run } from "../../db/transaction";
import { audit } from "../wallet/audit";
import { creditSteps } from "../wallet/credit";
import { findInviter, inviteCode } from "./code";
import { earn, payRebate } from "./rebate";
import { rewardRegistration } from "./reward";

const DOLLAR = 500_000;

for (const engine of ENGINES) {
  describe(`invitations on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    let trades = 0;
    beforeAll(async () => {
      h = await openHarness(engine);
      admin = await h.person({ role: ROLE.admin });
    }, HOOK_MS);
    afterAll(() => h?.close());

    const now = () => Math.floor(h.services.now() / 1000);
    const idOf = (person: Person): number => person.ctx.actor.id;
    const self = (person: Person) => person.call.user.self();
    const give = (person: Person, amount: number) => h.services.db.tx((q) => earn(h.services, q, idOf(person), amount));
    const register = (user: Person, inviter?: Person) => {
      const who = (p: Person) => ({ id: idOf(p), username: p.ctx.actor.username });
      return h.services.db.tx((q) => rewardRegistration(h.services, q, who(user), inviter && who(inviter), now()), {
        durable: true,
      });
    };
    const options = async (values: Record<string, string>) => {
      for (const [key, value] of Object.entries(values)) await h.services.options.set(key as "QuotaForInviter", value);
    };
    const logsOf = (person: Person) =>
      h.services.db.q
        .select()
        .from(h.services.db.t.logs)
        .where(eq(h.services.db.t.logs.user_id, idOf(person)));
    const findings = async () => {
      const found = [];
      for await (const finding of audit(h.services.db)) found.push(finding);
      return found;
    };
    /** A paid order of `quota` units and its share. */
    const paid = (user: Person, quota: number, times = 1) =>
      h.services.db.tx(function* (q) {
        const [order] = yield* run(
          q
            .insert(h.services.db.t.orders)
            .values({
              trade_no: `t${++trades}`,
              user_id: idOf(user),
              amount: 1,
              quota,
              money: "7.30",
              provider: "epay",
              status: "success",
              create_time: now(),
            })
            .returning(),
        );
        if (!order) throw new Error("no order");
        const credit = {
          user_id: idOf(user),
          amount: quota,
          kind: "order",
          idempotency_key: `order:${order.trade_no}`,
        } as const;
        yield* creditSteps(h.services.db, q, credit, now());
        const shares: number[] = [];
        for (let i = 0; i < times; i++) shares.push(yield* payRebate(h.services, q, order, now()));
        return shares;
      });

    test("the code is four letters or digits, the same on each call and under twenty at once", async () => {
      const person = await h.person();
      const codes = await Promise.all(Array.from({ length: 20 }, () => person.rest("GET", "/api/user/aff")));
      const [code] = new Set(codes.map(({ body }) => String(body.data)));
      // spec: A-435
      expect(new Set(codes.map(({ body }) => body.data)).size).toBe(1);
      // spec: A-435, D-64
      expect(code).toMatch(/^[A-Za-z0-9]{4}$/);
      expect((await person.rest("GET", "/api/user/aff/")).body.data).toBe(code);
      expect((await self(person)).aff_code).toBe(code ?? "");
    });

    test("when the short codes are taken a longer one is made", async () => {
      const [first, second] = [await h.person(), await h.person()];
      const always = (length: number) => "a".repeat(length);
      expect(await inviteCode(first.ctx, always)).toBe("aaaa");
      // spec: D-64
      expect(await inviteCode(second.ctx, always)).toBe("aaaaa");
    });

    test("an inviter is found by code; an unknown or empty code and a deleted user's code find none", async () => {
      const inviter = await h.person();
      const code = await inviter.call.invite.code();
      const find = (text: string | undefined) => h.services.db.tx((q) => findInviter(h.services.db, q, text));
      expect((await find(` ${code} `))?.id).toBe(idOf(inviter));
      for (const text of [undefined, "", "  ", "nonsense", "\u0000", "%", code.slice(0, 3)])
        // spec: D-63
        expect(await find(text)).toBeUndefined();
      const { users } = h.services.db.t;
      await h.services.db.q
        .update(users)
        .set({ deleted_at: 1 })
        .where(eq(users.id, idOf(inviter)))
        .returning();
      expect(await find(code)).toBeUndefined();
    });

    test("a registration rewards both once, however often it is repeated, and the ledger balances", async () => {
      await options({ QuotaForNewUser: "100", QuotaForInvitee: "20", QuotaForInviter: "3" });
      const [inviter, user, alone] = [await h.person(), await h.person(), await h.person()];
      await Promise.all([register(user, inviter), register(user, inviter)]);
      await register(user, alone);
      await register(alone);
      // spec
      expect(await self(user)).toMatchObject({ quota: 120, inviter_id: idOf(inviter) });
      // spec
      expect(await self(inviter)).toMatchObject({ quota: 0, aff_count: 1, aff_quota: 3, aff_history_quota: 3 });
      // spec: A-181
      expect(await self(alone)).toMatchObject({ quota: 100, inviter_id: 0, aff_count: 0 });
      expect((await logsOf(user)).map(({ type, quota }) => [type, quota]).sort()).toEqual([
        [4, 100],
        [4, 20],
      ]);
      // spec: C-358
      expect(await logsOf(inviter)).toMatchObject([{ type: 4, quota: 3 }]);
      expect(await findings()).toEqual([]);
      await options({ QuotaForNewUser: "0", QuotaForInvitee: "0", QuotaForInviter: "0" });
    });

    test("without rewards an invited user still counts, and users cannot invite themselves", async () => {
      const [inviter, user] = [await h.person(), await h.person()];
      await register(user, inviter);
      await register(inviter, inviter);
      expect(await self(inviter)).toMatchObject({ aff_count: 1, aff_quota: 0, inviter_id: 0 });
      expect(await logsOf(inviter)).toEqual([]);
    });

    test("an inviter gets the share of a paid order once, rounded down, and none while the option is 0", async () => {
      const [inviter, user, stranger] = [await h.person(), await h.person(), await h.person()];
      await register(user, inviter);
      // spec: C-014
      expect(await paid(user, 1000)).toEqual([0]);
      await options({ InviteRebatePercent: "12.5" });
      expect(await paid(user, 1001, 3)).toEqual([125, 0, 0]);
      expect(await paid(user, 7)).toEqual([0]);
      expect(await paid(stranger, 1000)).toEqual([0]);
      // spec: C-014
      expect(await self(inviter)).toMatchObject({ quota: 0, aff_quota: 125, aff_history_quota: 125 });
      const shares = await inviter.call.invite.dividends({});
      // spec: C-016
      expect(shares).toMatchObject({
        total: 1,
        items: [{ invitee_id: idOf(user), username: user.ctx.actor.username, amount: 125 }],
      });
      const invited = await inviter.call.invite.invited({});
      // spec: C-015
      expect(invited).toMatchObject({ total: 1, items: [{ id: idOf(user), orders: 1, amount: 125 }] });
      expect((await user.call.invite.dividends({})).items).toEqual([]);
      expect(await findings()).toEqual([]);
      await options({ InviteRebatePercent: "0" });
    });

    test("a transfer moves earnings to the balance and reports it in words", async () => {
      const person = await h.person();
      await give(person, 3 * DOLLAR);
      const answer = await person.rest("POST", "/api/user/aff_transfer", { quota: DOLLAR });
      expect(answer.body).toMatchObject({ success: true, message: "划转成功", data: DOLLAR });
      // spec
      expect(await self(person)).toMatchObject({ quota: DOLLAR, aff_quota: 2 * DOLLAR, aff_history_quota: 3 * DOLLAR });
      expect(await logsOf(person)).toMatchObject([{ type: 4, quota: DOLLAR }]);
      expect(await findings()).toEqual([]);
    });

    test.each([
      // spec: A-373
      [499_999, "transfer_too_small"],
      [1, "transfer_too_small"],
      [0, "transfer_invalid"],
      [-DOLLAR, "transfer_invalid"],
      [DOLLAR + 0.5, "transfer_invalid"],
      ["abc", "transfer_invalid"],
      [null, "transfer_invalid"],
      [1e300, "transfer_invalid"],
      [Number.MAX_SAFE_INTEGER, "transfer_invalid"],
      // spec: A-374
      [3 * DOLLAR, "invite_quota_insufficient"],
      [1_000_000_000_000_000, "invite_quota_insufficient"],
    ])("a transfer of %p out of two dollars is refused and moves nothing", async (quota, code) => {
      const person = await h.person();
      await give(person, 2 * DOLLAR);
      const { body } = await person.rest("POST", "/api/user/aff_transfer", { quota });
      // spec
      expect(body).toMatchObject({ success: false, code });
      // spec: A-372
      if (code === "transfer_too_small") expect(body.message).toBe("划转金额最低为 $1.00");
      expect(await self(person)).toMatchObject({ quota: 0, aff_quota: 2 * DOLLAR });
    });

    test("thirty transfers and withdrawals at once never take more than there is", async () => {
      const person = await h.person();
      await give(person, 5 * DOLLAR);
      const answers = await Promise.allSettled(
        Array.from({ length: 30 }, (_, i) =>
          i % 2
            ? person.call.invite.transfer({ quota: DOLLAR })
            : person.call.invite.withdraw({ amount: DOLLAR, account: "a" }),
        ),
      );
      expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
      const asked = (await person.call.invite.withdrawals({ page_size: 100 })).total;
      expect(await self(person)).toMatchObject({ aff_quota: 0, quota: (5 - asked) * DOLLAR });
      expect(await findings()).toEqual([]);
    });

    test("a withdrawal takes the earnings when it is requested; refused it gives them back, paid it does not, each once", async () => {
      const person = await h.person();
      await give(person, 4 * DOLLAR);
      const first = await person.call.invite.withdraw({ amount: DOLLAR, account: " 支付宝 a@b.example " });
      const second = await person.call.invite.withdraw({ amount: 2 * DOLLAR, account: "bank 42" });
      expect(first).toMatchObject({ status: "pending", account: "支付宝 a@b.example", settled_at: 0 });
      expect((await self(person)).aff_quota).toBe(DOLLAR);
      const settle = (id: number, status: "paid" | "refused", note?: string) =>
        admin.call.invite.settle({ id, status, note });
      const tries = await Promise.allSettled([
        settle(first.id, "refused", "name?"),
        settle(first.id, "refused"),
        settle(first.id, "paid"),
      ]);
      expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const settled = (await person.call.invite.withdrawals({})).items.find(({ id }) => id === first.id);
      expect((await self(person)).aff_quota).toBe(settled?.status === "refused" ? 2 * DOLLAR : DOLLAR);
      // spec: C-017
      expect(await settle(second.id, "paid", "done")).toMatchObject({ status: "paid", note: "done" });
      await expect(settle(second.id, "refused")).rejects.toThrow("settled");
      await expect(settle(999_999, "paid")).rejects.toThrow("No such withdrawal");
      expect((await self(person)).aff_history_quota).toBe(4 * DOLLAR);
      expect(await findings()).toEqual([]);
      const mine = await person.call.log.own({});
      expect(mine.items.map(({ other }) => other).join()).not.toContain(admin.ctx.actor.username);
    });

    test("withdrawals that are paid and refused ten times each while earnings move on leave every unit somewhere once", async () => {
      const person = await h.person();
      await give(person, 6 * DOLLAR);
      const asked = await Promise.all(
        ["a", "b", "c"].map((account) => person.call.invite.withdraw({ amount: DOLLAR, account })),
      );
      const settles = asked.flatMap(({ id }) =>
        Array.from(
          { length: 20 },
          (_, i) => () => admin.call.invite.settle({ id, status: i % 2 ? "paid" : "refused" }),
        ),
      );
      const moves = Array.from({ length: 20 }, () => () => person.call.invite.transfer({ quota: DOLLAR }));
      const answers = await Promise.allSettled([...settles, ...moves].map((act) => act()));
      const done = answers.map(({ status }) => status === "fulfilled");
      expect(done.slice(0, 60).filter(Boolean)).toHaveLength(3);
      const { items } = await person.call.invite.withdrawals({});
      const paid = items.filter(({ status }) => status === "paid").length;
      const moved = done.slice(60).filter(Boolean).length;
      expect(await self(person)).toMatchObject({
        quota: moved * DOLLAR,
        aff_quota: (6 - paid - moved) * DOLLAR,
        aff_history_quota: 6 * DOLLAR,
      });
      expect(await findings()).toEqual([]);
    });

    test("settling a withdrawal is in the audit log, once, with what was decided", async () => {
      const person = await h.person();
      await give(person, DOLLAR);
      const { id } = await person.call.invite.withdraw({ amount: DOLLAR, account: "x" });
      await Promise.allSettled([1, 2, 3].map(() => admin.call.invite.settle({ id, status: "paid", note: "sent" })));
      const { audit_log: acts } = h.services.db.t;
      const rows = await h.services.db.q
        .select()
        .from(acts)
        .where(eq(acts.target_id, String(id)));
      expect(rows).toMatchObject([{ action: "withdrawal.settle", actor_id: idOf(admin), target_type: "withdrawal" }]);
      expect(JSON.parse(rows[0]?.after ?? "")).toEqual({
        status: "paid",
        note: "sent",
        amount: DOLLAR,
        user_id: idOf(person),
      });
    });

    test("an export contains a user's withdrawals and shares; an erasure removes where the money went and keeps the amounts", async () => {
      const [person, root] = [await h.person(), await h.person({ role: ROLE.root })];
      const id = idOf(person);
      await give(person, 2 * DOLLAR);
      const asked = await person.call.invite.withdraw({ amount: DOLLAR, account: "IBAN of Ann" });
      await admin.call.invite.settle({ id: asked.id, status: "paid", note: "to Ann" });
      await person.call.invite.withdraw({ amount: DOLLAR, account: "IBAN of Ann" });
      const lines = (await admin.call.user.export({ id })).lines;
      expect(lines.filter((line) => "kind" in line && line.kind === "withdrawal")).toMatchObject([
        { id: asked.id, amount: DOLLAR, account: "IBAN of Ann", status: "paid" },
        { amount: DOLLAR, status: "pending" },
      ]);
      await root.call.user.erase({ id });
      const { withdrawals, audit_log: acts } = h.services.db.t;
      const kept = JSON.stringify([
        await h.services.db.q.select().from(withdrawals),
        await h.services.db.q.select().from(acts),
      ]);
      expect(kept).not.toContain("Ann");
      const rows = await h.services.db.q.select().from(withdrawals).where(eq(withdrawals.user_id, id));
      expect(rows.map(({ amount }) => amount)).toEqual([DOLLAR, DOLLAR]);
      expect(await findings()).toEqual([]);
    });

    test("administrators list the withdrawals to settle, with their users; no other user sees or settles any", async () => {
      const [person, other] = [await h.person(), await h.person()];
      await give(person, DOLLAR);
      const { id } = await person.call.invite.withdraw({ amount: DOLLAR, account: "x" });
      const waiting = await admin.call.invite.allWithdrawals({ status: "pending", page_size: 100 });
      // spec: C-017, C-018
      expect(waiting.items.find((item) => item.id === id)).toMatchObject({
        user_id: idOf(person),
        username: person.ctx.actor.username,
      });
      expect(
        (await admin.call.invite.allWithdrawals({ status: "paid", page_size: 100 })).items.some(
          (item) => item.id === id,
        ),
      ).toBe(false);
      expect((await other.call.invite.withdrawals({})).items).toEqual([]);
      await expect(other.call.invite.allWithdrawals({})).rejects.toThrow();
      await expect(person.call.invite.settle({ id, status: "paid" })).rejects.toThrow();
    });

    test("a withdrawal needs an account, at least a dollar, and whole units", async () => {
      const person = await h.person();
      await give(person, 2 * DOLLAR);
      const ask = (amount: number, account: string) => person.call.invite.withdraw({ amount, account });
      for (const account of ["", "   ", "x".repeat(201)]) await expect(ask(DOLLAR, account)).rejects.toThrow();
      for (const amount of [0, -1, 1.5, 499_999, 3 * DOLLAR, Number.NaN, Number.MAX_SAFE_INTEGER])
        await expect(ask(amount, "a")).rejects.toThrow();
      expect((await self(person)).aff_quota).toBe(2 * DOLLAR);
      expect((await ask(DOLLAR, "a\u0000b")).account).toBe("ab");
    });

    test("the audit names a user whose earnings do not add up", async () => {
      const person = await h.person();
      const { users } = h.services.db.t;
      const set = (aff_quota: number) =>
        h.services.db.q
          .update(users)
          .set({ aff_quota })
          .where(eq(users.id, idOf(person)))
          .returning();
      await set(7);
      expect(await findings()).toEqual([
        { rule: "invite_earnings", row: `users ${idOf(person)}`, expected: 0, found: 7 },
      ]);
      await set(0);
      expect(await findings()).toEqual([]);
    });
  });
}
