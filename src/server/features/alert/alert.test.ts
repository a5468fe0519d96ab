import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { desc, eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { until } from "../../../../tests/kit/until";
import type { AlertRule } from "../../../shared/alert-rules";
import { LOG_TYPE } from "../../../shared/log";
import { ROLE } from "../../../shared/roles";
import type { Q } from "../../db/types";
import { periodsAt } from "../limit/periods";
import { createAlertQueue } from "./deliver";
import { evaluate } from "./evaluate";
import {
  closeIncidents,
  type Finding,
  muteIncident,
  openFindings,
  openIncidents,
  takeMessages,
  dueMessages,
} from "./incidents";
import { createFeed } from "./series";

interface Heard {
  path: string;
  body: any;
}

/** Targets: /slow never answers, /broken answers 500, the others 200. */
function receiver() {
  const heard: Heard[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      const text = await request.text();
      heard.push({ path: pathname, body: text === "" ? undefined : JSON.parse(text) });
      if (pathname === "/slow") await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      return new Response("ok", { status: pathname === "/broken" ? 500 : 200 });
    },
  });
  return { heard, url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

describe.each([...ENGINES])("alerts on %s", (engine) => {
  let house: Harness;
  const hook = receiver();
  beforeAll(async () => {
    house = await openHarness(engine, { WEIR_ALLOW_PRIVATE_FETCH: "true" });
    await house.services.options.set("ServerAddress", "https://weir.example");
    await house.services.options.set("AlertAccounts", "false");
  }, HOOK_MS);
  afterAll(async () => {
    hook.stop();
    await house?.close();
  });
  afterEach(async () => {
    hook.heard.length = 0;
    house.mails.length = 0;
    const { services } = house;
    const open = await openIncidents(services);
    await closeIncidents(
      services,
      open.map(({ id }) => id),
      false,
    );
    await services.db.bulk.delete(services.db.t.alert_deliveries);
    house.advance(4000);
  });

  const targets = (...names: string[]) =>
    house.services.options.set(
      "AlertTargets",
      JSON.stringify(names.map((name) => ({ name, type: "webhook", url: `${hook.url}/${name}`, lang: "en" }))),
    );
  const rules = (...list: AlertRule[]) => house.services.options.set("AlertRules", JSON.stringify(list));
  const finding = (subject: string, more: Partial<Finding> = {}): Finding => ({
    rule: "r",
    subject,
    severity: "warning",
    code: "errors_share",
    params: { name: "x", percent: 50, calls: 10, errors: 5, minutes: 5 },
    targets: ["a"],
    ...more,
  });
  async function send() {
    const queue = createAlertQueue(house.services);
    await queue.start();
    await queue.idle();
  }
  const deliveries = () => house.services.db.q.select().from(house.services.db.t.alert_deliveries);
  const incidents = () => house.services.db.q.select().from(house.services.db.t.incidents);

  let request = 0;
  async function calls(times: number, row: Record<string, unknown> = {}) {
    const { db, now } = house.services;
    const created_at = Math.floor(now() / 1000);
    const rows = Array.from({ length: times }, () => ({
      request_id: `${engine}-${++request}`,
      created_at,
      type: LOG_TYPE.consume,
      user_id: 1,
      channel: 3,
      model_name: "m",
      group: "default",
      ...row,
    }));
    await db.q.insert(db.t.logs).values(rows);
  }
  const failed = (times: number, row: Record<string, unknown> = {}) =>
    calls(times, { type: LOG_TYPE.error, code: "failure.server_error", ...row });

  test("errors of a channel open one incident with one message, and their end is told once", async () => {
    await targets("a", "b");
    await rules({ name: "errors", kind: "share", per: "channel", minutes: 5, percent: 20, at_least: 20 });
    const feed = createFeed(house.services);
    await failed(10);
    await calls(20);
    await evaluate(house.services, feed);
    await evaluate(house.services, createFeed(house.services));
    const open = await openIncidents(house.services);
    expect(open.map(({ rule, subject, closed_at }) => [rule, subject, closed_at])).toEqual([
      ["errors", "channel:3", 0],
    ]);
    await send();
    expect(hook.heard.map(({ path, body }) => [path, body.title]).sort()).toEqual([
      ["/a", "[Weir] 1 alert · Warning"],
      ["/b", "[Weir] 1 alert · Warning"],
    ]);
    expect(hook.heard[0]?.body.text).toContain("33.33% errors, 10 of 30 calls in 5 min");
    expect(hook.heard[0]?.body.alerts[0].link).toBe("https://weir.example/channel?open=3");
    hook.heard.length = 0;
    // The window is good again: not at once, and then once.
    house.advance(360);
    await calls(40);
    await evaluate(house.services, feed);
    expect(await openIncidents(house.services)).toHaveLength(0);
    await evaluate(house.services, feed);
    await send();
    expect(hook.heard.map(({ body }) => [body.begun, body.ended])).toEqual([
      [0, 1],
      [0, 1],
    ]);
    expect(hook.heard[0]?.body.text).toStartWith("✅ Over after 6 min");
  });

  test("what was logged before an instance took over counts, and a failed attempt counts for its own channel", async () => {
    await targets("a");
    await rules({ name: "errors", kind: "share", per: "channel", minutes: 5, percent: 20, at_least: 20 });
    const attempt = (channel: number, failure: string) => ({ channel, failure });
    const other = (failure: string) =>
      JSON.stringify({ admin_info: { use_channel: ["8", "3"], attempts: [attempt(8, failure), attempt(3, "")] } });
    await calls(25, { other: other("timeout") });
    await calls(25, { channel: 9, other: other("caller_mistake").replace('"8",', "") });
    await failed(25, { channel: 9, code: "failure.context_too_long" });
    await evaluate(house.services, createFeed(house.services));
    expect((await openIncidents(house.services)).map(({ subject }) => subject)).toEqual(["channel:8"]);
  });

  test("each row counts once: over several pages, and when it appears behind newer ones", async () => {
    const { db } = house.services;
    const { logs } = db.t;
    const feed = createFeed(house.services);
    const counted = async () => {
      await feed.follow(60);
      return feed.series.sums("channel", 0, Infinity).get("77");
    };
    for (let part = 0; part < 4; part++) await calls(1300, { channel: 77, quota: 3, use_time: 2 });
    const mine = db.q.select().from(logs).where(eq(logs.channel, 77)).orderBy(desc(logs.id));
    const [late] = await mine.limit(1).offset(20);
    if (!late) throw new Error("no row");
    // On SQLite there is one writer: nothing appears behind what it has written.
    const isLate = db.engine === "postgres";
    if (isLate) await db.bulk.delete(logs).where(eq(logs.id, late.id));
    const before = isLate ? 5199 : 5200;
    expect(await counted()).toEqual({ calls: before, errors: 0, quota: 3 * before, seconds: 2 * before });
    if (isLate) await db.bulk.insert(logs).values(late);
    for (let round = 0; round < 2; round++)
      expect(await counted()).toEqual({ calls: 5200, errors: 0, quota: 15_600, seconds: 10_400 });
  });

  test("a database that goes away in the middle of a round makes no call count twice, or less than once", async () => {
    const { services } = house;
    let left = Infinity;
    const db = Object.create(services.db, {
      read: {
        get: () => {
          if (left-- <= 0) throw new Error("the database is away");
          return services.db.read;
        },
      },
    }) as typeof services.db;
    const feed = createFeed({ db, now: services.now });
    const counted = () => feed.series.sums("channel", 0, Infinity).get("78")?.calls;
    await calls(7, { channel: 78 });
    await feed.follow(60);
    expect(counted()).toBe(7);
    for (const most of [0, 1, 2, 3]) {
      await calls(1, { channel: 78 });
      left = most;
      await feed.follow(60).catch(() => undefined);
    }
    left = Infinity;
    await feed.follow(60);
    await feed.follow(60);
    expect(counted()).toBe(11);
  });

  test("two instances that judge at the same time open one incident and send one message", async () => {
    await targets("a");
    const found = [finding("channel:1"), finding("channel:2")];
    await Promise.all(Array.from({ length: 6 }, () => openFindings(house.services, found)));
    expect(await openIncidents(house.services)).toHaveLength(2);
    await Promise.all(Array.from({ length: 4 }, send));
    expect(hook.heard.map(({ body }) => body.begun)).toEqual([2]);
  });

  // The number is the point on one engine, that it works on the other.
  const many = engine === "sqlite" ? 10_000 : 1_000;
  test(`${many} incidents of a minute are one message with their number`, async () => {
    await targets("a");
    await openFindings(
      house.services,
      Array.from({ length: many }, (_, i) => finding(`user:${i}`)),
    );
    await send();
    await send();
    expect(hook.heard).toHaveLength(1);
    const { title, text, begun, alerts } = hook.heard[0]?.body ?? {};
    expect([title, begun, alerts.length]).toEqual([`[Weir] ${many} alerts · Warning`, many, 100]);
    expect(text).toEndWith(`… and ${many - 10} more`);
    expect((await deliveries()).every(({ next_at, sent_at }) => next_at === 0 && sent_at > 0)).toBe(true);
    await openFindings(house.services, [finding("channel:9")]);
    await send();
    expect(hook.heard).toHaveLength(1);
    house.advance(61);
    await send();
    expect(hook.heard).toHaveLength(2);
  }, 60_000);

  test("a target that hangs keeps no other one waiting", async () => {
    await targets("slow", "a");
    await openFindings(house.services, [finding("channel:1", { targets: ["slow", "a"] })]);
    const queue = createAlertQueue(house.services, 700);
    await queue.start();
    await until("the other target is told", () => hook.heard.some(({ path }) => path === "/a"));
    await until("it is settled", async () =>
      (await deliveries()).some(({ target, sent_at }) => target === "a" && sent_at > 0),
    );
    house.advance(61);
    await openFindings(house.services, [finding("channel:2")]);
    await queue.start();
    await until("it is told again", () => hook.heard.filter(({ path }) => path === "/a").length === 2);
    expect(hook.heard.filter(({ path }) => path === "/slow")).toHaveLength(1);
    await queue.idle();
    const [slow] = (await deliveries()).filter(({ target }) => target === "slow");
    expect(slow).toMatchObject({ sent_at: 0, error: "no answer in time" });
    expect(slow?.next_at).toBeGreaterThan(0);
  }, 30_000);

  test("a refused message is tried again with growing pauses, and given up after eight attempts", async () => {
    await targets("broken");
    await openFindings(house.services, [finding("channel:1", { targets: ["broken", "removed"] })]);
    await send();
    const of = async (name: string) => (await deliveries()).find(({ target }) => target === name);
    expect(await of("removed")).toMatchObject({
      next_at: 0,
      sent_at: 0,
      error: "the target was removed or switched off",
    });
    expect(await of("broken")).toMatchObject({ attempts: 1, error: "HTTP 500: ok" });
    await send();
    expect(hook.heard).toHaveLength(1);
    for (let i = 0; i < 10; i++) {
      house.advance(3700);
      await send();
    }
    expect(hook.heard).toHaveLength(8);
    expect(await of("broken")).toMatchObject({ attempts: 8, next_at: 0, sent_at: 0 });
  });

  test("a process that dies between taking and sending loses no message: it is sent later", async () => {
    await targets("a");
    await openFindings(house.services, [finding("channel:1")]);
    const { services } = house;
    const due = await dueMessages(services, "a");
    await takeMessages(
      services,
      due.map(({ delivery }) => delivery.id),
      Math.floor(services.now() / 1000) + 300,
    );
    await send();
    expect(hook.heard).toHaveLength(0);
    house.advance(301);
    await send();
    expect(hook.heard.map(({ body }) => body.begun)).toEqual([1]);
  });

  test("quiet hours hold back what is not critical, and tell it together when they end", async () => {
    await targets("a");
    const zone = "UTC";
    const at = (offset: number) => new Date(house.services.now() + offset).toISOString().slice(11, 16);
    const window = { zone, from: at(-120_000), to: at(3_600_000) };
    await house.services.options.set("AlertQuietHours", JSON.stringify([window]));
    await openFindings(house.services, [
      finding("channel:1"),
      finding("channel:2"),
      finding("", { severity: "critical" }),
    ]);
    await send();
    expect(hook.heard.map(({ body }) => [body.begun, body.severity])).toEqual([[1, "critical"]]);
    house.advance(3700);
    await send();
    expect(hook.heard[1]?.body.begun).toBe(2);
    await house.services.options.set("AlertQuietHours", "[]");
  });

  test("a muted incident is told no more, and not when it begins again before the mute is over", async () => {
    await targets("a");
    const { services } = house;
    await openFindings(services, [finding("channel:1")]);
    const [incident] = await openIncidents(services);
    await muteIncident(services, incident?.id ?? 0, Math.floor(services.now() / 1000) + 3600);
    await send();
    await closeIncidents(services, [incident?.id ?? 0], true);
    await openFindings(services, [finding("channel:1")]);
    await send();
    expect(hook.heard).toEqual([]);
    const again = await openIncidents(services);
    expect(again.map(({ muted_until }) => muted_until > 0)).toEqual([true]);
    await closeIncidents(
      services,
      again.map(({ id }) => id),
      false,
    );
    house.advance(3700);
    await openFindings(services, [finding("channel:1")]);
    await send();
    expect(hook.heard).toHaveLength(1);
  });

  test("an event opens an incident of its channel, further ones are counted, and it ends when the channel serves again", async () => {
    await targets("a");
    await rules({ name: "off", kind: "event", events: ["channel_auto_disabled"], minutes: 60 });
    const { services } = house;
    const feed = createFeed(services);
    const { channels } = services.db.t;
    const made = { type: 1, name: "*_[x](http://e)", status: 3, created_time: 1 };
    const [channel] = await services.db.q
      .insert(channels)
      .values(made)
      .returning({ id: channels.id, name: channels.name });
    if (!channel) throw new Error("no channel");
    await evaluate(services, feed);
    const params = { name: channel.name, id: channel.id, reason: { code: "failure.quota_exhausted", params: {} } };
    const record = () =>
      services.db.tx((q) =>
        services.events.record(q, { event: "channel_auto_disabled", type: "system", channel, params }),
      );
    await record();
    await evaluate(services, feed);
    await record();
    await evaluate(services, createFeed(services));
    expect((await openIncidents(services)).map(({ subject, count }) => [subject, count])).toEqual([
      [`channel:${channel.id}`, 2],
    ]);
    await send();
    expect(hook.heard[0]?.body.text).toContain("*_[x](http://e)");
    expect(hook.heard[0]?.body.text).toContain("no balance");
    await services.db.q.update(channels).set({ status: 1 }).where(eq(channels.id, channel.id)).returning();
    await evaluate(services, feed);
    house.advance(61);
    await send();
    expect(hook.heard[1]?.body).toMatchObject({ begun: 0, ended: 1 });
  });

  test("each step of a budget is told once in its period, to its owner too", async () => {
    await targets("a");
    await rules({ name: "budget", kind: "budget", steps: [50, 80, 100] });
    const { services } = house;
    const person = await house.person();
    const { users, budget_spend } = services.db.t;
    const { id } = person.ctx.actor;
    await services.options.set("SMTPServer", "mail.example");
    await services.db.q
      .update(users)
      .set({ budget_month: 1000, email: "owner@example.com", setting: JSON.stringify({ language: "en" }) })
      .where(eq(users.id, id))
      .returning();
    const now = new Date(services.now());
    const month = `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, "0")}`;
    const spend = async (amount: number) => {
      const row = { name: `user:${id}:${month}`, amount, expires_at: 4_000_000_000 };
      await services.db.q
        .insert(budget_spend)
        .values(row)
        .onConflictDoUpdate({ target: budget_spend.name, set: { amount } });
      await evaluate(services, createFeed(services));
      house.advance(61);
      await send();
    };
    await spend(499);
    expect(hook.heard).toHaveLength(0);
    await spend(510);
    await spend(700);
    expect(hook.heard.map(({ body }) => body.begun)).toEqual([1]);
    await spend(1000);
    expect(hook.heard).toHaveLength(2);
    expect(hook.heard[1]?.body.text).toContain("100% of the monthly budget is used");
    expect(house.mails.map(({ to }) => to)).toEqual(["owner@example.com", "owner@example.com"]);
    expect(house.mails[1]?.text).toEndWith("\nhttps://weir.example/topup");
  });

  test("a budget of a channel is told at its steps, with the page of the channel", async () => {
    await targets("a");
    await rules({ name: "budget", kind: "budget", steps: [50, 80, 100] });
    const { services } = house;
    const { channels, budget_spend } = services.db.t;
    await services.db.bulk.delete(budget_spend);
    const made = { type: 1, name: "small", key: "k", created_time: 1, setting: JSON.stringify({ budget_day: 1000 }) };
    const [row] = await services.db.q.insert(channels).values(made).returning({ id: channels.id });
    const announce = (q: Q) => services.cluster.bus.announce(q, "channels", String(row?.id));
    await services.db.tx(announce);
    await until("the channel is known", () => services.pool.byId(row?.id ?? 0) !== undefined);
    const { day } = periodsAt(services.now());
    const name = `channel:${row?.id}:${day.name}`;
    await services.db.q.insert(budget_spend).values({ name, amount: 801, expires_at: 4_000_000_000 });
    await evaluate(services, createFeed(services));
    await send();
    expect(hook.heard.map(({ body }) => [body.text, body.link])).toEqual([
      [expect.stringContaining("“small”"), `https://weir.example/channel?open=${row?.id}`],
    ]);
    expect(hook.heard[0]?.body.text).toContain("80% of the daily budget is used");
  });

  test("a process that is killed after it found something leaves every incident with one message, which is delivered once", async () => {
    await targets("a");
    const { services } = house;
    const worker = join(import.meta.dir, "../../../../tests/kit/alert-worker.ts");
    const child = Bun.spawn([process.execPath, worker, house.url, String(services.now()), "a"], {
      stdout: "pipe",
      stderr: "inherit",
    });
    let told = "";
    for await (const bytes of child.stdout) {
      told += Buffer.from(bytes).toString();
      if (told.split("\n").length > 4) child.kill("SIGKILL");
    }
    await child.exited;
    const promised = told.split("\n").slice(0, -1);
    const subjectsOf = ({ body }: Heard): string[] => body.alerts.map((one: { subject: string }) => one.subject);
    // What was taken for sending waits until it is sure that its process is gone.
    await send();
    expect(hook.heard.flatMap(subjectsOf)).not.toContain(promised[0]);
    house.advance(301);
    await send();
    house.advance(301);
    await send();
    const open = (await openIncidents(services)).map(({ subject }) => subject);
    for (const subject of promised) expect(open).toContain(subject);
    expect(hook.heard.flatMap(subjectsOf).toSorted()).toEqual(open.toSorted());
  });

  test("root accounts hear of an incident by the way of their own notices", async () => {
    const { services } = house;
    await services.options.set("AlertTargets", "");
    await services.options.set("AlertAccounts", "true");
    await services.options.set("SMTPServer", "mail.example");
    const root = await house.person({ role: ROLE.root });
    const { users } = services.db.t;
    await services.db.q
      .update(users)
      .set({ email: "root@example.com", setting: JSON.stringify({ language: "en" }) })
      .where(eq(users.id, root.ctx.actor.id))
      .returning();
    await rules({ name: "errors", kind: "share", per: "server", minutes: 5, percent: 20, at_least: 20 });
    await failed(30);
    await evaluate(services, createFeed(services));
    await send();
    expect(house.mails).toEqual([
      {
        to: "root@example.com",
        subject: "Weir: 1 alert · Warning",
        text: "🟠 The whole server: 100% errors, 30 of 30 calls in 5 min\nhttps://weir.example/incident",
      },
    ]);
    await services.options.set("AlertAccounts", "false");
    expect((await incidents()).length).toBeGreaterThan(0);
  });
});
