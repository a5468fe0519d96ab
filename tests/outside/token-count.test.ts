/** A user has no more tokens than the operator allows, however many calls create them at once; on both engines. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { ROLE } from "../../src/shared/roles";
import { type Session, startWeir, type Weir } from "../kit/weir";

for (const engine of ENGINES) {
  describe(`on ${engine}`, () => {
    let weir: Weir;
    beforeAll(async () => {
      weir = await startWeir({ engine });
    }, HOOK_MS);
    afterAll(() => weir?.stop());

    const create = (who: Session, language = "zh") =>
      who.api("POST", "/api/token/", { name: "t", unlimited_quota: true }, { "accept-language": language });
    const tokensOf = async (who: Session): Promise<{ id: number }[]> =>
      (await who.trpc.token.list.query({ page_size: 100 })).items;
    const countOf = async (who: Session): Promise<number> => (await who.trpc.token.list.query({})).total;

    test("the limit is 1000 where nothing else is set", async () => {
      const who = await weir.newUser();
      for (let i = 0; i < 10; i++) await who.trpc.token.create.mutate({ name: `t${i}`, count: 100 });
      expect([await countOf(who), (await create(who)).body.code]).toEqual([1000, "token_limit_reached"]);
    }, 30_000);

    test("200 calls at once never make more than the limit, and as many as it", async () => {
      await weir.setOption("MaxTokensPerUser", "30");
      const [one, other] = await Promise.all([weir.newUser(), weir.newUser()]);
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => create(i % 4 === 0 ? other : one)));
      expect([await countOf(one), await countOf(other)]).toEqual([30, 30]);
      expect(answers.filter(({ body }) => body.success)).toHaveLength(60);
      for (const { body } of answers) if (!body.success) expect(body.code).toBe("token_limit_reached");
    }, 60_000);

    test("a batch that does not fit makes none; a deleted token makes room for one", async () => {
      await weir.setOption("MaxTokensPerUser", "30");
      const who = await weir.newUser();
      await who.trpc.token.create.mutate({ name: "t", count: 25 });
      await expect(who.trpc.token.create.mutate({ name: "t", count: 6 })).rejects.toThrow();
      expect(await countOf(who)).toBe(25);
      await who.trpc.token.create.mutate({ name: "t", count: 5 });
      expect((await create(who)).body.success).toBe(false);
      const [first] = await tokensOf(who);
      await who.ok("DELETE", `/api/token/${first?.id}`);
      expect([(await create(who)).body.success, (await create(who)).body.success]).toEqual([true, false]);
    });

    test("administrators have the same limit, a lower one keeps what exists, and 0 is none", async () => {
      await weir.setOption("MaxTokensPerUser", "3");
      const admin = await weir.newUser({ role: ROLE.admin });
      for (let i = 0; i < 3; i++) expect((await create(admin)).body.success).toBe(true);
      expect([(await create(admin)).body.message, (await create(admin, "en")).body.message]).toEqual([
        "每个用户最多 3 个令牌，已有 3 个；请先删除不用的令牌",
        "A user may have 3 tokens at most and there are 3; delete those that are not used",
      ]);
      await weir.setOption("MaxTokensPerUser", "1");
      const [first] = await tokensOf(admin);
      await admin.ok("PUT", "/api/token/", { id: first?.id, name: "renamed" });
      expect([await countOf(admin), (await create(admin)).body.success]).toEqual([3, false]);
      await weir.setOption("MaxTokensPerUser", "0");
      expect((await create(admin)).body.success).toBe(true);
    });
  });
}
