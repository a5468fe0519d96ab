/** The dashboard and `/api/data/*` agree with the log to the unit, and show it to those who may see it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inArray } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import {
  type DashboardQuery,
  type Dimension,
  DIMENSIONS,
  GRANULARITIES,
  MAX_RANKED,
  MAX_SERIES,
  MEASURES,
  type Sums,
} from "../../../shared/dashboard";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import { ROLE } from "../../../shared/roles";
import type { NewLogRow } from "../../db/schema";
import { fold } from "../log/fold";

const HOUR = 3600;
const DAY = 86_400;
/** Monday, 2026-03-23, six days before the clocks change in Berlin. */
const START = 1_774_224_000;

/** mulberry32: the same numbers every time. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const NOTHING: Sums = { quota: 0, count: 0, error_count: 0, tokens: 0 };

/** The columns of a log row that the dashboard uses. */
function sumsOf(row: NewLogRow): Sums {
  if (row.folded === FOLDED.never) return NOTHING;
  const tokens = (row.prompt_tokens ?? 0) + (row.completion_tokens ?? 0);
  if (row.type === LOG_TYPE.consume) return { quota: row.quota ?? 0, count: 1, error_count: 0, tokens };
  if (row.type === LOG_TYPE.error) return { ...NOTHING, error_count: 1 };
  if (row.type === LOG_TYPE.refund) return { ...NOTHING, quota: -(row.quota ?? 0) };
  return NOTHING;
}
const add = (list: readonly Sums[]): Sums =>
  list.reduce(
    (a, b) => ({
      quota: a.quota + b.quota,
      count: a.count + b.count,
      error_count: a.error_count + b.error_count,
      tokens: a.tokens + b.tokens,
    }),
    NOTHING,
  );

const KEY: Record<Dimension, (row: NewLogRow) => string> = {
  model: (row) => row.model_name ?? "",
  user: (row) => String(row.user_id),
  channel: (row) => String(row.channel || ""),
  token: (row) => String(row.token_id || ""),
  group: (row) => row.group ?? "",
};

/** The calendar day or week (its Monday) of an hour, or the hour itself. */
function periodOf(granularity: DashboardQuery["granularity"], zone: string, at: number): string {
  const hour = at - (at % HOUR);
  if (granularity === "hour") return String(hour);
  const day = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" }).format(hour * 1000);
  if (granularity === "day") return day;
  const noon = new Date(`${day}T12:00Z`);
  return new Date(noon.getTime() - ((noon.getUTCDay() + 6) % 7) * DAY * 1000).toISOString().slice(0, 10);
}

