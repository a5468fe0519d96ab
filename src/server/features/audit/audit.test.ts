import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { TEXT_LIMITS } from "../../../shared/text-limits";
import { option, optionKeys } from "../../../shared/options";
import { ROLE } from "../../../shared/roles";
import { safeJson } from "./record";

describe("what the audit log keeps", () => {
  test("a secret is masked at every depth, under every usual name, also inside JSON kept as text and in addresses", () => {
    const secret = "s3cr3t-value";
    const text = safeJson({
      password: secret,
      password_hash: secret,
      key: secret,
      keys: [secret],
      SMTPToken: secret,
      EpayKey: secret,
      access_token: secret,
      webhook_secret: secret,
      header_override: `{"X-Api":"${secret}"}`,
      setting: JSON.stringify({ proxy: `http://user:${secret}@proxy.example`, inner: { api_key: secret } }),
      deep: [{ deeper: { client_secret: secret } }],
      StripeWebhookSecret: secret,
    });
    expect(text).not.toContain(secret);
    expect(JSON.parse(text)).toMatchObject({ password: "••••••" });
  });

  test("an option is as secret as the registry says, whatever its name looks like", () => {
    const open = {
      PasswordLoginEnabled: "false",
      PasswordRegisterEnabled: "true",
      TurnstileSiteKey: "0x4AAA",
      "oidc.authorization_endpoint": "https://id.example/authorize",
      "global.pass_through_request_enabled": "true",
    };
    expect(JSON.parse(safeJson(open))).toEqual(open);
    for (const key of optionKeys.filter((name) => option(name).secret))
      expect(safeJson({ [key]: "s3cr3t" })).not.toContain("s3cr3t");
  });

  test("other values stay as they are, and a huge text is replaced by its length", () => {
    const facts = {
      name: "a",
      models: "gpt-4o",
      priority: 0,
      tag: "",
      note: "{not json",
      url: "https://a.example/x@y",
    };
    expect(JSON.parse(safeJson(facts))).toEqual(facts);
    expect(safeJson(undefined)).toBe("");
    const huge = safeJson({ Notice: "x".repeat(TEXT_LIMITS.audit * 2) });
    expect(huge.length).toBeLessThan(200);
    expect(JSON.parse(huge)).toMatchObject({ cut: true, members: ["Notice"] });
  });
});

for (const engine of ENGINES) {
  describe(`the audit log on ${engine}`, () => {
    let h: Harness;
    let root: Person;
    beforeAll(async () => {
      h = await openHarness(engine);
      root = await h.person({ role: ROLE.root });
    }, HOOK_MS);
    afterAll(() => h?.close());

    const rows = async (filter: object = {}) => (await root.call.audit.list(filter)).items;

    test("an option's change is kept with old and new value, one that changes nothing is not, and a secret's text never", async () => {
      const put = async (key: string, value: unknown) => (await root.rest("PUT", "/api/option/", { key, value })).body;
      expect((await put("RetryTimes", 4)).success).toBe(true);
      expect((await put("RetryTimes", "4")).success).toBe(true);
      expect((await put("SMTPToken", "very-secret")).success).toBe(true);
      expect((await put("SMTPToken", "another-secret")).success).toBe(true);
      const kept = await rows({ target_type: "option" });
      expect(kept.map((row) => [row.target_id, row.before, row.after])).toEqual([
        ["SMTPToken", '{"SMTPToken":"••••••"}', '{"SMTPToken":"••••••"}'],
        ["SMTPToken", '{"SMTPToken":""}', '{"SMTPToken":"••••••"}'],
        ["RetryTimes", '{"RetryTimes":"3"}', '{"RetryTimes":"4"}'],
      ]);
      expect(JSON.stringify(await rows())).not.toContain("secret");
      expect(kept[0]).toMatchObject({
        actor_id: root.ctx.actor.id,
        actor_name: root.ctx.actor.username,
        action: "option.update",
        ip: "198.51.100.7",
      });
    });

    test("a refused option leaves no row and says why in the caller's language", async () => {
      const english = await h.person({ role: ROLE.root, lang: "en" });
      const before = (await rows()).length;
      expect((await english.rest("PUT", "/api/option/", { key: "RetryTimes", value: "x" })).body.message).toBe(
        "Retries after a failure: Enter a whole number",
      );
      expect(
        (await english.rest("PUT", "/api/option/", { key: "GitHubOAuthEnabled", value: true })).body.message,
      ).toContain("GitHubClientId");
      expect(await rows()).toHaveLength(before);
    });

    test("settings return every open value and only the names of the secrets that are set", async () => {
      const { values, set } = await root.call.option.settings();
      expect(values).toMatchObject({ RetryTimes: "4", TurnstileSiteKey: "" });
      expect(set).toEqual(["SMTPToken"]);
      // spec: D-28
      expect(Object.keys(values)).not.toContain("SMTPToken");
      const admin = await h.person({ role: ROLE.admin });
      await expect(admin.call.option.settings()).rejects.toThrow();
      await expect(admin.call.audit.list({})).rejects.toThrow();
    });

    test("channels: creating, changing and deleting are kept, a key only as changed, counters not at all", async () => {
      const key = "sk-upstream-0123456789";
      const [made] = await root.call.channel.create({
        type: 1,
        name: "c",
        key,
        models: ["gpt-4o"],
        groups: ["default"],
      });
      if (!made) throw new Error("no channel");
      await root.call.channel.update({ id: made.id, priority: 5 });
      await root.call.channel.update({ id: made.id, priority: 5 });
      await root.call.channel.update({ id: made.id, key: "sk-upstream-9999999999" });
      await root.call.channel.batchStatus({ ids: [made.id], status: 2 });
      await root.call.channel.delete({ id: made.id });
      const kept = await rows({ target_type: "channel" });
      expect(kept.map((row) => row.action)).toEqual([
        "channel.delete",
        "channel.batch",
        "channel.update",
        "channel.update",
        "channel.update",
        "channel.create",
      ]);
      // The batch as a whole, and what it changed of this channel.
      expect(kept[2]?.after).toBe('{"status":2}');
      expect([kept[4]?.before, kept[4]?.after]).toEqual(['{"priority":0}', '{"priority":5}']);
      expect(kept[3]?.after).toBe('{"key":"••••••"}');
      expect(JSON.stringify(kept)).not.toContain("sk-upstream");
      expect(JSON.parse(kept[5]?.after ?? "")).not.toHaveProperty("used_quota");
    });

    test("rows are found by actor, action and time; odd filters find nothing rather than fail", async () => {
      expect(await rows({ actor: root.ctx.actor.username, action: "channel.create" })).toHaveLength(1);
      for (const filter of [
        { actor: "%" },
        { action: "' or 1=1 --" },
        { target_id: "\u0000x" },
        { start: 9_999_999_999 },
        { end: 1 },
      ]) {
        expect(await rows(filter)).toEqual([]);
      }
      const page = await root.call.audit.list({ page: 2, page_size: 3 });
      expect(page.items).toHaveLength(3);
      expect(page.total).toBeGreaterThan(6);
    });
  });
}
