/** The total of the log, from roll-ups, is the sum of the listed rows, for any range, filter and type of row. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { fold } from "../../src/server/features/log/fold";
import { cleanLogs } from "../../src/server/features/log/clean";
import { sliceLogs } from "../../src/server/features/log/service";
import { logHistogram } from "../../src/server/features/log/histogram";
import { logCauses } from "../../src/server/features/log/causes";
import { logStat } from "../../src/server/features/log/stat";
import { LOG_TYPE } from "../../src/shared/log";
import { HISTOGRAM_BARS, type LogFilter, type LogHistogram } from "../../src/shared/log-list";
import { ROLE } from "../../src/shared/roles";
import { ENGINES } from "../kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../kit/harness";

const HOUR = 3600;

const sum = ({ bars }: LogHistogram, part?: "errors"): number =>
  bars.reduce((all, { errors, others }) => all + errors + (part ? 0 : others), 0);

describe.each(ENGINES)("totals of the log on %s", (engine) => {
  let h: Harness;
  let admin: Person;
  let ann: Person;
  let end = 0;

  /** As the list shows it. */
  const listed = async (person: Person, scope: "all" | "own", filter: LogFilter): Promise<number> => {
    const { items } = await sliceLogs(person.ctx, scope, { ...filter, type: LOG_TYPE.consume, limit: 1000 });
    return items.reduce((sum, { quota }) => sum + quota, 0);
  };

  beforeAll(async () => {
    h = await openHarness(engine);
    [admin, ann] = await Promise.all([h.person({ role: ROLE.root }), h.person()]);
    end = Math.floor(h.services.now() / 1000);
    const { logs, tokens } = h.services.db.t;
    await h.services.db.q.insert(tokens).values({
      id: 5,
      user_id: ann.ctx.actor.id,
      name: "five",
      key_hash: "5",
      key_cipher: "x",
      key_hint: "x",
      created_time: 1,
    });
    // Every kind of row, spread over 50 hours: charges, refunds, errors, charges that are not listed, channel tests.
    const rows = Array.from({ length: 600 }, (_, i) => {
      const who = i % 3 === 0 ? admin : ann;
      const type = i % 11 === 0 ? LOG_TYPE.refund : i % 13 === 0 ? LOG_TYPE.error : LOG_TYPE.consume;
      return {
        request_id: `t${i}`,
        created_at: end - i * 300,
        type,
        user_id: who.ctx.actor.id,
        username: who.ctx.actor.username,
        token_id: i % 7,
        token_name: `t${i % 7}`,
        channel: i % 5,
        model_name: `model-${i % 4}`,
        group: i % 2 ? "vip" : "default",
        quota: type === LOG_TYPE.error ? 0 : 100 + i,
        visible: i % 17 !== 0,
        folded: i % 19 === 0 ? 2 : 0,
      };
    });
    await h.services.db.q.insert(logs).values(rows);
  }, HOOK_MS);
  afterAll(() => h.close());

  const filters = (): [string, LogFilter][] => [
    ["nothing", {}],
    [
      "whole hours",
      { start_timestamp: end - (end % HOUR) - 20 * HOUR, end_timestamp: end - (end % HOUR) - 5 * HOUR - 1 },
    ],
    ["parts of hours", { start_timestamp: end - 30 * HOUR - 777, end_timestamp: end - 3 * HOUR - 55 }],
    ["less than an hour", { start_timestamp: end - 2000, end_timestamp: end - 500 }],
    ["dates out of order", { start_timestamp: end, end_timestamp: end - 9 * HOUR }],
    ["a channel", { channel: 3 }],
    ["a model", { model_name: "DEL-1" }],
    ["a group since yesterday", { group: "vip", start_timestamp: end - 24 * HOUR }],
    ["a token", { token_id: 4 }],
    ["a token by name", { token_name: "five" }],
    ["a user", { username: ann.ctx.actor.username, start_timestamp: end - 40 * HOUR - 9 }],
    ["a channel, a model and a group", { channel: 2, model_name: "model-2", group: "default" }],
    ["a keyword", { keyword: "del-3" }],
    ["a request", { request_id: "t4" }],
  ];
  const compare = async () => {
    for (const [name, filter] of filters()) {
      // spec: C-360, C-551
      expect([name, (await logStat(admin.ctx, "all", filter)).quota]).toEqual([
        name,
        await listed(admin, "all", filter),
      ]);
      // spec: C-360, C-551
      expect([name, (await logStat(ann.ctx, "own", filter)).quota]).toEqual([name, await listed(ann, "own", filter)]);
    }
  };

  test("before the fold, after it, and when its hours are added up", async () => {
    await compare();
    await fold({ ...h.services, now: () => (end - 60 * HOUR) * 1000 });
    await compare();
    await fold(h.services);
    expect(await h.services.db.q.$count(h.services.db.t.usage_sums)).toBeGreaterThan(100);
    await compare();
  }, 60_000);

  test("the chart above the list counts every row of it, failed calls apart, whatever the filter", async () => {
    for (const [name, filter] of filters()) {
      if (name === "dates out of order") continue;
      for (const [person, scope] of [
        [admin, "all"],
        [ann, "own"],
      ] as const) {
        const { items } = await sliceLogs(person.ctx, scope, { ...filter, limit: 1000 });
        const chart = await logHistogram(person.ctx, scope, filter);
        expect([name, scope, chart.bars.length <= HISTOGRAM_BARS, sum(chart)]).toEqual([
          name,
          scope,
          true,
          items.length,
        ]);
        expect(sum(chart, "errors")).toBe(items.filter(({ type }) => type === LOG_TYPE.error).length);
        const newest = items[0];
        if (!newest) continue;
        const at = Math.floor((newest.created_at - chart.start) / chart.step);
        expect(chart.bars.findLastIndex(({ errors, others }) => errors + others > 0)).toBe(at);
      }
    }
  }, 60_000);

  test("of very many rows the chart counts whole hours, and where these do not know the filter the newest rows", async () => {
    const [folded] = await h.services.db.q
      .select({ n: sql<number>`sum("count" + error_count)`.mapWith(Number) })
      .from(h.services.db.t.usage_hourly);
    const hours = await logHistogram(admin.ctx, "all", { start_timestamp: end - 50 * HOUR }, 5);
    expect([hours.step, sum(hours), hours.counted_from]).toEqual([HOUR, folded?.n ?? 0, undefined]);
    const failed = await logHistogram(admin.ctx, "all", { start_timestamp: end - 50 * HOUR, type: LOG_TYPE.error }, 5);
    expect([sum(failed), failed.counted_from]).toEqual([sum(hours, "errors"), undefined]);
    const searched = await logHistogram(admin.ctx, "all", { keyword: "model" }, 5);
    expect(sum(searched)).toBe(5);
    expect(searched.counted_from).toBeGreaterThan(end - 3 * HOUR);
    const refunds = await logHistogram(ann.ctx, "own", { type: LOG_TYPE.refund }, 5);
    expect([sum(refunds), refunds.counted_from !== undefined]).toEqual([5, true]);
  }, 60_000);

  test("failed calls are told by cause: how many, since when, and the newest call of each as its reader may see it", async () => {
    const { logs } = h.services.db.t;
    const failed = (i: number, fields: object) => ({
      request_id: `cause${i}`,
      created_at: end - i,
      type: LOG_TYPE.error,
      user_id: ann.ctx.actor.id,
      username: ann.ctx.actor.username,
      channel: 4,
      group: "causes",
      folded: 1,
      ...fields,
    });
    await h.services.db.q
      .insert(logs)
      .values([
        failed(1, { code: "model_price_missing", model_name: "a", params: '{"model":"a"}' }),
        failed(2, { code: "model_price_missing", model_name: "a", params: '{"model":"a"}', repeated: 3 }),
        failed(3, { code: "model_price_missing", model_name: "b", params: '{"model":"b"}' }),
        failed(4, { code: "insufficient_token_quota", model_name: "a", token_id: 5 }),
        failed(5, { code: "insufficient_token_quota", model_name: "b", token_id: 5 }),
        failed(6, { code: "", content: "an older release's text" }),
      ]);
    const told = await logCauses(admin.ctx, "all", { group: "causes" });
    expect(told).toMatchObject({ causes: 4, calls: 9, since: end - 6, complete: true });
    expect(told.items.map(({ calls, since, row }) => [row.request_id, calls, end - since])).toEqual([
      ["cause1", 5, 2],
      ["cause4", 2, 5],
      ["cause3", 1, 3],
      ["cause6", 1, 6],
    ]);
    expect(told.items[0]?.row).toMatchObject({ channel: 4, code: "model_price_missing" });
    const own = await logCauses(ann.ctx, "own", { group: "causes" });
    expect([own.calls, own.items[0]?.row.channel]).toEqual([9, 0]);
    expect(await logCauses(admin.ctx, "own", { group: "causes" })).toMatchObject({ causes: 0, calls: 0, items: [] });
    await h.services.db.q.delete(logs).where(eq(logs.group, "causes"));
  }, 60_000);

  test("after a cleanup that ended within an hour", async () => {
    await cleanLogs(h.services, end - 25 * HOUR - 1234, "root");
    await compare();
  }, 60_000);
});