for (const engine of ENGINES) {
  describe(`the dashboard on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    let people: Person[];
    const rows: NewLogRow[] = [];
    const ask = (query: Partial<DashboardQuery>) =>
      admin.call.dashboard.view({
        start_timestamp: START,
        end_timestamp: START + 21 * DAY,
        granularity: "day",
        ...query,
      });

    beforeAll(async () => {
      h = await openHarness(engine);
      admin = await h.person({ role: ROLE.admin });
      people = await Promise.all(Array.from({ length: 12 }, () => h.person()));
      const roll = dice(7);
      const types = [
        LOG_TYPE.consume,
        LOG_TYPE.consume,
        LOG_TYPE.consume,
        LOG_TYPE.error,
        LOG_TYPE.refund,
        LOG_TYPE.topup,
        LOG_TYPE.system,
      ];
      for (let i = 0; i < 1500; i++) {
        const who = people[roll(people.length)]?.ctx.actor;
        if (!who) throw new Error("nobody");
        rows.push({
          request_id: `r${i}`,
          type: types[roll(types.length)] ?? 2,
          created_at: START + roll(21 * DAY),
          user_id: who.id,
          username: who.username,
          token_id: roll(70),
          token_name: "t",
          channel: roll(4),
          group: ["default", "vip", "a'b\"c"][roll(3)] ?? "",
          visible: roll(10) > 0,
          model_name: roll(40) === 0 ? "" : `model-${roll(60)}`,
          quota: roll(5) === 0 ? roll(2_000_000_000) : roll(5000),
          prompt_tokens: roll(9000),
          completion_tokens: roll(3000),
          folded: roll(50) === 0 ? FOLDED.never : FOLDED.not_yet,
        });
      }
      for (let i = 0; i < rows.length; i += 500)
        await h.services.db.q
          .insert(h.services.db.t.logs)
          .values(rows.slice(i, i + 500))
          .returning({ id: h.services.db.t.logs.id });
      await fold(h.services);
    }, HOOK_MS);
    afterAll(() => h.close());

    test("what needs an administrator's attention is counted: channels, balances, tests, prices, withdrawals", async () => {
      const { db } = h.services;
      const { channels, logs, withdrawals } = db.t;
      const nobody = await admin.call.dashboard.attention();
      expect(nobody).toEqual({
        channels: 0,
        auto_disabled: 0,
        low_balances: 0,
        failing_tests: 0,
        unpriced_models: [],
        withdrawals: 0,
        unlisted_proxy: "",
      });
      const channel = (id: number, fields: object) => ({ id, type: 1, name: `c${id}`, created_time: 1, ...fields });
      await db.q
        .insert(channels)
        .values([
          channel(901, { balance: 0.5, balance_updated_time: 1 }),
          channel(902, { balance: 0 }),
          channel(903, { balance: 0, balance_updated_time: 1, status: 3 }),
          channel(904, { balance: 7, balance_updated_time: 1 }),
        ]);
      const now = Math.floor(h.services.now() / 1000);
      const tested = (request_id: string, id: number, end_reason: string, age: number) => ({
        request_id,
        type: LOG_TYPE.consume,
        created_at: now - age,
        user_id: 1,
        channel: id,
        end_reason,
        folded: FOLDED.never,
      });
      await db.q
        .insert(logs)
        .values([
          tested("w1", 901, "upstream_error", 60),
          tested("w2", 901, "complete", 90),
          tested("w3", 902, "complete", 60),
          tested("w4", 902, "upstream_error", 90),
          tested("w5", 903, "upstream_error", 60),
          tested("w6", 904, "upstream_error", 90_000),
        ]);
      await db.q.insert(withdrawals).values(
        ["pending", "pending", "paid"].map((status) => ({
          user_id: 1,
          amount: 1,
          account: "x",
          status,
          created_at: 1,
        })),
      );
      expect(await admin.call.dashboard.attention()).toEqual({
        channels: 4,
        auto_disabled: 1,
        low_balances: 1,
        failing_tests: 1,
        unpriced_models: [],
        withdrawals: 2,
        unlisted_proxy: "",
      });
      await expect(people[0]?.call.dashboard.attention()).rejects.toThrow();
      await db.q.delete(logs).where(inArray(logs.request_id, ["w1", "w2", "w3", "w4", "w5", "w6"]));
      await db.q.delete(channels).where(inArray(channels.id, [901, 902, 903, 904]));
    });

    test("after a fold every total, column, series and place is what the log adds up to, in every time zone", async () => {
      const roll = dice(11);
      const zones = ["UTC", "Asia/Shanghai", "Europe/Berlin", "America/Los_Angeles", "Asia/Kathmandu"];
      for (let round = 0; round < 24; round++) {
        const group_by = DIMENSIONS[round % DIMENSIONS.length] ?? "model";
        const granularity = GRANULARITIES[round % GRANULARITIES.length] ?? "day";
        const measure = MEASURES[roll(MEASURES.length)] ?? "quota";
        const time_zone = zones[roll(zones.length)] ?? "UTC";
        const from = START + roll(10 * DAY);
        const until = from + 1 + roll(10 * DAY);
        const view = await ask({
          start_timestamp: from,
          end_timestamp: until,
          group_by,
          granularity,
          measure,
          time_zone,
        });
        expect([view.start % HOUR, view.end % HOUR]).toEqual([0, 0]);
        const inside = rows.filter((row) => row.created_at >= view.start && row.created_at < view.end);
        // spec: C-201, C-202
        expect(view.totals).toEqual(add(inside.map(sumsOf)));
        const range = { start_timestamp: from, end_timestamp: until };
        expect(await admin.call.dashboard.totals(range)).toEqual(view.totals);
        const ranked = await admin.call.dashboard.ranking({ ...range, group_by, measure });
        expect(ranked.map((item) => item[measure])).toEqual(view.items.map((item) => item[measure]));

        for (const item of [...view.items, ...ranked])
          expect(add(inside.filter((row) => KEY[group_by](row) === item.key).map(sumsOf))).toMatchObject(pick(item));
        const places = view.items.map((item) => item[measure]);
        expect(places).toEqual(places.toSorted((a, b) => b - a));
        const counted = new Set(
          inside
            .filter((row) => row.folded !== FOLDED.never && row.type !== LOG_TYPE.topup && row.type !== LOG_TYPE.system)
            .map(KEY[group_by]),
        );
        expect(view.items.length).toBe(Math.min(MAX_RANKED, counted.size));

        const series = view.items.slice(0, MAX_SERIES).map((item) => item.key);
        const periods = Map.groupBy(inside, (row) => periodOf(granularity, time_zone, row.created_at));
        let end = view.start;
        for (const bucket of view.buckets) {
          expect(bucket.start).toBe(end);
          end = bucket.end;
          const period = periods.get(periodOf(granularity, time_zone, bucket.start)) ?? [];
          const parts = [
            ...series.map((key) => period.filter((row) => KEY[group_by](row) === key)),
            period.filter((row) => !series.includes(KEY[group_by](row))),
          ];
          expect(bucket.parts).toEqual(parts.map((list) => add(list.map(sumsOf))));
        }
        expect(end).toBe(view.end);
      }
    });

    test("an administrator sees one user alone by name, and nothing for an unknown name", async () => {
      const one = people[3]?.ctx.actor;
      const view = await ask({ username: ` ${one?.username} ` });
      expect(view.totals).toEqual(add(rows.filter((row) => row.user_id === one?.id).map(sumsOf)));
      for (const username of ["nobody", "%", "' OR 1=1 --", "a\u0000b"])
        expect((await ask({ username })).totals).toEqual(NOTHING);
    });

    test("users see their own consumption by model, token and group, never users or channels, and no other user's", async () => {
      const [ann] = people;
      if (!ann) throw new Error("nobody");
      const range = { start_timestamp: START, end_timestamp: START + 21 * DAY, granularity: "day" } as const;
      const own = rows.filter((row) => row.user_id === ann.ctx.actor.id);
      for (const group_by of ["model", "token", "group"] as const) {
        expect((await ann.call.dashboard.own({ ...range, group_by })).totals).toEqual(add(own.map(sumsOf)));
      }
      expect(await ann.call.dashboard.ownTotals(range)).toEqual(add(own.map(sumsOf)));
      // @ts-expect-error what a script may send all the same
      await expect(ann.call.dashboard.own({ ...range, group_by: "channel" })).rejects.toThrow();
      // @ts-expect-error as above
      const narrowed = await ann.call.dashboard.own({ ...range, username: people[1]?.ctx.actor.username });
      expect(narrowed.totals).toEqual(add(own.map(sumsOf)));
      await expect(ann.call.dashboard.view(range)).rejects.toThrow();
      await expect(ann.call.dashboard.totals(range)).rejects.toThrow();
      await expect(ann.call.dashboard.ranking({ ...range, group_by: "model" })).rejects.toThrow();
      for (const path of ["/api/data/", "/api/data/users"])
        expect((await ann.rest("GET", path)).body.success).toBe(false);
      expect((await h.guest.rest("GET", "/api/data/self")).status).toBe(401);
    });

    test("users, tokens and channels have the name of now", async () => {
      const { q, t } = h.services.db;
      await q.insert(t.channels).values({ id: 2, type: 1, name: "Two", created_time: 1 }).returning();
      const channels = (await ask({ group_by: "channel" })).items;
      expect(Object.fromEntries(channels.map((item) => [item.key, item.label]))).toEqual({
        "": "",
        1: "",
        2: "Two",
        3: "",
      });
      const users = (await ask({ group_by: "user" })).items;
      expect(new Set(users.map((item) => item.label))).toEqual(
        new Set(people.map((person) => person.ctx.actor.username)),
      );
      const tokens = (await ask({ group_by: "token" })).items;
      expect(tokens.length).toBe(MAX_RANKED);
      const [first, second] = tokens;
      const owner = people[0]?.ctx.actor;
      const row = { user_id: owner?.id ?? 0, key_cipher: "x", key_hint: "x", created_time: 1 };
      await q
        .insert(t.tokens)
        .values({ ...row, id: Number(first?.key), name: "mine", key_hash: "k9" })
        .returning();
      const [now, other] = (await ask({ group_by: "token" })).items;
      expect(now).toMatchObject({ key: first?.key, quota: first?.quota, label: "mine", owner: owner?.username });
      expect(other).toEqual(second);
    });

    test("ranges that are empty, backwards, too long or not numbers are refused with a reason", async () => {
      const refused = async (query: Partial<DashboardQuery>) =>
        await ask(query).then(
          () => "answered",
          (error: Error) => error.message,
        );
      expect(await refused({ end_timestamp: START })).not.toBe("answered");
      expect(await refused({ end_timestamp: START - DAY })).not.toBe("answered");
      expect(await refused({ end_timestamp: START + 500 * DAY })).toBe("The range may span 366 days at most");
      expect(await refused({ end_timestamp: START + 60 * DAY, granularity: "hour" })).toBe(
        "The range may span 31 days at most",
      );
      expect(await refused({ end_timestamp: 1e300 })).not.toBe("answered");
      expect(await refused({ end_timestamp: Number.NaN })).not.toBe("answered");
      expect(await refused({ time_zone: "Mars/Olympus" })).not.toBe("answered");
      expect(await refused({ start_timestamp: 0, end_timestamp: 1, time_zone: "Asia/Shanghai" })).toBe("answered");
    });

    test("GET /api/data/ answers hours of models in the shape that existing front-ends add up, of all users or of one", async () => {
      const range = `start_timestamp=${START}&end_timestamp=${START + 21 * DAY}&default_time=hour`;
      const { body } = await admin.rest("GET", `/api/data/?username=&${range}`);
      expect(body).toMatchObject({ success: true, message: "" });
      const total = add(rows.map(sumsOf));
      const added = (list: { quota: number; count: number; token_used: number }[]) =>
        list.reduce(
          (a, b) => ({ quota: a.quota + b.quota, count: a.count + b.count, tokens: a.tokens + b.token_used }),
          { quota: 0, count: 0, tokens: 0 },
        );
      // spec: C-202
      expect(added(body.data)).toEqual({ quota: total.quota, count: total.count, tokens: total.tokens });
      // spec: C-202
      expect(Object.keys(body.data[0]).toSorted()).toEqual([
        "count",
        "created_at",
        "id",
        "model_name",
        "quota",
        "token_used",
        "user_id",
        "username",
      ]);
      const hours = body.data.map((row: { created_at: number }) => row.created_at);
      expect(hours.every((hour: number) => hour % HOUR === 0)).toBe(true);
      expect(hours).toEqual(hours.toSorted((a: number, b: number) => a - b));

      const one = people[5]?.ctx.actor;
      const own = add(rows.filter((row) => row.user_id === one?.id).map(sumsOf));
      const theirs = (await admin.rest("GET", `/api/data?username=${one?.username}&${range}`)).body.data;
      const mine = (await people[5]?.rest("GET", `/api/data/self/?username=${people[1]?.ctx.actor.username}&${range}`))
        ?.body.data;
      expect(mine).toEqual(theirs);
      // spec: C-202
      expect(added(mine)).toEqual({ quota: own.quota, count: own.count, tokens: own.tokens });
      expect(mine[0]).toMatchObject({ user_id: one?.id, username: one?.username });

      const users = (await admin.rest("GET", `/api/data/users?${range}`)).body.data;
      expect(added(users)).toEqual({ quota: total.quota, count: total.count, tokens: total.tokens });
      expect(new Set(users.map((row: { username: string }) => row.username)).size).toBe(12);
    });

    test("GET /api/data/self refuses more than 30 days, and takes a missing number as the last 30", async () => {
      const [ann] = people;
      const answer = async (query: string) => (await ann?.rest("GET", `/api/data/self?${query}`))?.body;
      expect(await answer(`start_timestamp=${START}&end_timestamp=${START + 30 * DAY}`)).toMatchObject({
        success: true,
      });
      expect(await answer(`start_timestamp=${START}&end_timestamp=${START + 30 * DAY + 1}`)).toMatchObject({
        success: false,
        message: "时间跨度不能超过 30 天",
      });
      for (const query of [
        "",
        "start_timestamp=NaN&end_timestamp=NaN",
        "start_timestamp=&end_timestamp=",
        "start_timestamp=-5&end_timestamp=1e99",
      ]) {
        expect(await answer(query)).toMatchObject({ success: true, data: [] });
      }
      expect(await answer(`start_timestamp=${START + DAY}&end_timestamp=${START}`)).toMatchObject({
        success: true,
        data: [],
      });
    });

    test("while the operator has it switched off every route says so", async () => {
      const change = (value: string) => h.services.options.set("DataExportEnabled", value);
      await change("false");
      for (const path of ["/api/data/", "/api/data/users", "/api/data/self"]) {
        // spec: A-215
        expect((await admin.rest("GET", path)).body).toMatchObject({ success: false, message: "管理员关闭了数据看板" });
      }
      await expect(ask({})).rejects.toThrow("switched the data dashboard off");
      await change("true");
      // spec: D-23
      expect((await ask({})).refresh_seconds).toBe(300);
      await h.services.options.set("DataExportInterval", "7");
      // spec: D-23
      expect((await ask({})).refresh_seconds).toBe(420);
      await h.services.options.set("DataExportInterval", "5");
    });
  });
}

const pick = ({ quota, count, error_count, tokens }: Sums): Sums => ({ quota, count, error_count, tokens });
