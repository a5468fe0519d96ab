/**
 * Automatic status, the test of all channels, and balances, against an upstream that behaves as its path and model say.
 */
import { zhText } from "../../../../tests/kit/row-text";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { desc, eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { readStatusInfo } from "../../../shared/channel-operations";
import { LOG_TYPE } from "../../../shared/log";
import { ROLE } from "../../../shared/roles";
import { autoDisable, autoEnable, channelWatch } from "./auto-disable";
import type { ChannelTrouble } from "../../contracts/channel-trouble";
import { updateBalancesWhenDue } from "./balance";
import { startTestRun, testAllWhenDue } from "./test-all";

const KEY = "sk-planted-upstream-key-0123456789";

interface Seen {
  path: string;
  search: string;
  headers: Headers;
  body: any;
}
let seen: Seen[] = [];
/** Answers by path, for billing calls. */
let billing: Record<string, unknown> = {};
/** Slow calls open now, and the most at once. */
let open = 0;
let most = 0;
/** Held calls wait for this. */
let gate = Promise.withResolvers<void>();

const answer = () =>
  Response.json({ choices: [{ message: { content: "hi" } }], usage: { prompt_tokens: 8, completion_tokens: 3 } });
const refuse = (status: number, error: object) => Response.json({ error }, { status });

async function behave(model: string, body: { stream?: boolean }): Promise<Response> {
  if (model === "held") await gate.promise;
  if (model === "slow") await Bun.sleep(120);
  if (model === "hang") await Bun.sleep(2000);
  if (model === "bad-key") return refuse(401, { message: `Incorrect API key ${KEY}`, code: "invalid_api_key" });
  if (model === "server-error") return refuse(500, { message: "oops" });
  if (model === "busy") return refuse(429, { message: "slow down", code: "rate_limit_exceeded" });
  if (model === "keyword") return refuse(403, { message: "permission DENIED for this account" });
  if (model === "mapped-400") return refuse(400, { message: "bad" });
  if (model === "stream-only") {
    if (!body.stream) return refuse(400, { message: "only stream mode is supported" });
    const events = [
      '{"choices":[{"delta":{"content":"hi"}}]}',
      '{"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":2}}',
      "[DONE]",
    ];
    return new Response(events.map((event) => `data: ${event}\n\n`).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  }
  return answer();
}

const upstream: Bun.Server<undefined> = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const body = request.method === "POST" ? ((await request.json()) as any) : undefined;
    seen.push({ path: pathname, search, headers: request.headers, body });
    if (request.method === "GET") {
      const found = billing[pathname];
      if (found instanceof Response) return found.clone();
      return found === undefined ? refuse(404, { message: `no ${pathname}` }) : Response.json(found);
    }
    // Others may have been broken off, which this side does not hear of.
    const counted = body.model === "slow" ? 1 : 0;
    open += counted;
    most = Math.max(most, open);
    try {
      return await behave(body.model, body);
    } finally {
      open -= counted;
    }
  },
});
const BASE = `http://127.0.0.1:${upstream.port}`;
afterAll(() => upstream.stop(true));

