import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../tests/kit/harness";
import { createSecrets, WrongSecret } from "../lib/secrets";
import { ROLE } from "../../shared/roles";
import { rotate } from "./rotate-secret";

describe.each([...ENGINES])("weir secret rotate on %s", (engine) => {
  let house: Harness;
  beforeAll(async () => {
    house = await openHarness(engine);
  }, HOOK_MS);
  afterAll(() => house?.close());

  test("every key decrypts under the new secret and under no other; what is stored as a hash alone ends", async () => {
    const { db, secrets: old, options } = house.services;
    const root = await house.person({ role: ROLE.root });
    await root.rest("POST", "/api/channel/", { type: 1, name: "c", key: "sk-upstream", models: "gpt-4o-mini" });
    await root.rest("POST", "/api/channel/", {
      type: 1,
      name: "many",
      mode: "multi_to_single",
      key: "sk-first\nsk-second",
      models: "gpt-4o-mini",
    });
    const made = await root.rest("POST", "/api/token/", { name: "t", unlimited_quota: true, expired_time: -1 });
    const [code = ""] = (await root.rest("POST", "/api/redemption/", { name: "gift", quota: 5 })).body.data;
    await root.rest("GET", "/api/user/token");
    await options.set("SMTPToken", "mail-secret");

    await db.q
      .insert(db.t.totps)
      .values({ user_id: root.ctx.actor.id, secret_cipher: old.encrypt("totp", "JBSWY3DPEHPK3PXP"), enabled_at: 1 });

    // Two imported tokens that were never used.
    for (const name of ["i", "j"])
      await db.q.insert(db.t.tokens).values({
        user_id: root.ctx.actor.id,
        name,
        key_hash: `h${name}`,
        key_cipher: "",
        key_hint: "sk-…",
        imported_hash: `x${name}`,
        created_time: 1,
      });

    const next = createSecrets("another secret for tests");
    await db.q
      .insert(db.t.meta)
      .values({ name: "canary", value: old.encrypt("canary", "weir") })
      .onConflictDoNothing();
    expect(await rotate(db, old, next)).toEqual({
      tokens: 1,
      channels: 2,
      redemptions: 1,
      options: 1,
      access_tokens: 1,
      unused_keys: 2,
    });

    const [token, ...unused] = await db.q.select().from(db.t.tokens).orderBy(db.t.tokens.id);
    expect(unused.map((row) => [row.key_hash, row.imported_hash])).toEqual([
      ["hi", null],
      ["hj", null],
    ]);
    const [channel] = await db.q.select().from(db.t.channels);
    const [secret] = await db.q.select().from(db.t.options).where(eq(db.t.options.key, "SMTPToken"));
    const [totp] = await db.q.select().from(db.t.totps);
    expect(next.decrypt("totp", totp?.secret_cipher ?? "")).toBe("JBSWY3DPEHPK3PXP");
    const [canary] = await db.q.select().from(db.t.meta).where(eq(db.t.meta.name, "canary"));
    const keys = await db.q.select().from(db.t.channel_keys).orderBy(db.t.channel_keys.position);
    expect(keys.map((row) => next.decrypt("channel-key", row.key_cipher))).toEqual(["sk-first", "sk-second"]);
    expect(keys.map((row) => row.key_hash)).toEqual(
      ["sk-first", "sk-second"].map((text) => next.hash("channel-key", text)),
    );
    const key = String(made.body.data.key);
    expect(next.decrypt("relay-key", token?.key_cipher ?? "")).toBe(key);
    expect(token?.key_hash).toBe(next.hash("relay-key", key));
    expect(next.decrypt("channel-key", channel?.key_cipher ?? "")).toBe("sk-upstream");
    const [redemption] = await db.q.select().from(db.t.redemptions);
    expect(next.decrypt("redemption-key", redemption?.key_cipher ?? "")).toBe(code);
    expect(redemption?.key_hash).toBe(next.hash("redemption-key", code));
    expect(next.decrypt("option-secret", secret?.value ?? "")).toBe("mail-secret");
    expect(next.decrypt("canary", canary?.value ?? "")).toBe("weir");
    expect(() => old.decrypt("relay-key", token?.key_cipher ?? "")).toThrow(WrongSecret);
    expect(await db.q.select().from(db.t.sessions)).toEqual([]);
  });

  test("a key that cannot be read stops the rotation before anything changed", async () => {
    const { db } = house.services;
    const before = await db.q.select().from(db.t.tokens);
    await expect(
      rotate(db, createSecrets("not the secret in force"), createSecrets("whatever comes after")),
    ).rejects.toThrow();
    expect(await db.q.select().from(db.t.tokens)).toEqual(before);
  });
});
