import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asc, eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { newApiHistory, oneHubHistory, type SourceTables, writeFile } from "../../../../tests/kit/import-sources";
import { openSource } from "../../db/foreign/open";
import { completeSteps } from "../order/settle";
import { audit } from "../wallet/audit";
import { planText, doneText } from "./report";
import { runImport } from "./run";
import { survey, type Survey } from "./survey";

const folder = mkdtempSync(join(tmpdir(), "weir-history-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ANSWERS = {
  "name:bob:4": "rename",
  "name:root": "join",
  "mail:alice@x.example": "last",
  debts: "zero",
  "type:type 58": "disabled",
  "running-jobs": "leave",
};

async function surveyed(house: Harness, tables: SourceTables, since: number | undefined): Promise<Survey> {
  const path = join(folder, `${Bun.randomUUIDv7()}.db`);
  writeFile(path, tables);
  return survey(house.services, await openSource(path, {}), { answers: ANSWERS, merge: false, since });
}

const go = (house: Harness, found: Survey) =>
  runImport(house.services, found, undefined, {
    live: false,
    merge: false,
    logDays: 0,
    progress: () => {},
    stopped: () => false,
  });

async function findings(house: Harness): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const one of audit(house.services.db)) all.push(one);
  return all;
}

const ALL = -Infinity;

test.each([...ENGINES])(
  "orders, used codes, drawings and tasks arrive as records on %s: no balance changes, once however often it runs",
  async (engine) => {
    const house = await openHarness(engine);
    try {
      const { q, t } = house.services.db;
      const found = await surveyed(house, newApiHistory(), ALL);
      expect(found.plan.decisions.map(({ id }) => id)).toContain("running-jobs");
      const reports = found.plan.tables.map(({ table, taken, left }) => [table, taken, left] as const);
      expect(reports.filter(([table]) => ["redemptions", "top_ups", "midjourneys", "tasks"].includes(table))).toEqual([
        ["redemptions", 2, {}],
        ["top_ups", 3, { "not paid: nothing came of it": 1, "of users who are not taken": 1 }],
        ["midjourneys", 2, { "still running": 1 }],
        ["tasks", 2, { "of a platform that Weir does not have": 1 }],
      ]);
      expect(planText(found.plan, "zh")).toContain("top_ups：5 行中的 3 行成为订单");
      const done = await go(house, found);
      expect(done).toMatchObject({ codes: 2, records: { orders: 3, codes: 1, drawings: 2, tasks: 2 } });
      expect(doneText(done)).toContain("Records: 3 orders, 1 used codes, 2 drawings, 2 tasks.");
      expect(await findings(house)).toEqual([]);

      const [alice] = await q.select().from(t.users).where(eq(t.users.id, 2));
      expect(alice).toMatchObject({ quota: 2000, used_quota: 30 });
      const orders = await q.select().from(t.orders).orderBy(asc(t.orders.id));
      expect(orders.map((one) => [one.trade_no, one.quota, one.money, one.provider, one.status])).toEqual([
        ["USR2NO1", 1_500_000, "21.90", "epay", "success"],
        ["USR2NO3", 2_250_000, "4.50", "stripe", "success"],
        [expect.stringMatching(/^import_new_api_\w+_5$/), 1_500_000, "7.00", "epay", "success"],
      ]);
      const [used] = await q.select().from(t.redemptions).where(eq(t.redemptions.id, 2));
      expect(used).toMatchObject({ status: 3, used_user_id: 2, redeemed_time: 9 });

      const jobs = await q.select().from(t.tasks).orderBy(asc(t.tasks.id));
      expect(jobs.map((one) => [one.platform, one.model, one.status, one.quota, one.refunded])).toEqual([
        ["mj", "mj_imagine", "SUCCESS", 40, 0],
        ["mj", "mj_imagine", "FAILURE", 0, 40],
        ["suno", "suno_music", "SUCCESS", 40, 0],
        ["kling", "", "SUCCESS", 40, 0],
      ]);
      expect(jobs[0]).toMatchObject({ task_id: "mj-1", submit_time_ms: 1_760_000_000_124, next_poll_at_ms: 0 });

      expect(await go(house, await surveyed(house, newApiHistory(), ALL))).toMatchObject({
        codes: 0,
        records: { orders: 0, codes: 0, drawings: 0, tasks: 0 },
      });
      // What ran at the rehearsal has ended at the final stop.
      const later = newApiHistory();
      Object.assign(later.midjourneys?.rows[2] ?? {}, { status: "SUCCESS" });
      Object.assign(later.top_ups?.rows[1] ?? {}, { status: "success", complete_time: 1_750_000_090 });
      expect(await go(house, await surveyed(house, later, ALL))).toMatchObject({
        records: { orders: 1, drawings: 1, tasks: 0 },
      });
      expect(await findings(house)).toEqual([]);
    } finally {
      await house.close();
    }
  },
  HOOK_MS * 3,
);