for (const engine of ENGINES) {
  describe(`runs over all channels on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    beforeAll(async () => {
      h = await openHarness(engine, { CHANNEL_TEST_FREQUENCY: "10", CHANNEL_UPDATE_FREQUENCY: "10" });
      admin = await h.person({ role: ROLE.admin });
    }, HOOK_MS);
    afterAll(() => h.close());

    const services = () => h.services;
    const option = (key: string, value: string) => services().options.set(key, value);
    beforeEach(async () => {
      const { db } = services();
      await db.q.delete(db.t.channels).returning();
      await db.q.delete(db.t.logs).returning();
      await db.q.delete(db.t.meta).returning();
      await option("AutomaticDisableChannelEnabled", "true");
      await option("AutomaticEnableChannelEnabled", "true");
      await option("ChannelDisableThreshold", "5");
      seen = [];
      billing = {};
      most = 0;
      gate = Promise.withResolvers<void>();
    });
    afterEach(() => gate.resolve());

    const one = async (model: string, fields: object = {}): Promise<number> => {
      const form = { type: 1, name: model, key: KEY, base_url: BASE, models: model, group: "default", ...fields };
      const { body } = await admin.rest("POST", "/api/channel/", form);
      expect(body.message).toBe("");
      return body.data[0].id;
    };
    const get = async (id: number) => (await admin.rest("GET", `/api/channel/${id}`)).body.data;
    const put = (id: number, columns: object) => {
      const { q, t } = services().db;
      return q.update(t.channels).set(columns).where(eq(t.channels.id, id)).returning();
    };
    const systemRows = async () => {
      const { q, t } = services().db;
      return q.select().from(t.logs).where(eq(t.logs.type, LOG_TYPE.system)).orderBy(desc(t.logs.id));
    };
    const tester = () => ({ ...admin.ctx.actor, ip: "" });
    /** Tests all and waits for the end. */
    const testAll = async (timeoutMs?: number) => {
      const { done } = await startTestRun(services(), tester(), timeoutMs);
      await done;
      return (await admin.call.channel.run({ kind: "test" })) ?? undefined;
    };
    /** Waits for background work. */
    const settle = async (condition: () => Promise<boolean>) => {
      for (let i = 0; i < 100 && !(await condition()); i++) await Bun.sleep(10);
    };

    describe("automatic status", () => {
      test("one change and one row of type 4 come of many failures at once, and no call goes there any more", async () => {
        const id = await one("m");
        const reason = { code: "channel_call_refused", values: { status: 401, detail: "no" } } as const;
        const results = await Promise.all(
          Array.from({ length: 10 }, () => autoDisable(services(), { id }, reason, { request_id: "r-1" })),
        );
        expect(results.filter(Boolean)).toHaveLength(1);
        expect(services().pool.candidates("default", "m")).toEqual([]);
        const row = await get(id);
        expect(row.status).toBe(3);
        const info = JSON.parse(row.other_info);
        // spec: C-229
        expect(info.status_reason).toBe("上游拒绝服务（状态码 401）：no");
        // spec: C-229
        expect(Math.abs(info.status_time - Date.now() / 1000)).toBeLessThan(5);
        expect(readStatusInfo(row.other_info, "en")?.reason).toBe("The upstream refused service (status 401): no");
        const [log, ...more] = await systemRows();
        expect(more).toEqual([]);
        // spec: C-333
        expect(log).toMatchObject({ channel: id, channel_name: "m", quota: 0, user_id: 0 });
        expect(zhText(log)).toContain("已被自动禁用");
        expect(log?.code).toBe("channel_auto_disabled");
        expect(JSON.parse(log?.other ?? "")).toMatchObject({ request_id: "r-1" });
      });

      test("without the option, without auto_ban, and for a channel disabled by hand nothing changes", async () => {
        const reason = { code: "channel_call_refused", values: { status: 401, detail: "no" } } as const;
        const [id, spared, manual] = [await one("m"), await one("m", { auto_ban: 0 }), await one("m", { status: 2 })];
        expect(await autoDisable(services(), { id: spared }, reason)).toBe(false);
        expect(await autoDisable(services(), { id: manual }, reason)).toBe(false);
        await option("AutomaticDisableChannelEnabled", "false");
        expect(await autoDisable(services(), { id }, reason)).toBe(false);
        // spec: C-333
        // spec: C-217, C-330
        // spec: A-219
        expect([(await get(id)).status, (await get(spared)).status, (await get(manual)).status]).toEqual([1, 1, 2]);
        expect(await systemRows()).toEqual([]);
      });

      test("only what was disabled automatically is enabled automatically, and only by the option", async () => {
        const [auto, manual] = [await one("m"), await one("m", { status: 2 })];
        await put(auto, { status: 3, other_info: '{"status_reason":"x","status_time":1}' });
        await option("AutomaticEnableChannelEnabled", "false");
        // spec: A-220
        expect(await autoEnable(services(), { id: auto })).toBe(false);
        await option("AutomaticEnableChannelEnabled", "true");
        // spec: C-333
        expect(await autoEnable(services(), { id: manual })).toBe(false);
        // spec: A-220
        expect(await autoEnable(services(), { id: auto })).toBe(true);
        expect(await get(auto)).toMatchObject({ status: 1, other_info: "" });
        expect((await get(manual)).status).toBe(2);
        expect(
          services()
            .pool.candidates("default", "m")
            .map((channel) => channel.id),
        ).toEqual([auto]);
        // spec: C-333
        expect((await systemRows()).map((row) => row.code)).toEqual(["channel_auto_enabled"]);
      });

      test("a reported failure disables by the failure table or a keyword, once; others change nothing", async () => {
        const watch = channelWatch(services());
        const ids = [await one("a"), await one("b"), await one("c"), await one("d", { auto_ban: 0 })];
        const report = (i: number, trouble: Partial<ChannelTrouble>) => {
          const found = services().pool.byId(ids[i] ?? 0);
          if (!found) throw new Error("not in the pool");
          watch(found.channel, { status: 403, disable: false, message: "", ...trouble });
        };
        for (let i = 0; i < 5; i++)
          report(0, { status: 401, disable: true, message: "gone", request_id: "req-9", model: "a" });
        report(1, { message: "YOU EXCEEDED YOUR CURRENT QUOTA, please" });
        report(2, { status: 500, message: "something else" });
        report(3, { status: 401, disable: true });
        const statuses = async () => Promise.all(ids.map(async (id) => (await get(id)).status));
        await settle(async () => (await systemRows()).length === 2);
        expect(await statuses()).toEqual([3, 3, 1, 1]);
        expect(await systemRows()).toHaveLength(2);
      });
    });

    describe("test all", () => {
      test("answers at once, refuses a second start while it runs, and says how far it is", async () => {
        const held = await one("held");
        const other = await one("m");
        const started = performance.now();
        const { body } = await admin.rest("GET", "/api/channel/test");
        expect(performance.now() - started).toBeLessThan(2000);
        // spec: C-510, C-511
        expect(body).toMatchObject({
          success: true,
          data: { kind: "test", running: true, total: 2, done: 0, started_by: admin.ctx.actor.username },
        });
        // spec: C-511
        expect((await admin.rest("GET", "/api/channel/test")).body).toMatchObject({
          success: false,
          message: "测试已在运行中，请稍后再试",
          code: "channel_test_running",
        });
        await settle(async () => (await admin.call.channel.run({ kind: "test" }))?.done === 1);
        expect(await admin.call.channel.run({ kind: "test" })).toMatchObject({
          running: true,
          done: 1,
          ok: 1,
          finished_at: 0,
        });
        gate.resolve();
        await settle(async () => (await admin.call.channel.run({ kind: "test" }))?.running === false);
        expect(await admin.call.channel.run({ kind: "test" })).toMatchObject({
          running: false,
          total: 2,
          done: 2,
          ok: 2,
          failed: 0,
        });
        // spec: C-061
        for (const id of [held, other]) expect((await get(id)).response_time).toBeGreaterThan(0);
        expect((await admin.rest("GET", "/api/channel/test")).body.success).toBe(true);
        await settle(async () => (await admin.call.channel.run({ kind: "test" }))?.running === false);
      });

      test("a run whose process died does not look alive, and one that ended is read by all", async () => {
        const { db } = services();
        const dead = {
          id: "x",
          kind: "test",
          started_by: "",
          started_at: 1,
          finished_at: 0,
          updated_at: 1,
          total: 9,
          done: 1,
        };
        await db.q.insert(db.t.meta).values({ name: "channel-run:test", value: JSON.stringify(dead) });
        expect(await admin.call.channel.run({ kind: "test" })).toMatchObject({ running: false, done: 1 });
        expect(await admin.call.channel.run({ kind: "balance" })).toBeNull();
      });

      test("at most eight are called at a time, each once; those disabled by hand are not called", async () => {
        for (let i = 0; i < 30; i++) await one("slow");
        await one("manual", { status: 2 });
        expect(await testAll()).toMatchObject({ total: 30, done: 30, ok: 30 });
        expect(most).toBe(8);
        // spec: C-511
        expect(seen.map((call) => call.body.model)).toEqual(Array(30).fill("slow"));
      });

      test("bad credentials and keyword answers disable; server errors, bursts and switched-off options do not", async () => {
        const ids: Record<string, number> = {};
        for (const model of ["bad-key", "keyword", "server-error", "busy", "fine"]) ids[model] = await one(model);
        ids.spared = await one("bad-key", { auto_ban: 0 });
        expect(await testAll()).toMatchObject({ ok: 1, failed: 5, disabled: 2 });
        const status = async (name: string) => (await get(ids[name] ?? 0)).status;
        // spec: A-219
        expect([await status("bad-key"), await status("keyword")]).toEqual([3, 3]);
        for (const name of ["server-error", "busy", "fine", "spared"]) expect(await status(name)).toBe(1);
        const { other_info } = await get(ids["bad-key"] ?? 0);
        expect(JSON.parse(other_info).status_reason).toBe("测试失败：HTTP 401: Incorrect API key [key]");
        await put(ids["bad-key"] ?? 0, { status: 1 });
        await option("AutomaticDisableChannelEnabled", "false");
        expect(await testAll()).toMatchObject({ disabled: 0 });
        expect(await status("bad-key")).toBe(1);
      });

      test("the channel's status mapping is judged, not the upstream's own status", async () => {
        const id = await one("mapped-400", { status_code_mapping: '{"400":"401"}' });
        await testAll();
        // spec: C-214
        expect((await get(id)).status).toBe(3);
      });

      test("slow channels are disabled by threshold, option and auto_ban together; a threshold of 0 never does", async () => {
        const [id, spared] = [await one("slow"), await one("slow", { auto_ban: 0 })];
        const status = async () => [(await get(id)).status, (await get(spared)).status];
        await option("ChannelDisableThreshold", "0");
        await testAll();
        // spec: C-333
        // spec: A-218
        expect(await status()).toEqual([1, 1]);
        await option("ChannelDisableThreshold", "0.05");
        await option("AutomaticDisableChannelEnabled", "false");
        await testAll();
        // spec: C-333
        expect(await status()).toEqual([1, 1]);
        await option("AutomaticDisableChannelEnabled", "true");
        // spec: C-333
        // spec: C-331
        expect(await testAll()).toMatchObject({ ok: 2, disabled: 1 });
        // spec: C-217, C-331
        // spec: A-218
        expect(await status()).toEqual([3, 1]);
        expect(readStatusInfo((await get(id)).other_info, "en")?.reason).toMatch(
          /^It answered after 0\.\d\d s; the limit is 0\.05 s$/,
        );
        // Slow is not recovered.
        expect(await testAll()).toMatchObject({ enabled: 0 });
        expect(await status()).toEqual([3, 1]);
      });

      test("a channel that recovered is enabled again; one that still fails is not", async () => {
        const [well, ill] = [await one("fine"), await one("server-error")];
        for (const id of [well, ill]) await put(id, { status: 3, other_info: '{"status_reason":"x","status_time":1}' });
        expect(await testAll()).toMatchObject({ enabled: 1, ok: 1, failed: 1 });
        // spec: C-332
        // spec: A-220
        expect([(await get(well)).status, (await get(ill)).status]).toEqual([1, 3]);
        expect(
          services()
            .pool.candidates("default", "fine")
            .map((channel) => channel.id),
        ).toEqual([well]);
      });

      test("a channel that hangs ends at its deadline and delays no other; untestable types are skipped, unreadable keys fail", async () => {
        await option("ChannelDisableThreshold", "0");
        const hanging = await one("hang");
        await one("fine");
        await one("mj", { type: 2 });
        await put(await one("lost"), { key_cipher: "k1.AAAA.BBBB" });
        const started = performance.now();
        // spec: C-511
        expect(await testAll(150)).toMatchObject({ total: 4, done: 4, ok: 1, failed: 2, skipped: 1, disabled: 0 });
        expect(performance.now() - started).toBeLessThan(1900);
        expect((await get(hanging)).response_time).toBeGreaterThanOrEqual(150);
      });

      test("a channel that only streams is tested by a stream", async () => {
        const id = await one("stream-only");
        expect((await admin.rest("GET", `/api/channel/test/${id}`)).body).toMatchObject({ success: true });
        expect(seen.map((call) => call.body.stream)).toEqual([undefined, true]);
        const { q, t } = services().db;
        const [row] = await q.select().from(t.logs).where(eq(t.logs.channel, id));
        expect(row).toMatchObject({ prompt_tokens: 4, completion_tokens: 2, quota: 0 });
      });

      test("a test of one channel by hand does not change its status", async () => {
        const id = await one("bad-key");
        expect((await admin.rest("GET", `/api/channel/test/${id}`)).body.success).toBe(false);
        expect((await get(id)).status).toBe(1);
      });

      test("the timer starts a run when the minutes have passed since the last, and never two", async () => {
        const id = await one("fine");
        const finished = async () => (await admin.call.channel.run({ kind: "test" }))?.running === false;
        await Promise.all([testAllWhenDue(services()), testAllWhenDue(services())]);
        await settle(finished);
        expect(seen).toHaveLength(1);
        await testAllWhenDue(services());
        expect(seen).toHaveLength(1);
        h.advance(601);
        await testAllWhenDue(services());
        await settle(finished);
        expect(seen).toHaveLength(2);
        const { q, t } = services().db;
        const [row] = await q.select().from(t.logs).where(eq(t.logs.channel, id));
        expect(row).toMatchObject({ user_id: 0, username: "", quota: 0 });
      });
    });

    describe("balances", () => {
      const update = async (id: number) => (await admin.rest("GET", `/api/channel/update_balance/${id}/`)).body;
      const today = () => new Date(services().now()).toISOString().slice(0, 10);

      test("the balance of another gateway or OpenAI is the limit less what was used, this month or 100 days back", async () => {
        const id = await one("m");
        billing["/v1/dashboard/billing/subscription"] = { hard_limit_usd: 120.5, has_payment_method: true };
        billing["/v1/dashboard/billing/usage"] = { total_usage: 2050 };
        // spec: C-512
        expect(await update(id)).toMatchObject({ success: true, message: "", balance: 100, currency: "USD" });
        expect(seen.at(-1)?.search).toBe(`?start_date=${today().slice(0, 7)}-01&end_date=${today()}`);
        expect(seen.at(-1)?.headers.get("authorization")).toBe(`Bearer ${KEY}`);
        expect(await get(id)).toMatchObject({ balance: 100, balance_updated_time: expect.any(Number) });
        // spec: C-226
        expect((await get(id)).balance_updated_time).toBeGreaterThan(1_700_000_000);
        billing["/v1/dashboard/billing/subscription"] = { hard_limit_usd: 1, has_payment_method: false };
        await update(id);
        const back = new Date(services().now() - 100 * 86_400_000).toISOString().slice(0, 10);
        expect(seen.at(-1)?.search).toStartWith(`?start_date=${back}&`);
      });

      test("every kind of the registry is read in its vendor's format", async () => {
        const cases: [type: number, path: string, answer: object, balance: number, currency: string][] = [
          [10, "/api/report/getUserOverview", { success: true, data: { totalPoints: 12.5 } }, 12.5, "points"],
          [12, "/dashboard/billing/credit_grants", { total_granted: 9, total_remaining: 4.25 }, 4.25, "USD"],
          [13, "/dashboard/billing/credit_grants", { total_available: 3.5, total_used: 1 }, 3.5, "USD"],
          [20, "/v1/credits", { data: { total_credits: 100.5, total_usage: 25.75 } }, 74.75, "USD"],
          [
            25,
            "/v1/users/me/balance",
            { code: 0, data: { available_balance: 49.58894, voucher_balance: 46, cash_balance: 3 }, status: true },
            49.58894,
            "USD",
          ],
          [
            40,
            "/v1/user/info",
            { code: 20000, status: true, data: { balance: "0.88", chargeBalance: "88.00", totalBalance: "88.88" } },
            88.88,
            "USD",
          ],
          [
            43,
            "/user/balance",
            {
              is_available: true,
              balance_infos: [
                { currency: "USD", total_balance: "3" },
                { currency: "CNY", total_balance: "110.00" },
              ],
            },
            110,
            "CNY",
          ],
          [
            43,
            "/user/balance",
            { is_available: true, balance_infos: [{ currency: "USD", total_balance: "3.50" }] },
            3.5,
            "USD",
          ],
        ];
        for (const [type, path, body, balance, currency] of cases) {
          billing = { [path]: body };
          const id = await one("m", { type });
          // spec: C-512
          expect(await update(id)).toMatchObject({ success: true, message: "", balance, currency });
          expect((await get(id)).balance).toBe(balance);
        }
        expect(seen.find((call) => call.path === "/api/report/getUserOverview")?.headers.get("api-key")).toBe(KEY);
      });

      test("a custom channel's balance is fetched beside its complete URL", async () => {
        billing["/proxy/v1/dashboard/billing/subscription"] = { hard_limit_usd: 2 };
        billing["/proxy/v1/dashboard/billing/usage"] = { total_usage: 50 };
        const id = await one("m", { type: 8, base_url: `${BASE}/proxy/v1/chat/completions` });
        expect(await update(id)).toMatchObject({ success: true, balance: 1.5 });
      });

      test("types without a balance say so, and answers of another shape are an error without the key", async () => {
        const id = await one("m", { type: 14 });
        const plan = await one("m", { type: 25, base_url: "kimi-coding-plan" });
        for (const none of [id, plan])
          // spec: C-514
          expect(await update(none)).toMatchObject({ success: false, message: "该类型渠道不支持查询余额" });
        const refused = await one("m");
        billing["/v1/dashboard/billing/subscription"] = refuse(401, { message: `bad ${KEY}` });
        expect(await update(refused)).toMatchObject({ success: false, message: "查询余额失败：HTTP 401: bad [key]" });
        for (const body of [
          new Response("<html>hello</html>"),
          {},
          { hard_limit_usd: "x" },
          null,
          [],
          { hard_limit_usd: 1 },
        ]) {
          billing["/v1/dashboard/billing/subscription"] = body;
          expect((await update(refused)).code).toBe("channel_balance_failed");
        }
        expect(await update(await one("m", { base_url: "http://127.0.0.1:1" }))).toMatchObject({
          message: "查询余额失败：ECONNREFUSED",
        });
        expect((await admin.rest("GET", "/api/channel/update_balance/999999")).body.code).toBe("channel_not_found");
        expect(await get(refused)).toMatchObject({ balance: 0, balance_updated_time: 0, status: 1 });
      });

      test("nothing left disables only where the option and auto_ban allow it", async () => {
        billing["/v1/credits"] = { data: { total_credits: 5, total_usage: 5 } };
        const [id, spared] = [await one("m", { type: 20 }), await one("m", { type: 20, auto_ban: 0 })];
        await option("AutomaticDisableChannelEnabled", "false");
        await update(id);
        // spec: C-514
        expect((await get(id)).status).toBe(1);
        await option("AutomaticDisableChannelEnabled", "true");
        for (const channel of [id, spared]) await update(channel);
        // spec: C-514
        expect([(await get(id)).status, (await get(spared)).status]).toEqual([3, 1]);
        expect(JSON.parse((await get(id)).other_info).status_reason).toBe("余额不足：0");
      });

      test("all at once: enabled channels that have a balance; the rest are skipped, a failing one fails alone", async () => {
        billing["/v1/credits"] = { data: { total_credits: 5, total_usage: 1 } };
        const [a, b] = [await one("m", { type: 20 }), await one("m", { type: 20 })];
        const off = await one("m", { type: 20, status: 2 });
        await one("m", { type: 14 });
        await one("m", { type: 43 });
        const { body } = await admin.rest("GET", "/api/channel/update_balance");
        // spec: C-513, C-514
        expect(body).toMatchObject({
          success: true,
          data: { kind: "balance", running: false, total: 4, ok: 2, failed: 1, skipped: 1, disabled: 0 },
        });
        // spec: C-513
        // spec: C-062
        expect([(await get(a)).balance, (await get(b)).balance, (await get(off)).balance]).toEqual([4, 4, 0]);
      });

      test("the timer updates when it is due", async () => {
        billing["/v1/credits"] = { data: { total_credits: 5, total_usage: 1 } };
        const id = await one("m", { type: 20 });
        await updateBalancesWhenDue(services());
        await settle(async () => (await admin.call.channel.run({ kind: "balance" }))?.running === false);
        expect((await get(id)).balance).toBe(4);
        await updateBalancesWhenDue(services());
        expect(seen).toHaveLength(1);
      });
    });

    test("a process that stops ends its runs, and disables no channel for the calls it aborted", async () => {
      const other = await openHarness(engine);
      const root = await other.person({ role: ROLE.admin });
      await other.services.options.set("AutomaticDisableChannelEnabled", "true");
      await root.rest("POST", "/api/channel/", { type: 1, name: "held", key: "k", base_url: BASE, models: "held" });
      await startTestRun(other.services, { id: 1, username: "", group: "", ip: "" });
      await Bun.sleep(50);
      await other.services.background.stop();
      expect((await root.call.channel.list({})).items[0]).toMatchObject({ status: 1, response_time: 0, test_time: 0 });
      expect(await root.call.channel.run({ kind: "test" })).toMatchObject({ running: false, total: 1, done: 0 });
      await other.close();
    });
  });
}
