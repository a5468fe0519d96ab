/** The status of models from the sums of real calls, and who may see it: both engines. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { LOG_TYPE } from "../../../shared/log";
import type { StatusBoard } from "../../../shared/model-status";
import { ROLE } from "../../../shared/roles";

const HOUR = 3600;

async function guestBoard({ guest }: Harness): Promise<StatusBoard> {
  const { body } = await guest.rest("GET", "/api/status/models");
  expect(body.success).toBe(true);
  return body.data;
}

for (const engine of ENGINES) {
  describe(`the status of models on ${engine}`, () => {
    let h: Harness;
    beforeAll(async () => {
      h = await openHarness(engine);
      const { db, secrets, pool } = h.services;
      const key_cipher = secrets.encrypt("channel-key", "sk-never-used");
      const models = "good,bad,quiet,unused";
      await db.q
        .insert(db.t.channels)
        .values({ type: 1, name: "one", key_cipher, models, group: "default", created_time: 0 })
        .returning();
      await pool.reload();
    }, HOOK_MS);
    afterAll(() => h?.close());

    test("guests and users see it only while the option is on, administrators always", async () => {
      const [user, admin] = [await h.person({}), await h.person({ role: ROLE.admin })];
      expect((await h.guest.rest("GET", "/api/status/models")).body.success).toBe(false);
      expect((await user.rest("GET", "/api/status/models")).body.success).toBe(false);
      expect((await admin.call.status.models()).models.map(({ model }) => model)).toContain("unused");
      await h.services.options.set("StatusPageEnabled", "true");
      expect((await guestBoard(h)).models).toHaveLength(4);
    });

    test("success without callers' mistakes, first token, speed and hours; too few calls show nothing", async () => {
      const { q, t } = h.services.db;
      const now = Math.floor(h.services.now() / 1000);
      const hour = now - (now % HOUR);
      const row = (model_name: string, more: object) => ({
        hour,
        user_id: 1,
        token_id: 1,
        channel: 1,
        model_name,
        group: "default",
        ...more,
      });
      await q
        .insert(t.usage_hourly)
        .values([
          row("good", {
            count: 90,
            error_count: 5,
            completion_tokens: 9000,
            use_time: 180,
            first_token_ms: 40_000,
            first_tokens: 80,
            quota: 700,
          }),
          row("good", { hour: hour - 2 * HOUR, count: 10, error_count: 0 }),
          // Refused before a channel was asked, and older than a day.
          row("good", { channel: 0, error_count: 500 }),
          row("good", { hour: hour - 24 * HOUR, count: 1, error_count: 99 }),
          row("bad", { count: 5, error_count: 15 }),
          row("quiet", { count: 2, error_count: 2, first_token_ms: 100, first_tokens: 2 }),
        ])
        .returning();
      const error = (n: number, code: string) => ({
        request_id: `e${n}`,
        user_id: 1,
        created_at: now,
        type: LOG_TYPE.error,
        model_name: "good",
        channel: 1,
        code,
        folded: 1,
      });
      await q
        .insert(t.logs)
        .values([1, 2, 3, 4].map((n) => error(n, "failure.caller_mistake")).concat(error(5, "failure.server_error")))
        .returning();
      await q
        .insert(t.failed_attempts)
        .values([{ hour, channel: 1, model_name: "good", count: 1200 }])
        .returning();
      h.advance(60);
      const { since, models } = await guestBoard(h);
      expect(since).toBe(Math.floor(h.services.now() / 1000 / HOUR) * HOUR - 23 * HOUR);
      const of = (name: string) => models.find(({ model }) => model === name);
      expect(of("good")).toMatchObject({ success: 0.9901, first_token_ms: 500, tokens_per_second: 50 });
      expect(of("good")?.hours.filter((share) => share !== null)).toEqual([1, 0.989]);
      expect(of("good")?.first_token_hours.filter((ms) => ms !== null)).toEqual([500]);
      expect(of("good")?.speed_hours.filter((speed) => speed !== null)).toEqual([50]);
      expect(of("good")?.quota_hours).toBeNull();
      expect(of("good")?.failed_attempts).toBeNull();
      const seen = (await (await h.person({ role: ROLE.admin })).call.status.models()).models;
      expect(seen.find(({ model }) => model === "good")?.quota_hours?.at(-1)).toBe(700);
      expect(seen.find(({ model }) => model === "good")?.failed_attempts).toBe(1200);
      expect(of("bad")).toMatchObject({ success: 0.25, first_token_ms: null, tokens_per_second: null });
      const none = { success: null, first_token_ms: null, tokens_per_second: null };
      expect([of("quiet"), of("unused")]).toMatchObject([none, none]);
    });
  });
}