test(
  "the owner of imported jobs sees them with their files, and a gateway that reports an imported order again is told so",
  async () => {
    const house = await openHarness("sqlite");
    try {
      await go(house, await surveyed(house, newApiHistory(), ALL));
      const { services } = house;
      const { q, t } = services.db;
      const root = await house.person({ role: 100 });
      const { items } = await root.call.midjourney.list({});
      expect(items.map((one) => [one.mj_id, one.prompt_en, one.image_url])).toContainEqual([
        "mj-1",
        "a cat",
        "/mj/image/mj-1",
      ]);
      for (const row of await q.select().from(t.tasks).where(eq(t.tasks.status, "SUCCESS"))) {
        const opened =
          row.platform === "mj"
            ? await root.call.midjourney.get({ id: row.id })
            : await root.call.task.get({ id: row.id });
        expect([row.task_id, opened.files.length, opened.cancellable]).toEqual([row.task_id, 1, false]);
      }
      const [order] = await q.select().from(t.orders).where(eq(t.orders.trade_no, "USR2NO1"));
      if (!order) throw new Error("no such order");
      expect(await services.db.tx((steps) => completeSteps(services, steps, order, {}))).toBe("repeated");
      expect(await findings(house)).toEqual([]);
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);

test(
  "without --records they are listed and left; with a limit of days only what is younger arrives",
  async () => {
    const house = await openHarness("sqlite");
    try {
      const { plan } = await surveyed(house, newApiHistory(), undefined);
      expect(plan.other.filter(({ why }) => why === "history: --records takes it").map(({ table }) => table)).toEqual([
        "top_ups",
        "midjourneys",
        "tasks",
      ]);
      expect(plan.tables.find(({ table }) => table === "redemptions")?.left).toEqual({
        "used: its units are in the balances": 1,
      });
      const found = await surveyed(house, newApiHistory(), 1_755_000_000);
      expect(await go(house, found)).toMatchObject({ records: { orders: 0, codes: 0, drawings: 2, tasks: 2 } });
      expect(await findings(house)).toEqual([]);
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);

test(
  "one-hub's orders arrive with the units and the currency that stand in their rows",
  async () => {
    const house = await openHarness("sqlite");
    try {
      expect(await go(house, await surveyed(house, oneHubHistory(), ALL))).toMatchObject({ records: { orders: 1 } });
      const [order] = await house.services.db.q.select().from(house.services.db.t.orders);
      expect(order).toMatchObject({ quota: 900, money: "14.60", currency: "cny", provider_ref: "g1" });
      expect(await findings(house)).toEqual([]);
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);

test(
  "what was used, revoked or deleted there after a first run can be used no more here, and a joined account keeps its own password",
  async () => {
    const house = await openHarness("sqlite");
    try {
      const { q, t } = house.services.db;
      await q
        .insert(t.users)
        .values({ id: 1, username: "root", password_hash: "mine", role: 100, quota: 0, created_at: 1 });
      await go(house, await surveyed(house, newApiHistory(), undefined));
      const tables = newApiHistory();
      Object.assign(tables.redemptions?.rows[0] ?? {}, { status: 3, used_user_id: 2, redeemed_time: 7 });
      Object.assign(tables.users?.rows[0] ?? {}, { quota: 100_500 });
      Object.assign(tables.users?.rows[1] ?? {}, { quota: 2077 });
      Object.assign(tables.users?.rows[2] ?? {}, { deleted_at: "2026-01-02 03:04:05" });
      // One token is marked as deleted, another's row is gone.
      Object.assign(tables.tokens?.rows[0] ?? {}, { deleted_at: "2026-01-02 03:04:05" });
      tables.tokens?.rows.pop();
      await go(house, await surveyed(house, tables, undefined));
      expect(await findings(house)).toEqual([]);
      const [code] = await q.select().from(t.redemptions).where(eq(t.redemptions.name, "gift"));
      expect(code).toMatchObject({ status: 3, used_user_id: 2 });
      const tokens = await q.select().from(t.tokens).orderBy(asc(t.tokens.id));
      expect(tokens.map((one) => [one.id, one.deleted_at !== null])).toEqual([
        [1, true],
        [2, false],
        [4, true],
      ]);
      const [root, , bob] = await q.select().from(t.users).orderBy(asc(t.users.id));
      expect(root).toMatchObject({ password_hash: "mine", quota: 100_500 });
      expect(bob?.deleted_at).toBe(Date.UTC(2026, 0, 2, 3, 4, 5) / 1000);
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);
