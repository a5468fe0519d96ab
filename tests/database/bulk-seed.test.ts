/** The calls that `seed logs-5m` and the bench write in the database directly equal charged ones. */
import { describe, expect, test } from "bun:test";
import { makeBulk } from "../../scripts/seed/bulk";
import { makeChannels, makePeople, makeRoot } from "../../scripts/seed/people";
import { audit } from "../../src/server/features/wallet/audit";
import { ENGINES } from "../kit/databases";
import { HOOK_MS, openHarness } from "../kit/harness";

describe.each(ENGINES)("bulk calls on %s", (engine) => {
  test(
    "are as many as asked for, lie within their time, and leave the books balanced",
    async () => {
      const h = await openHarness(engine);
      try {
        const { db } = h.services;
        const root = await makeRoot(h.services, () => {});
        const channels = await makeChannels(h.services, root);
        const people = await makePeople(h.services, root, 3, () => {});
        const end = 1_795_262_400;
        for (const count of [2500, 500]) await makeBulk(h.services, { people, channels, count, seconds: 86_400, end });
        const rows = await db.q
          .select({ at: db.t.logs.created_at, quota: db.t.logs.quota, type: db.t.logs.type })
          .from(db.t.logs);
        const calls = rows.filter((row) => row.at < end);
        expect(calls.length).toBe(3000);
        expect(Math.min(...calls.map((row) => row.at))).toBe(end - 86_400);
        expect(calls.filter((row) => row.type === 5).every((row) => row.quota === 0)).toBe(true);
        expect(await Array.fromAsync(audit(db))).toEqual([]);
      } finally {
        await h.close();
      }
    },
    HOOK_MS,
  );
});
