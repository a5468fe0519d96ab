import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { changeUser, type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { errors } from "../../../shared/errors";
import { ROLE } from "../../../shared/roles";
import { keyHint } from "../../../shared/token";
import { createTokenCache } from "./authenticate";

const IP = "203.0.113.9";

for (const engine of ENGINES) {
  describe(`authentication on ${engine}`, () => {
    let h: Harness;
    let owner: Person;
    beforeAll(async () => {
      h = await openHarness(engine);
      owner = await h.person();
    }, HOOK_MS);
    afterAll(() => h.close());

    const make = async (fields: object = {}, who = owner) => {
      const [token] = await who.call.token.create({ name: "t", ...fields });
      if (!token) throw new Error("no token");
      return token;
    };
    const authenticate = (key: string | undefined, ip = IP) => h.services.tokens.authenticate(key, ip, "zh");
    const code = (key: string | undefined, ip = IP) =>
      authenticate(key, ip).then(
        () => "ok",
        (error) => error.code,
      );

    /** A query whose rows are waited for by `hold`. */
    const held = <T extends object>(query: T, hold: () => unknown): T =>
      new Proxy(query, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== "function") return member;
          return (...args: unknown[]): unknown => {
            if (name === "then")
              return Promise.resolve(target)
                .then(async (rows) => (await hold(), rows))
                .then(...(args as [(rows: unknown) => unknown]));
            const made: unknown = member.apply(target, args);
            return typeof made === "object" && made !== null ? held(made, hold) : made;
          };
        },
      });
    /** A database whose reads are waited for by `hold` before they answer. */
    const watched = (hold: () => unknown) => {
      const { db } = h.services;
      const select = ((...args: []) => held(db.q.select(...args), hold)) as typeof db.q.select;
      return { ...db, q: { ...db.q, select, update: db.q.update.bind(db.q) } };
    };

    test("every spelling of a key is the same caller", async () => {
      const token = await make({ name: "spelt", rpm: 3, tpm: 4, concurrency: 5 });
      for (const key of [token.key, `sk-${token.key}`, `Bearer sk-${token.key}`, ` bearer  ${token.key} `]) {
        expect(await authenticate(key)).toEqual({
          user_id: owner.ctx.actor.id,
          username: owner.ctx.actor.username,
          role: ROLE.user,
          user_group: "default",
          group: "default",
          token_id: token.id,
          token_name: "spelt",
          rpm: 3,
          tpm: 4,
          concurrency: 5,
          lang: "zh",
        });
      }
    });

    test("odd keys are 401 and never a caller", async () => {
      const odd = [
        undefined,
        "",
        " ",
        "Bearer ",
        "Bearer",
        "null",
        "undefined",
        "sk-",
        "sk-null",
        "x".repeat(5000),
        "'",
        '"',
        "' or 1=1 --",
        "sk-' union select 1 --",
        "%",
        "_".repeat(48),
        "\u0000",
        "sk-\u0000",
        "-",
        "-1",
        "sk--1",
        "钥匙",
      ];
      for (const key of odd) {
        const refusal = await code(key);
        expect([key, refusal]).toEqual([key, refusal === "token_missing" ? "token_missing" : "token_invalid"]);
        expect(errors[refusal as keyof typeof errors].status).toBe(401);
      }
    });

    test("a call without a key is told so, and one whose key is too long is not looked up", async () => {
      for (const key of [undefined, "", " ", "Bearer", "Bearer ", "sk-"])
        expect([key, await code(key)]).toEqual([key, "token_missing"]);
      let reads = 0;
      const cache = createTokenCache({ ...h.services, db: watched(() => reads++) });
      const ask = (key: string) => cache.authenticate(key, IP, "zh").catch((error) => error.code);
      expect(await ask("x".repeat(257))).toBe("token_invalid");
      expect(reads).toBe(0);
      // One read finds the key; another asks, once in a minute, whether there are imported keys.
      expect(await ask("x".repeat(256))).toBe("token_invalid");
      expect(reads).toBe(2);
      expect(await ask("y".repeat(256))).toBe("token_invalid");
      expect(reads).toBe(3);
      cache.close();
    });

    test("a message drops the tokens that it names, of one, of one user or of all, and no other", async () => {
      let reads = 0;
      const cache = createTokenCache({ ...h.services, db: watched(() => reads++) });
      const other = await h.person();
      const [mine, his] = [await make(), await make({}, other)];
      /** Reads that asking for both costs. */
      const cost = async (): Promise<number> => {
        const before = reads;
        for (const { key } of [mine, his]) await cache.authenticate(key, IP, "zh");
        return reads - before;
      };
      const { db, cluster } = h.services;
      const tell = (topic: "tokens" | "users", id: number | "*") =>
        db.tx((q) => cluster.bus.announce(q, topic, String(id)));
      expect(await cost()).toBe(2);
      expect(await cost()).toBe(0);
      for (const [topic, id, reread] of [
        ["tokens", mine.id, 1],
        ["tokens", 999_999, 0],
        ["tokens", "*", 2],
        ["users", other.ctx.actor.id, 1],
        ["users", 999_999, 0],
        ["users", "*", 2],
      ] as const) {
        await tell(topic, id);
        expect([topic, id, await cost()]).toEqual([topic, id, reread]);
      }
      cache.close();
      await tell("tokens", "*");
    });

    test("the caller's budgets and limits are those of the token and of its owner", async () => {
      const person = await h.person();
      const { users } = h.services.db.t;
      const limited = await make({ budget_day: 1, budget_month: 2 }, person);
      expect(await authenticate(limited.key)).toMatchObject({ budget_day: 1, budget_month: 2 });
      const plain = await authenticate((await make({}, person)).key);
      for (const name of ["budget_day", "budget_month", "user_limits", "groups", "models", "channel_id", "mj_mode"])
        expect(plain).not.toHaveProperty(name);
      await h.services.db.q.update(users).set({ rpm: 9 }).where(eq(users.id, person.ctx.actor.id)).returning();
      expect((await authenticate((await make({}, person)).key)).user_limits).toMatchObject({ rpm: 9 });
    });

    test("a prefix, an extension or another case of a key is refused, and keys that begin alike are two callers", async () => {
      const other = await h.person();
      const common = "A".repeat(44);
      const keys = new Map<string, Person>([
        [`${common}0001`, owner],
        [`${common}0002`, other],
      ]);
      for (const [key, person] of keys) {
        const hash = h.services.secrets.hash("relay-key", key);
        await h.services.db.q.insert(h.services.db.t.tokens).values({
          user_id: person.ctx.actor.id,
          name: "alike",
          key_hash: hash,
          key_cipher: h.services.secrets.encrypt("relay-key", key),
          key_hint: keyHint(key),
          remain_quota: 9,
          created_time: 1,
        });
      }
      for (let round = 0; round < 2; round++) {
        for (const [key, person] of keys) expect((await authenticate(key)).user_id).toBe(person.ctx.actor.id);
      }
      for (const key of [common, `${common}000`, `${common}00011`, `${common.toLowerCase()}0001`])
        expect(await code(key)).toBe("token_invalid");
    });

    test("administrators pick a channel by -<id>, ordinary users may not; a key that ends so is itself first", async () => {
      const admin = await h.person({ role: ROLE.admin });
      const token = await make({}, admin);
      // spec: C-472
      expect(await authenticate(`sk-${token.key}-12`)).toMatchObject({ token_id: token.id, channel_id: 12 });
      expect(await authenticate(token.key)).not.toHaveProperty("channel_id");
      // spec: C-472
      expect(await code(`${(await make()).key}-12`)).toBe("token_channel_denied");
      // spec: C-472
      expect(errors.token_channel_denied.status).toBe(403);
      expect(await code(`${token.key}-x`)).toBe("token_invalid");
      const imported = "legacy-key-12";
      await h.services.db.q.insert(h.services.db.t.tokens).values({
        user_id: owner.ctx.actor.id,
        name: "imported",
        key_hash: h.services.secrets.hash("relay-key", imported),
        key_cipher: "",
        key_hint: "",
        remain_quota: 9,
        created_time: 1,
      });
      expect(await authenticate(`sk-${imported}`)).toMatchObject({ token_name: "imported" });
    });

    test("disabled, expired, exhausted and deleted tokens are refused, each with its reason, at once", async () => {
      const token = await make();
      expect(await code(token.key)).toBe("ok");
      await owner.call.token.setStatus({ id: token.id, status: 2 });
      expect(await code(token.key)).toBe("token_disabled");
      await owner.call.token.setStatus({ id: token.id, status: 1 });
      expect(await code(token.key)).toBe("ok");
      await owner.call.token.delete({ id: token.id });
      // spec: C-539
      expect(await code(token.key)).toBe("token_invalid");
      // spec: C-348
      // spec: C-254
      expect(await code((await make({ expired_time: 1_600_000_000 })).key)).toBe("token_expired");
      expect(await code((await make({ remain_quota: 0 })).key)).toBe("token_exhausted");
      // spec: C-252
      expect(await code((await make({ remain_quota: 0, unlimited_quota: true })).key)).toBe("ok");
    });

    test("a token expires while it is cached", async () => {
      const token = await make({ expired_time: Math.floor(h.services.now() / 1000) + 30 });
      expect(await code(token.key)).toBe("ok");
      h.advance(31);
      // spec: C-254
      expect(await code(token.key)).toBe("token_expired");
    });

    test("an exhausted token works again as soon as the ledger gave something back, without a message", async () => {
      const token = await make({ remain_quota: 0 });
      expect(await code(token.key)).toBe("token_exhausted");
      const { tokens } = h.services.db.t;
      await h.services.db.q.update(tokens).set({ remain_quota: 1 }).where(eq(tokens.id, token.id)).returning();
      expect(await code(token.key)).toBe("ok");
    });

    test("banned and deleted owners are refused at once", async () => {
      const person = await h.person();
      const token = await make({}, person);
      expect(await code(token.key)).toBe("ok");
      await changeUser(h.services, person.ctx.actor.id, { status: 2 });
      expect(await code(token.key)).toBe("user_banned");
      await changeUser(h.services, person.ctx.actor.id, { status: 1, deleted_at: 5 });
      // spec: D-33
      expect(await code(token.key)).toBe("token_invalid");
    });

    test("addresses: denied ones first, then only allowed ones; an IPv4-mapped IPv6 address is IPv4", async () => {
      const token = await make({ allow_ips: "10.0.0.0/8\n2001:db8::/32", deny_ips: "10.6.6.6" });
      for (const ip of ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::5"]) expect(await code(token.key, ip)).toBe("ok");
      for (const ip of ["11.0.0.1", "10.6.6.6", "::ffff:10.6.6.6", "::1", "", "not an address"])
        // spec: C-257, C-261
        expect(await code(token.key, ip)).toBe("token_ip_denied");
      // spec: C-261
      expect(await code((await make({ deny_ips: IP })).key)).toBe("token_ip_denied");
      // spec: C-261
      expect(errors.token_ip_denied.status).toBe(403);
    });

    test("the token's group is used; one that may no longer be chosen is refused until it may again", async () => {
      const token = await make({ group: "vip" });
      expect(await authenticate(token.key)).toMatchObject({ group: "vip", user_group: "default" });
      await h.services.options.set("UserUsableGroups", '{"default":"d"}');
      expect(await code(token.key)).toBe("group_denied");
      await h.services.options.set("UserUsableGroups", '{"default":"d","vip":"v"}');
      await h.services.options.set("GroupRatio", '{"default":1}');
      expect(await code(token.key)).toBe("group_denied");
      await h.services.options.set("GroupRatio", '{"default":1,"vip":2,"svip":1}');
      expect(await code(token.key)).toBe("ok");
    });

    test("model limits are a set; limits that are on with an empty list allow nothing", async () => {
      expect(
        (await authenticate((await make({ model_limits_enabled: true, model_limits: "a, b" })).key)).models,
      ).toEqual(new Set(["a", "b"]));
      // spec: C-256
      expect((await authenticate((await make({ model_limits_enabled: true })).key)).models).toEqual(new Set());
      expect(await authenticate((await make({ model_limits: "a" })).key)).not.toHaveProperty("models");
    });

    test("the cache saves queries, and is not trusted while the bus cannot be heard", async () => {
      let fresh = true;
      let reads = 0;
      const { cluster } = h.services;
      const cache = createTokenCache({
        ...h.services,
        db: watched(() => reads++),
        cluster: { ...cluster, bus: { ...cluster.bus, fresh: () => fresh } },
      });
      const token = await make();
      const ask = () => cache.authenticate(token.key, IP, "zh");
      for (let i = 0; i < 10; i++) await ask();
      expect(reads).toBe(1);
      fresh = false;
      await ask();
      await ask();
      expect(reads).toBe(3);
      fresh = true;
      h.advance(61);
      await ask();
      expect(reads).toBe(4);
      cache.close();
    });

    test("calls of one key that come together read it once, but one that comes after a revocation reads again", async () => {
      let reads = 0;
      const [read, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const cache = createTokenCache({
        ...h.services,
        db: watched(async () => {
          reads++;
          read.resolve();
          await answer.promise;
        }),
      });
      const token = await make();
      const ask = () => cache.authenticate(token.key, IP, "zh");
      const early = Promise.all(Array.from({ length: 20 }, ask));
      await read.promise;
      expect(reads).toBe(1);
      await owner.call.token.delete({ id: token.id });
      const late = ask();
      answer.resolve();
      expect(new Set((await early).map(({ token_id }) => token_id))).toEqual(new Set([token.id]));
      await expect(late).rejects.toMatchObject({ code: "token_invalid" });
      cache.close();
    });

    test("a key that is revoked while it is being read does not stay cached", async () => {
      const token = await make();
      const [read, revoked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      // The row of the first read was there before the revocation, and comes after its message.
      const cache = createTokenCache({
        ...h.services,
        db: watched(async () => {
          read.resolve();
          await revoked.promise;
        }),
      });
      const ask = () =>
        cache.authenticate(token.key, IP, "zh").then(
          () => "ok",
          (error) => error.code,
        );
      const asking = ask();
      await read.promise;
      await owner.call.token.delete({ id: token.id });
      revoked.resolve();
      // It was asked before the revocation: that one call may still go.
      expect(await asking).toBe("ok");
      expect(await ask()).toBe("token_invalid");
      cache.close();
    });

    test("no more than twenty thousand keys are kept, and the one that has been there longest goes first", async () => {
      const { db } = h.services;
      const { tokens, users } = db.t;
      const { id } = await make();
      const [row] = await db.q
        .select({ token: tokens, user: users })
        .from(tokens)
        .innerJoin(users, eq(users.id, tokens.user_id))
        .where(eq(tokens.id, id));
      let reads = 0;
      // Every key is this token's: what is counted is how many the cache knows.
      const found = { from: () => found, innerJoin: () => found, where: () => (reads++, Promise.resolve([row])) };
      const q = { ...db.q, select: (() => found) as unknown as typeof db.q.select, update: db.q.update.bind(db.q) };
      const cache = createTokenCache({ ...h.services, db: { ...db, q } });
      const readsOf = async (from: number, to: number): Promise<number> => {
        const before = reads;
        for (let i = from; i < to; i++) await cache.authenticate(`key${i}`, IP, "zh");
        return reads - before;
      };
      expect(await readsOf(0, 20_000)).toBe(20_000);
      expect(await readsOf(0, 20_000)).toBe(0);
      expect(await readsOf(20_000, 20_001)).toBe(1);
      expect(await readsOf(1, 20_001)).toBe(0);
      expect(await readsOf(0, 1)).toBe(1);
      expect(await readsOf(2, 20_001)).toBe(0);
      cache.close();
    }, 20_000);

    test("the time of the last use is kept, to the minute", async () => {
      const token = await make();
      await authenticate(token.key);
      const { tokens } = h.services.db.t;
      const lastUse = async (): Promise<number> => {
        const [row] = await h.services.db.q.select().from(tokens).where(eq(tokens.id, token.id));
        return row?.accessed_time ?? 0;
      };
      /** Written without being waited for. */
      const becomes = async (isSo: (time: number) => boolean): Promise<number> => {
        for (const end = Date.now() + 5_000; Date.now() < end; await Bun.sleep(5)) {
          const time = await lastUse();
          if (isSo(time)) return time;
        }
        return lastUse();
      };
      const first = await becomes((time) => time > 1);
      expect(Math.abs(first - h.services.now() / 1000)).toBeLessThan(5);
      let time = first * 1000;
      const cache = createTokenCache({ ...h.services, now: () => time });
      await cache.authenticate(token.key, IP, "zh");
      time += 59_999;
      await cache.authenticate(token.key, IP, "zh");
      time += 1;
      await cache.authenticate(token.key, IP, "zh");
      // One write, of the later one.
      expect(await becomes((at) => at !== first)).toBe(first + 60);
      cache.close();
    });
  });
}
