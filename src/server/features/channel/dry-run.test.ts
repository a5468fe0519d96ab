/** The dry run on both engines: the relay's own selection without a call. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import type { DryRun } from "../../../shared/dry-run";
import { ROLE } from "../../../shared/roles";
import { affinityKey } from "../../relay/routing/session-affinity";

for (const engine of ENGINES) {
  describe(`dry run on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    const ids: Record<string, number> = {};

    const ask = async (query: Record<string, string | number | boolean>, by = admin): Promise<DryRun> => {
      const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
      const { body } = await by.rest("GET", `/api/channel/dry_run?${text}`);
      if (!body.success) throw new Error(body.message);
      return body.data as DryRun;
    };
    const problems = ({ problems: found }: DryRun): string[] => found.map(({ code }) => code);

    beforeAll(async () => {
      h = await openHarness(engine);
      admin = await h.person({ role: ROLE.admin, lang: "en" });
      const add = async (name: string, more: Record<string, unknown> = {}): Promise<void> => {
        const { body } = await admin.rest("POST", "/api/channel/", {
          name,
          type: 1,
          key: `sk-${name}`,
          models: "gpt-4o,m-embed",
          group: "default",
          base_url: "https://up.example/?k=secret",
          ...more,
        });
        if (!body.success) throw new Error(body.message);
        const { channels } = h.services.db.t;
        const [row] = await h.services.db.q.select({ id: channels.id }).from(channels).where(eq(channels.name, name));
        ids[name] = row?.id ?? 0;
      };
      await add("a", { priority: 9, weight: 3, model_mapping: '{"gpt-4o":"gpt-4o-2024"}' });
      await add("b", { priority: 9, weight: 1, base_url: "" });
      await add("claude", { type: 14, priority: 0, base_url: "https://claude.example" });
      await add("limited", { priority: -5, setting: '{"rpm": 1}' });
      await add("off", { status: 2 });
      await add("vip", { group: "vip", models: "gpt-4o,only-vip" });
    }, HOOK_MS);
    afterAll(() => h.close(), HOOK_MS);

    test("channels come in the order of their tiers with their shares, and those never tried last with their reason", async () => {
      const run = await ask({ model: "gpt-4o" });
      expect(problems(run)).toEqual([]);
      expect(run).toMatchObject({
        operation: "chat",
        dialect: "openai-chat",
        group: "default",
        groups: [],
        sticky: 0,
        endpoint: "/v1/chat/completions",
      });
      // spec: C-662
      expect(run.channels.map(({ name, turn, share, standing }) => [name, turn, share, standing])).toEqual([
        ["a", 1, 0.75, "ready"],
        ["b", 1, 0.25, "ready"],
        ["claude", 2, 1, "ready"],
        ["limited", 3, 1, "ready"],
        ["off", 0, 0, "disabled"],
      ]);
      expect(run.channels[0]).toMatchObject({ upstream_model: "gpt-4o-2024", translated: false });
      expect(run.channels[2]).toMatchObject({
        upstream_model: "gpt-4o",
        translated: true,
        url: expect.stringContaining("/v1/messages"),
      });
      expect(Number(run.price?.input)).toBeGreaterThan(0);
      expect(run.limits).toEqual([
        { scope: "channel", of: ids.limited ?? 0, kind: "rpm", limit: 1, remaining: 1, reset_seconds: 60 },
      ]);
      expect(JSON.stringify(run)).not.toContain("sk-a");
      expect(JSON.stringify(run)).not.toContain("secret");
    });

    test("every dialect's endpoint is understood, and a type that does not serve it says so", async () => {
      const gemini = await ask({ model: "gpt-4o", endpoint: "/v1beta/models/{model}:generateContent", stream: true });
      expect(gemini).toMatchObject({ dialect: "gemini", endpoint: "/v1beta/models/gpt-4o:generateContent" });
      expect(gemini.channels.filter(({ turn }) => turn > 0).every(({ translated }) => translated)).toBe(true);
      const embed = await ask({ model: "m-embed", endpoint: "/v1/embeddings" });
      expect(embed.channels.find(({ name }) => name === "claude")).toMatchObject({
        turn: 0,
        standing: "unsupported",
        url: "",
      });
    });

    test("a cooling channel waits behind the others with what is left of its cooldown", async () => {
      h.routing.cooldown.add(ids.a ?? 0, "gpt-4o", 90_000);
      const run = await ask({ model: "gpt-4o" });
      // spec: C-662
      expect(run.channels[0]).toMatchObject({ name: "b", turn: 1, share: 1 });
      const cooling = run.channels.find(({ name }) => name === "a");
      expect(cooling).toMatchObject({ standing: "cooling", turn: 4 });
      expect(cooling?.remaining_ms).toBeGreaterThan(60_000);
      h.advance(91);
      expect((await ask({ model: "gpt-4o" })).channels[0]).toMatchObject({ name: "a", standing: "ready" });
    });

    test("a conversation's own channel comes first in its tier; a channel at its limit says until when", async () => {
      const key = affinityKey({ user: "talk" }, admin.ctx.actor.id, "default", "gpt-4o") ?? "";
      h.routing.affinity.set(key, ids.b ?? 0);
      const run = await ask({ model: "gpt-4o", cache_key: "talk" });
      expect(run.sticky).toBe(ids.b ?? -1);
      expect(run.channels.slice(0, 2).map(({ name, share }) => [name, share])).toEqual([
        ["a", 0],
        ["b", 1],
      ]);
      const taken = await h.services.cluster.counter.take(`rpm:channel:${ids.limited}`, 1, 1, 60);
      expect(taken.allowed).toBe(true);
      const full = (await ask({ model: "gpt-4o" })).channels.find(({ name }) => name === "limited");
      expect(full).toMatchObject({ standing: "limited", turn: 3 });
      expect(full?.remaining_ms).toBeGreaterThan(0);
    });

    test("group auto shows the group of each channel, in the order of the groups", async () => {
      await h.services.options.set("AutoGroups", '["vip","default"]');
      await h.services.options.set("DefaultUseAutoGroup", "true");
      const run = await ask({ model: "gpt-4o", group: "auto" });
      expect(run.groups).toEqual(["vip", "default"]);
      expect(run.channels.map(({ name, group }) => [name, group]).slice(0, 3)).toEqual([
        ["vip", "vip"],
        ["a", "default"],
        ["b", "default"],
      ]);
    });

    test("what would refuse the call is reported in the caller's language, and the rest is answered all the same", async () => {
      const person = await h.person();
      const { db } = h.services;
      const made = await person.rest("POST", "/api/token/", {
        name: "t",
        model_limits_enabled: true,
        model_limits: "other",
        rpm: 3,
        budget_day: 500,
      });
      expect(made.body.success).toBe(true);
      const [token] = await db.q.select().from(db.t.tokens).where(eq(db.t.tokens.user_id, person.ctx.actor.id));
      await db.q
        .update(db.t.tokens)
        .set({ expired_time: 5 })
        .where(eq(db.t.tokens.id, token?.id ?? 0));
      const run = await ask({ model: "gpt-4o", token_id: token?.id ?? 0 });
      expect(problems(run)).toEqual(["token_expired", "token_model_denied"]);
      expect(run.problems[0]?.message).toBe("This API key has expired");
      expect(run.limits.map(({ scope, kind, remaining }) => [scope, kind, remaining])).toContainEqual([
        "token",
        "budget_day",
        500,
      ]);
      expect(run.channels.length).toBeGreaterThan(3);

      expect(problems(await ask({ model: "nobody-has-this" }))).toEqual(["model_not_found", "model_price_missing"]);
      expect(problems(await ask({ model: "gpt-4o", group: "secret" }))).toContain("group_denied");
      expect(problems(await ask({ model: "gpt-4o", endpoint: "/v1/none" }))).toEqual(["not_found"]);
      expect(problems(await ask({ model: "gpt-4o", endpoint: "/v1/files" }))[0]).toMatch(
        /^(api_not_implemented|not_found)$/,
      );
    });

    test("a channel that is stored but cannot be used is a broken database, not a missing model", async () => {
      const { db } = h.services;
      await db.q
        .update(db.t.channels)
        .set({ type: 9999 })
        .where(eq(db.t.channels.id, ids.vip ?? 0));
      await h.services.pool.reload();
      // spec: C-600
      expect(problems(await ask({ model: "only-vip", group: "vip" }))).toContain("channel_database_inconsistent");
    });

    test("odd input is refused with a reason, unknown owners are named, and only administrators may ask", async () => {
      for (const query of ["", "model=", "model=a&token_id=x", "model=a&token_id=-1", `model=${"x".repeat(300)}`]) {
        expect((await admin.rest("GET", `/api/channel/dry_run?${query}`)).body.success).toBe(false);
      }
      expect((await admin.rest("GET", "/api/channel/dry_run?model=a&token_id=999999")).body.message).toBe(
        "No such token",
      );
      expect((await admin.rest("GET", "/api/channel/dry_run?model=a&user_id=999999")).body.success).toBe(false);
      const person = await h.person();
      expect((await person.rest("GET", "/api/channel/dry_run?model=gpt-4o")).body.success).toBe(false);
    });
  });
}
