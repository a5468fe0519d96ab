/** The price editor's recent use agrees with the hourly sums, and is shown to those who may set prices. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { ROLE } from "../../../shared/roles";
import { sumHours } from "../log/sums";
import { recentUse } from "./use";

const HOUR = 3600;

for (const engine of ENGINES) {
  describe(`recent use on ${engine}`, () => {
    let h: Harness;
    beforeAll(async () => void (h = await openHarness(engine)), HOOK_MS);
    afterAll(() => h?.close());

    test("seven days by model and a day by hour, model and group, before and after the hours are added up; administrators are refused", async () => {
      const root = await h.person({ role: ROLE.root });
      expect(await root.call.pricing.recentUse()).toEqual({ week: [], day: [] });
      const at = root.ctx.now();
      const ask = () => recentUse({ ...root.ctx, now: () => at });
      const { q, t } = h.services.db;
      const now = Math.floor(at / 1000);
      const hour = now - (now % HOUR);
      const row = (hours: number, model_name: string, group: string, user_id: number) => ({
        hour: hour - hours * HOUR,
        user_id,
        token_id: 1,
        channel: 1,
        model_name,
        group,
        count: 2,
        quota: 100,
        prompt_tokens: 30,
        completion_tokens: 7,
      });
      await q
        .insert(t.usage_hourly)
        .values([
          row(0, "a", "default", 1),
          row(1, "a", "default", 2),
          row(23, "a", "vip", 1),
          row(30, "a", "default", 1),
          row(100, "b", "default", 1),
          row(167, "b", "default", 2),
          row(168, "b", "default", 1),
          row(2000, "c", "default", 1),
        ]);
      const once = { count: 2, quota: 100, prompt_tokens: 30, completion_tokens: 7 };
      const expected = {
        week: [
          { model: "a", count: 8, quota: 400 },
          { model: "b", count: 4, quota: 200 },
        ],
        day: [
          { model: "a", group: "default", hour: hour - HOUR, ...once },
          { model: "a", group: "default", hour, ...once },
          { model: "a", group: "vip", hour: hour - 23 * HOUR, ...once },
        ],
      };
      expect(await ask()).toEqual(expected);
      expect(await sumHours(h.services.db, now)).toBeGreaterThan(0);
      expect(await ask()).toEqual(expected);
      const admin = await h.person({ role: ROLE.admin });
      await expect(admin.call.pricing.recentUse()).rejects.toThrow();
    });
  });
}
