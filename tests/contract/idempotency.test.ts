/** Which procedures honour an Idempotency-Key, and what a request that comes again gets. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { run } from "../../src/server/db/transaction";
import { forgetAnswers, once } from "../../src/server/http/answered";
import { appRouter, createCaller } from "../../src/server/router";
import { ROLE } from "../../src/shared/roles";
import { ENGINES } from "../kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../kit/harness";

/** Every mutation that needs no key, by why. A new one belongs here or says `once: true`. */
const NO_KEY: Readonly<Record<string, readonly string[]>> = {
  "sets what is sent: a second time changes nothing": [
    "auth.logout",
    "auth.endSession",
    "auth.endOtherSessions",
    "channel.drain",
    "channel.drainKey",
    "channel.resume",
    "channel.resumeKey",
    "channel.removeKeys",
    "channel.restore",
    "channel.setKeyStatus",
    "channel.setStatus",
    "channel.update",
    "channel.delete",
    "channel.deleteDisabled",
    "channel.batchDelete",
    "channel.batchTag",
    "channel.batchStatus",
    "channel.batchEdit",
    "channel.tagEdit",
    "channel.tagEnable",
    "channel.tagDisable",
    "channel.repair",
    "channel.fix",
    "channel.updateBalance",
    "channel.updateBalances",
    "factor.passkeyDelete",
    "factor.renamePasskey",
    "factor.removePasskey",
    "identity.unbind",
    "incident.mute",
    "incident.removeTarget",
    "incident.saveTarget",
    "incident.seen",
    "instance.drain",
    "instance.resume",
    "log.clean",
    "notice.save",
    "option.restore",
    "option.set",
    "pricing.decide",
    "pricing.readFeed",
    "pricing.resetModelRatio",
    "push.begin",
    "push.remove",
    "redemption.put",
    "redemption.update",
    "redemption.setStatus",
    "redemption.delete",
    "redemption.deleteInvalid",
    "task.cancel",
    "token.update",
    "token.setStatus",
    "token.delete",
    "token.deleteMany",
    "token.put",
    "user.updateSelf",
    "user.deleteSelf",
    "user.delete",
    "user.manage",
    "user.removeFactors",
    "user.removeTotp",
    "user.removePasskeys",
    "user.erase",
  ],
  "only reads, or asks another server": [
    "channel.fetchModelsFrom",
    "channel.revealKeys",
    "channel.testDraft",
    "identity.tryOidc",
    "incident.testTarget",
    "identity.tryTelegram",
    "pricing.unpriced",
    "pricing.remote",
    "token.reveal",
    "token.revealMany",
    "token.keyOf",
    "token.keysOf",
    "user.export",
  ],
  "takes a code, ticket or challenge that works once": [
    "auth.bindEmail",
    "auth.resetPassword",
    "auth.verifyPassword",
    "factor.setup",
    "factor.enable",
    "factor.disable",
    "factor.recoveryCodes",
    "factor.secondStep",
    "factor.stepUp",
    "factor.beginPasskey",
    "factor.finishPasskey",
    "factor.passkeyRegisterBegin",
    "factor.passkeyRegisterFinish",
    "factor.passkeyVerifyBegin",
    "factor.passkeyVerifyFinish",
    "factor.passkeyLoginBegin",
    "factor.passkeyLoginFinish",
    "factor.verify",
    "factor.beginRegistration",
    "factor.finishRegistration",
    "identity.wechatBind",
    "identity.telegramBind",
    "push.subscribe",
  ],
  "is asked by a guest, whose name or limit makes it happen once": [
    "auth.login",
    "auth.register",
    "auth.sendVerification",
    "auth.sendReset",
    "setup.run",
  ],
};

interface Def {
  type: string;
  meta?: { once?: true };
}
const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, { _def: Def }>).map(
  ([name, { _def }]) => ({ name, type: _def.type, once: _def.meta?.once === true }),
);

test("every procedure that changes something honours an Idempotency-Key, or it is said why it needs none", () => {
  const mutations = procedures.filter(({ type, name }) => type === "mutation" && !isSignIn(name));
  const without = mutations.filter(({ once }) => !once).map(({ name }) => name);
  expect(without.toSorted()).toEqual(Object.values(NO_KEY).flat().toSorted());
  expect(procedures.filter(({ once }) => once).every(({ type }) => type === "mutation")).toBe(true);
});

