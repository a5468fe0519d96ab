/** The store of budgets on both engines, at the limit. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import pino from "pino";
import { ENGINES, freshDatabase } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { openDb } from "../../db/client";
import { periodsAt } from "./periods";
import { createSpendStore, forgetSpend, type SpendStore } from "./spend";

for (const engine of ENGINES) {
  describe(`budgets on ${engine}`, () => {
    let h: Harness;
    let book: SpendStore;
    let names = 0;
    const budget = (limit: number, ends = Math.floor(Date.now() / 1000) + 3600) => ({
      name: `user:${++names}:2026-11-21`,
      limit,
      ends,
    });
    beforeAll(async () => {
      h = await openHarness(engine);
      book = createSpendStore(h.services);
    }, HOOK_MS);
    afterAll(() => h.close(), HOOK_MS);

    test("of many takings at once exactly as many succeed as the budget covers", async () => {
      const day = budget(1000);
      const answers = await Promise.all(Array.from({ length: 40 }, () => book.take([day], 30)));
      expect(answers.filter((full) => full === undefined)).toHaveLength(33);
      expect(await book.spent([day.name])).toEqual(new Map([[day.name, 990]]));
      await book.correct([day.name], -30);
      expect(await book.take([day], 41)).toBe(day.name);
      expect(await book.take([day], 40)).toBeUndefined();
    });

    test("takings and corrections that wait for the same budgets share transactions, and each is decided as if alone", async () => {
      const [day, month] = [budget(100), budget(1000)];
      let transactions = 0;
      const { db } = h.services;
      const { postgres } = db.driver;
      const counted = createSpendStore({
        ...h.services,
        db: {
          ...db,
          tx: (...of) => (transactions++, db.tx(...of)),
          ...(postgres && {
            driver: { postgres: { ...postgres, unsafe: (...of) => (transactions++, postgres.unsafe(...of)) } },
          }),
        },
      });
      const small = await Promise.all(Array.from({ length: 40 }, () => counted.take([month, day], 2)));
      expect(small).toEqual(Array.from({ length: 40 }, () => undefined));
      // The first, and all that came while it ran. On Postgres the first finds no rows, and makes them.
      expect(transactions).toBe(postgres ? 3 : 2);
      // 20 are left: the fourth is too large, those after it fit.
      const sizes = [5, 5, 5, 9, 2, 1, 1, 2];
      const answers = await Promise.all(sizes.map((units) => counted.take([day, month], units)));
      expect(answers.map((full) => full === undefined)).toEqual([true, true, true, false, true, true, true, false]);
      expect(await counted.spent([day.name, month.name])).toEqual(
        new Map([
          [day.name, 99],
          [month.name, 99],
        ]),
      );
      transactions = 0;
      await Promise.all(Array.from({ length: 30 }, () => counted.correct([day.name, month.name], -3)));
      expect(transactions).toBe(2);
      expect(await counted.spent([day.name])).toEqual(new Map([[day.name, 9]]));
    });

    test("what one budget refuses takes nothing from the others, in whatever order they are given", async () => {
      const [day, month] = [budget(100), budget(50)];
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => book.take(i % 2 ? [day, month] : [month, day], 10)),
      );
      expect(answers.filter((full) => full === undefined)).toHaveLength(5);
      expect(await Promise.all([1, 2, 3].map(() => book.take([day, month], 50)))).toEqual([
        month.name,
        month.name,
        month.name,
      ]);
      expect(new Set(answers)).toEqual(new Set([undefined, month.name]));
      const spent = await book.spent([day.name, month.name]);
      expect([spent.get(day.name), spent.get(month.name)]).toEqual([50, 50]);
    });

    test("more than a whole budget is refused before any row exists, and nothing is spent", async () => {
      const day = budget(10);
      expect(await book.take([day], 11)).toBe(day.name);
      expect(await book.spent([day.name])).toEqual(new Map());
      expect(await book.spent([])).toEqual(new Map());
      await book.correct([day.name], 5);
      expect(await book.spent([day.name])).toEqual(new Map());
    });

    test("a hold remembers what budgets count for it; of one that was swept nothing is given back again", async () => {
      const { holds } = h.services.db.t;
      const { q } = h.services.db;
      const [day, month] = [budget(1000), budget(1000)];
      const id = `hold-${names}`;
      const hold = { request_id: id, user_id: 1, instance_id: "gone", amount: 70, token_amount: 0, created_at: 1 };
      await q.insert(holds).values({ ...hold, draft: '{"model_name":"m"}' });
      const draft = async (): Promise<unknown> => {
        const [row] = await q.select().from(holds).where(eq(holds.request_id, id));
        return JSON.parse(row?.draft ?? "null");
      };
      await book.take([day], 50, id);
      await book.take([day, month], 20, id);
      expect(await draft()).toEqual({ model_name: "m", budgets: { [day.name]: 70, [month.name]: 20 } });
      await book.correct([month.name], -20, id);
      expect(await draft()).toEqual({ model_name: "m", budgets: { [day.name]: 70 } });
      await q.delete(holds).where(eq(holds.request_id, id));
      await book.correct([day.name], -70, id);
      expect((await book.spent([day.name])).get(day.name)).toBe(70);
      expect((await book.spent([month.name])).get(month.name)).toBe(0);
    });

    test("rows of periods that are long over are dropped, the others stay", async () => {
      const [old, running] = [budget(10, 1_000), budget(10)];
      await book.take([old, running], 1);
      await forgetSpend(h.services);
      const { budget_spend } = h.services.db.t;
      expect(await h.services.db.q.select().from(budget_spend).where(eq(budget_spend.name, old.name))).toHaveLength(0);
      expect((await book.spent([running.name])).get(running.name)).toBe(1);
    });
  });
}

test(
  "instances on one Postgres share a budget exactly",
  async () => {
    const { db, url, close } = await freshDatabase("postgres");
    const other = await openDb({ url, pool: 4 });
    const log = pino({ level: "silent" });
    const books = [createSpendStore({ db, log }), createSpendStore({ db: other, log })];
    const budgets = [
      { name: "group:vip:2026-11-21", limit: 500, ends: 2e9 },
      { name: "user:1:2026-11", limit: 1_000, ends: 2e9 },
    ];
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => books[i % 2]?.take(budgets, 20)));
    expect(answers.filter((full) => full === undefined)).toHaveLength(25);
    await Promise.all(
      Array.from({ length: 25 }, (_, i) =>
        books[i % 2]?.correct(
          budgets.map(({ name }) => name),
          -5,
        ),
      ),
    );
    expect([...((await books[0]?.spent(budgets.map(({ name }) => name))) ?? [])].toSorted()).toEqual([
      ["group:vip:2026-11-21", 375],
      ["user:1:2026-11", 375],
    ]);
    await other.close();
    await close();
  },
  HOOK_MS,
);

describe("periods", () => {
  test("are the calendar's, and end where the next one begins", () => {
    const { day, month } = periodsAt(new Date(2026, 11, 31, 23, 59, 59).getTime());
    expect([day.name, month.name]).toEqual(["2026-12-31", "2026-12"]);
    const next = periodsAt(day.ends * 1000);
    expect([next.day.name, next.month.name]).toEqual(["2027-01-01", "2027-01"]);
    expect(month.ends).toBe(day.ends);
    expect(periodsAt(next.day.ends * 1000 - 1).day.name).toBe("2027-01-01");
    expect(periodsAt(new Date(2028, 1, 28, 12).getTime()).day.ends).toBe(new Date(2028, 1, 29).getTime() / 1000);
  });

  const HOUR_MS = 3_600_000;
  const zone = process.env.TZ;
  afterAll(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });

  // Midnight itself is left out in Cairo, and comes twice in Havana.
  test.each(["UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York", "Africa/Cairo", "America/Havana"])(
    "in %s no moment of four years is outside its day and month, and each ends where the next begins",
    (name) => {
      process.env.TZ = name;
      const hours = new Map<string, number>();
      const ends = new Map<string, number>();
      const wrong: string[] = [];
      for (let ms = Date.UTC(2024, 0, 1); ms < Date.UTC(2028, 0, 1); ms += HOUR_MS) {
        const { day, month } = periodsAt(ms);
        for (const { name: of, ends: end } of [day, month]) {
          if (end * 1000 <= ms || (ends.get(of) ?? end) !== end) wrong.push(`${of} at ${ms}`);
          ends.set(of, end);
        }
        hours.set(day.name, (hours.get(day.name) ?? 0) + 1);
      }
      for (const [of, end] of ends) {
        const [before, after] = [periodsAt(end * 1000 - 1), periodsAt(end * 1000)];
        const kind = of.length > 7 ? "day" : "month";
        if (before[kind].name !== of || after[kind].name <= of) wrong.push(`the end of ${of}`);
      }
      expect(wrong).toEqual([]);
      const lengths = new Set([...hours.values()].slice(1, -1));
      const changes = !["UTC", "Asia/Shanghai"].includes(name);
      expect([...lengths].sort()).toEqual(changes ? [23, 24, 25] : [24]);
      expect([hours.get("2024-02-29"), hours.has("2025-02-29")]).toEqual([24, false]);
    },
    30_000,
  );
});
