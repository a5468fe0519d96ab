/** Removing old rows: by hand, by retention, and the audit afterwards. */
import { afterEach, describe, expect, test } from "bun:test";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import { ROLE } from "../../../shared/roles";
import type { NewLogRow } from "../../db/schema";
import { audit } from "../wallet/audit";
import { removeExpired } from "./clean";
import { fold } from "./fold";

const DAY = 86_400;

for (const engine of ENGINES) {
  describe(`cleaning on ${engine}`, () => {
    let h: Harness;
    afterEach(() => h.close());

    let made = 0;
    const row = (who: Person, fields: Partial<NewLogRow>): NewLogRow => ({
      request_id: `clean-${++made}`,
      created_at: 0,
      type: LOG_TYPE.error,
      user_id: who.ctx.actor.id,
      username: who.ctx.actor.username,
      ...fields,
    });
    const rest = async () =>
      (await h.services.db.q.select().from(h.services.db.t.logs)).map((log) => log.created_at).sort((a, b) => a - b);
    const findings = () => Array.fromAsync(audit(h.services.db));

    async function open() {
      h = await openHarness(engine);
      const [root, admin, ann] = await Promise.all([
        h.person({ role: ROLE.root }),
        h.person({ role: ROLE.admin }),
        h.person(),
      ]);
      const now = Math.floor(h.services.now() / 1000);
      const insert = async (...rows: NewLogRow[]) => {
        for (let from = 0; from < rows.length; from += 250)
          await h.services.db.q.insert(h.services.db.t.logs).values(rows.slice(from, from + 250));
      };
      return { root, admin, ann, now, insert };
    }

    test(
      "rows before the time go, of every type, later ones stay, and the answer is their number (A-462)",
      async () => {
        const { root, ann, now, insert } = await open();
        // More than two batches.
        await insert(
          ...Array.from({ length: 1203 }, (_, i) =>
            row(ann, { created_at: now - 10 * DAY - i, type: 1 + (i % 6), folded: FOLDED.done }),
          ),
          row(ann, { created_at: now - 5 * DAY, folded: FOLDED.done }),
          row(ann, { created_at: now, folded: FOLDED.never }),
        );
        await h.services.db.q.insert(h.services.db.t.log_bodies).values([
          { request_id: "old", user_id: ann.ctx.actor.id, created_at: now - 10 * DAY },
          { request_id: "new", user_id: ann.ctx.actor.id, created_at: now },
        ]);
        // spec: A-462
        expect((await root.rest("DELETE", `/api/log/?target_timestamp=${now - 5 * DAY}`)).body).toEqual({
          success: true,
          message: "",
          data: 1203,
        });
        // spec: D-74
        expect(await rest()).toEqual([now - 5 * DAY, now]);
        expect(
          (await h.services.db.q.select().from(h.services.db.t.log_bodies)).map((kept) => kept.request_id),
        ).toEqual(["new"]);
        expect(await root.call.log.cleaning()).toMatchObject({
          running: false,
          removed: 1203,
          until: now - 5 * DAY,
          started_by: root.ctx.actor.username,
        });
        expect((await root.rest("DELETE", `/api/log?target_timestamp=${now - 5 * DAY}`)).body.data).toBe(0);
      },
      HOOK_MS,
    );

    test("super administrators alone may, with a valid time (D-73)", async () => {
      const { root, admin, ann, now, insert } = await open();
      await insert(row(ann, { created_at: now - DAY, folded: FOLDED.done }));
      for (const person of [admin, ann]) {
        // spec: D-73
        expect((await person.rest("DELETE", `/api/log/?target_timestamp=${now}`)).body).toMatchObject({
          success: false,
          code: "forbidden",
        });
      }
      for (const time of ["", "null", "NaN", "0", "-5", "1.5", "x", "1e400"]) {
        // spec: D-74
        expect((await root.rest("DELETE", `/api/log/?target_timestamp=${time}`)).body).toMatchObject({
          success: false,
          code: "invalid_parameter",
        });
      }
      expect(await rest()).toHaveLength(1);
    });

    test("a row that the roll-ups have not counted stays until they have, and the audit is clean after it was removed", async () => {
      const { root, ann, now, insert } = await open();
      const old = now - 3 * DAY;
      await insert(row(ann, { created_at: old }), row(ann, { created_at: old + 60 }), row(ann, { created_at: now }));
      expect((await root.rest("DELETE", `/api/log/?target_timestamp=${now - DAY}`)).body.data).toBe(0);
      await fold(h.services);
      expect(await findings()).toEqual([]);
      expect((await root.rest("DELETE", `/api/log/?target_timestamp=${now - DAY}`)).body.data).toBe(2);
      expect(await findings()).toEqual([]);
      // spec: D-74
      expect(await h.services.db.q.select().from(h.services.db.t.usage_hourly)).not.toEqual([]);
      // An earlier cleaning afterwards does not make the log whole again.
      expect((await root.rest("DELETE", `/api/log/?target_timestamp=${old}`)).body.data).toBe(0);
      expect(await findings()).toEqual([]);
    });

    test("a row that went missing later than the cleaning is still a finding", async () => {
      const { root, ann, now, insert } = await open();
      await insert(row(ann, { created_at: now - 3 * DAY }), row(ann, { created_at: now }));
      await fold(h.services);
      await root.rest("DELETE", `/api/log/?target_timestamp=${now - DAY}`);
      await h.services.db.q.delete(h.services.db.t.logs);
      expect((await findings()).map((finding) => finding.rule)).toEqual(["hourly_count"]);
    });

    test(
      "two cleanings at once: one works, the other is refused, and nothing is counted twice",
      async () => {
        const { root, ann, now, insert } = await open();
        await insert(...Array.from({ length: 1100 }, () => row(ann, { created_at: now - DAY, folded: FOLDED.done })));
        const answers = await Promise.all(
          Array.from({ length: 3 }, () => root.rest("DELETE", `/api/log/?target_timestamp=${now}`)),
        );
        expect(answers.filter(({ body }) => body.success).map(({ body }) => body.data)).toEqual([1100]);
        expect(answers.filter(({ body }) => !body.success).map(({ body }) => body.code)).toEqual([
          "log_cleaning_running",
          "log_cleaning_running",
        ]);
      },
      HOOK_MS,
    );

    test("retention removes what is older than its days, and nothing while it is 0; contents have days of their own", async () => {
      const { root, ann, now, insert } = await open();
      const { db, options } = h.services;
      await insert(
        row(ann, { created_at: now - 31 * DAY, folded: FOLDED.done }),
        row(ann, { created_at: now - 29 * DAY, folded: FOLDED.done }),
      );
      await db.q
        .insert(db.t.log_bodies)
        .values([8, 6].map((days) => ({ request_id: `of ${days}`, user_id: 1, created_at: now - days * DAY })));
      await removeExpired(h.services);
      expect(await rest()).toHaveLength(2);
      expect(await root.call.log.cleaning()).toBeNull();
      expect((await db.q.select().from(db.t.log_bodies)).map((kept) => kept.request_id)).toEqual(["of 6"]);
      await root.rest("PUT", "/api/option/", { key: "LogRetentionDays", value: "30" });
      expect(options.get("LogRetentionDays")).toBe(30);
      await removeExpired(h.services);
      expect(await rest()).toEqual([now - 29 * DAY]);
      expect(await root.call.log.cleaning()).toMatchObject({ started_by: "", removed: 1 });
    });
  });
}