/** Sign-ins elsewhere, one procedure a provider: each takes a state that works once. */
const isSignIn = (name: string): boolean => name.startsWith("identity.") && !/\.(try|unbind|\w+Bind$)/.test(name);

for (const engine of ENGINES) {
  describe(`idempotency keys on ${engine}`, () => {
    let h: Harness;
    let root: Person;
    beforeAll(async () => {
      h = await openHarness(engine);
      root = await h.person({ role: ROLE.root });
    }, HOOK_MS);
    afterAll(() => h?.close());

    /** The same person with a key. */
    const keyed = (person: Person, idempotency_key: string) => createCaller({ ...person.ctx, idempotency_key });
    const token = (name: string) => ({ name, count: 1, remain_quota: 5, expired_time: -1 });
    const tokensOf = async ({ ctx }: Person) =>
      (
        await h.services.db.q
          .select()
          .from(h.services.db.t.tokens)
          .where(eq(h.services.db.t.tokens.user_id, ctx.actor.id))
      ).length;
    const rows = () => h.services.db.q.select().from(h.services.db.t.answered_requests);

    test("a created token's answer comes again with its key, and there is one token", async () => {
      const user = await h.person();
      const first = await keyed(user, "a-1").token.create(token("one"));
      const again = await keyed(user, "a-1").token.create(token("one"));
      expect(again).toEqual(JSON.parse(JSON.stringify(first)));
      expect(first[0]?.key).toBeString();
      expect(await tokensOf(user)).toBe(1);
      // Sealed: the key's text stands nowhere in the row.
      expect(JSON.stringify(await rows())).not.toContain(String(first[0]?.key).slice(4));
      await keyed(user, "a-2").token.create(token("one"));
      await user.call.token.create(token("one"));
      await user.call.token.create(token("one"));
      expect(await tokensOf(user)).toBe(4);
    });

    test("over REST the header is the same key, however the body's members are ordered", async () => {
      const user = await h.person();
      const send = (body: object) => user.rest("POST", "/api/token/", body, { "Idempotency-Key": "rest-1" });
      const first = await send({ name: "r", remain_quota: 7 });
      expect(first.body.success).toBe(true);
      expect((await send({ remain_quota: 7, name: "r" })).body).toEqual(first.body);
      expect(await tokensOf(user)).toBe(1);
      const other = await send({ name: "other", remain_quota: 7 });
      expect([other.status, other.body.code, other.body.message]).toEqual([
        422,
        "idempotency_key_reused",
        expect.any(String),
      ]);
      for (const key of ["", "x".repeat(201), "two words"])
        expect((await user.rest("POST", "/api/token/", { name: "r" }, { "Idempotency-Key": key })).body.success).toBe(
          false,
        );
    });

    test("twenty at once with one key do it once, and all get the first one's answer", async () => {
      const user = await h.person();
      const made = await Promise.all(
        Array.from({ length: 20 }, () => keyed(user, "burst").token.create(token("burst"))),
      );
      expect(new Set(made.map(([row]) => row?.id)).size).toBe(1);
      expect(await tokensOf(user)).toBe(1);
    });

    test("a key is its user's and its procedure's: another's is another request", async () => {
      const [a, b] = [await h.person(), await h.person()];
      await keyed(a, "shared").token.create(token("x"));
      await keyed(b, "shared").token.create(token("x"));
      expect([await tokensOf(a), await tokensOf(b)]).toEqual([1, 1]);
      await keyed(root, "shared").redemption.create({ name: "c", quota: 5, count: 1, expired_time: 0 });
    });

    test("money moves once: a balance, a code and a refund that are asked for twice", async () => {
      const user = await h.person();
      const id = user.ctx.actor.id;
      const balance = async () =>
        (await h.services.db.q.select().from(h.services.db.t.users).where(eq(h.services.db.t.users.id, id)))[0]?.quota;
      for (let i = 0; i < 2; i++) await keyed(root, "grant").user.update({ id, add_quota: 500 });
      expect(await balance()).toBe(500);
      const [code = ""] = await root.call.redemption.create({ name: "c", quota: 70, count: 1, expired_time: 0 });
      const redeemed = [];
      for (let i = 0; i < 2; i++) redeemed.push(await keyed(user, "redeem").redemption.redeem({ key: code }));
      expect(redeemed).toEqual([70, 70]);
      expect(await balance()).toBe(570);
      for (let i = 0; i < 2; i++)
        await root.rest("POST", "/api/topup", { user_id: id, quota: 30, remark: "" }, { "Idempotency-Key": "t" });
      expect(await balance()).toBe(600);
    });

    test("what fails without booking anything may be tried again with its key", async () => {
      const user = await h.person();
      await expect(keyed(user, "fails").redemption.redeem({ key: "0".repeat(32) })).rejects.toThrow();
      expect((await rows()).some(({ answer }) => answer === "")).toBe(false);
      await expect(keyed(user, "fails").redemption.redeem({ key: "1".repeat(32) })).rejects.not.toThrow("Idempotency");
    });

    test("after a crash before anything was booked it is done anew; after one that booked it is not done again", async () => {
      const user = await h.person();
      const { db } = h.services;
      const t = db.t.answered_requests;
      await keyed(user, "crash").token.create(token("c"));
      const latest = (await rows()).at(-1)?.name;
      const mine = (await rows()).filter(({ name }) => name === latest);
      expect(mine).toHaveLength(1);
      const at = Math.floor(h.services.now() / 1000);
      const rowOf = async () => {
        const before = new Set((await rows()).map(({ name }) => name));
        await keyed(user, `probe-${before.size}`).token.create(token("c"));
        const [made] = (await rows()).filter(({ name }) => !before.has(name));
        if (!made) throw new Error("no row");
        return { key: `probe-${before.size}`, name: made.name };
      };
      const dead = await rowOf();
      await db.q
        .update(t)
        .set({ answer: "", created_at: at - 121 })
        .where(eq(t.name, dead.name))
        .returning();
      const before = await tokensOf(user);
      await keyed(user, dead.key).token.create(token("c"));
      expect(await tokensOf(user)).toBe(before + 1);
      const lost = await rowOf();
      await db.q
        .update(t)
        .set({ answer: "booked", created_at: at - 121 })
        .where(eq(t.name, lost.name))
        .returning();
      const after = await tokensOf(user);
      await expect(keyed(user, lost.key).token.create(token("c"))).rejects.toThrow("was carried out");
      expect(await tokensOf(user)).toBe(after);
    });

    test("a run that was taken for dead and goes on books nothing: its transaction is undone", async () => {
      const user = await h.person();
      const { db } = h.services;
      const { users, answered_requests: t } = db.t;
      const id = user.ctx.actor.id;
      const nameOf = async () => (await db.q.select().from(users).where(eq(users.id, id)))[0]?.display_name;
      const ctx = { ...user.ctx, idempotency_key: "fence" };
      const running = once(ctx, { path: "test", input: 1 }, async (booking) => {
        // Another run has taken the claim over meanwhile.
        await db.q.update(t).set({ created_at: 1 }).returning();
        await booking.db.tx(function* (q) {
          yield* run(q.update(users).set({ display_name: "late" }).where(eq(users.id, id)).returning({ id: users.id }));
        });
        return { ok: true as const, data: "booked" };
      });
      await expect(running).rejects.toThrow("still running");
      expect(await nameOf()).toBe("");
      await db.q.delete(t).returning();
    });

    test("work that goes on after the answer, a test of all channels for instance, books as without a key", async () => {
      const user = await h.person();
      const { users } = h.services.db.t;
      const id = user.ctx.actor.id;
      const ctx = { ...user.ctx, idempotency_key: "later" };
      let later: Promise<unknown> = Promise.resolve();
      const answered = Promise.withResolvers<void>();
      await once(ctx, { path: "test", input: 1 }, async ({ db }) => {
        later = answered.promise.then(() =>
          db.tx(function* (q) {
            yield* run(q.update(users).set({ display_name: "on" }).where(eq(users.id, id)).returning({ id: users.id }));
          }),
        );
        return { ok: true as const, data: "begun" };
      });
      answered.resolve();
      await later;
      const [row] = await h.services.db.q.select().from(users).where(eq(users.id, id));
      expect(row?.display_name).toBe("on");
      expect(await once(ctx, { path: "test", input: 1 }, () => Promise.reject(new Error("twice")))).toEqual({
        again: "begun",
      });
    });

    test("answers are dropped after a day", async () => {
      const user = await h.person();
      await keyed(user, "day").token.create(token("d"));
      h.advance(86_000);
      await forgetAnswers(h.services);
      expect((await rows()).length).toBeGreaterThan(0);
      h.advance(1000);
      await forgetAnswers(h.services);
      expect(await rows()).toEqual([]);
      await keyed(user, "day").token.create(token("d"));
      expect(await tokensOf(user)).toBe(2);
    });
  });
}
