import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { startMailServer } from "../../../../tests/kit/mail-server";
import { CHANNEL_STATUS } from "../../../shared/channel";
import type { StoredText } from "../../../shared/log-text";
import { ROLE } from "../../../shared/roles";
import { createMailer } from "../../lib/mail";
import { createSecrets } from "../../lib/secrets";
import { autoDisable } from "../channel/auto-disable";
import { CHANNELS_EVERY_SECONDS, notifyDisabledChannels, warnLowQuota } from "./notices";
import { testNotice } from "./service";
import { rotateSetting } from "./setting";

interface Heard {
  path: string;
  method: string;
  headers: Record<string, string>;
  body: string;
}

/** A user's receiver; answers 200, or the status in its path. */
function receiver() {
  const heard: Heard[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      heard.push({
        path: pathname,
        method: request.method,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      });
      if (pathname === "/moved") return Response.redirect("http://127.0.0.1:1/", 307);
      return new Response("ok", { status: pathname === "/broken" ? 500 : 200 });
    },
  });
  return { heard, url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

async function until(condition: () => boolean): Promise<void> {
  const limit = Date.now() + 15_000;
  while (!condition()) {
    if (Date.now() > limit) throw new Error("It did not happen within 15 s");
    await Bun.sleep(20);
  }
}

describe.each([...ENGINES])("notices on %s", (engine) => {
  let house: Harness;
  const hook = receiver();
  beforeAll(async () => {
    house = await openHarness(engine, { WEIR_ALLOW_PRIVATE_FETCH: "true" });
    const { options } = house.services;
    await options.set("SMTPServer", "mail.example");
    await options.set("QuotaRemindThreshold", "1000");
    await options.set("QuotaPerUnit", "1000");
    await options.set("ServerAddress", "https://weir.example");
  }, HOOK_MS);
  afterAll(async () => {
    hook.stop();
    await house?.close();
  });
  afterEach(() => {
    house.mails.length = 0;
    hook.heard.length = 0;
  });

  /** A user with a balance, an address and a setting. */
  async function somebody({
    quota = 500,
    email,
    setting = "",
  }: { quota?: number; email?: string; setting?: string } = {}) {
    const person = await house.person();
    const { id } = person.ctx.actor;
    const address = email ?? `u${id}@example.com`;
    await house.services.db.q
      .update(house.services.db.t.users)
      .set({ quota, setting, email: address })
      .where(eq(house.services.db.t.users.id, id))
      .returning();
    return { person, id, address };
  }
  const warn = (...ids: number[]) => warnLowQuota(house.services, ids);
  const settingOf = async ({ ctx }: Person) =>
    (
      await house.services.db.q
        .select()
        .from(house.services.db.t.users)
        .where(eq(house.services.db.t.users.id, ctx.actor.id))
    )[0]?.setting ?? "";

  describe("a low quota", () => {
    test("is reported by mail, in the user's language, with the balance and the address of the wallet", async () => {
      const zh = await somebody();
      const en = await somebody({ setting: JSON.stringify({ language: "en" }) });
      expect(await warn(zh.id, en.id)).toBe(2);
      const byAddress = Object.fromEntries(house.mails.map((mail) => [mail.to, mail]));
      // spec: A-187
      expect(byAddress[zh.address]).toEqual({
        to: zh.address,
        subject: "Weir: 额度不足提醒",
        text: "您的剩余额度为 $0.50，已低于提醒阈值 $1.00。额度用尽后调用会被拒绝。https://weir.example/topup",
      });
      expect(byAddress[en.address]?.subject).toBe("Weir: Your quota is running low");
    });

    test("is reported at most once in two hours, however many calls check at once and whether or not the balance rose in between", async () => {
      const { id } = await somebody();
      const told = await Promise.all(Array.from({ length: 20 }, () => warn(id)));
      // spec: A-547, C-658, D-85
      expect(told.filter((n) => n === 1)).toHaveLength(1);
      const { users } = house.services.db.t;
      const set = (quota: number) =>
        house.services.db.q.update(users).set({ quota }).where(eq(users.id, id)).returning();
      house.advance(3600);
      await set(5000);
      // spec: C-658, D-85
      expect(await warn(id)).toBe(0);
      await set(10);
      house.advance(3540);
      // spec: C-658
      expect(await warn(id)).toBe(0);
      house.advance(120);
      // spec: C-658
      expect(await warn(id)).toBe(1);
      // spec: A-547, C-658
      expect(house.mails).toHaveLength(2);
    });

    test("is below the user's own threshold where one is set, and the operator's otherwise; equal is not below", async () => {
      const own = JSON.stringify({ quota_warning_threshold: 200 });
      const above = await somebody({ quota: 500, setting: own });
      const equal = await somebody({ quota: 200, setting: own });
      const below = await somebody({ quota: 199, setting: own });
      const atOption = await somebody({ quota: 1000 });
      const debt = await somebody({ quota: -5 });
      await warn(above.id, equal.id, below.id, atOption.id, debt.id);
      // spec: A-187
      expect(house.mails.map((mail) => mail.to).sort()).toEqual([below.address, debt.address].sort());
    });

    test("counts the holds of running calls as part of the balance", async () => {
      const { id } = await somebody({ quota: 900 });
      const { db } = house.services;
      const hold = { user_id: id, amount: 100, token_amount: 0, created_at: 1, instance_id: "x" };
      await db.q
        .insert(db.t.holds)
        .values({ ...hold, request_id: `h-${id}` })
        .returning();
      expect(await warn(id)).toBe(0);
      await db.q.delete(db.t.holds).where(eq(db.t.holds.user_id, id)).returning();
      expect(await warn(id)).toBe(1);
    });

    test("is not reported without an address or webhook, of a banned or deleted account, or when no mail server is set", async () => {
      const { db, options } = house.services;
      const silent = await somebody({ email: "" });
      const hookless = await somebody({ setting: JSON.stringify({ notify_type: "webhook" }) });
      const banned = await somebody();
      const gone = await somebody();
      const person = await somebody();
      await db.q.update(db.t.users).set({ status: 2 }).where(eq(db.t.users.id, banned.id)).returning();
      await db.q.update(db.t.users).set({ deleted_at: 1 }).where(eq(db.t.users.id, gone.id)).returning();
      // spec: D-85
      expect(await warn(silent.id, hookless.id, banned.id, gone.id, 999_999)).toBe(0);
      await options.set("SMTPServer", "");
      expect(await warn(person.id)).toBe(0);
      await options.set("SMTPServer", "mail.example");
      // Nothing was used up meanwhile: it is sent as soon as it can be.
      expect(await warn(person.id)).toBe(1);
    });

    test("follows a charge by itself, without the call waiting for it", async () => {
      const { id, address } = await somebody({ quota: 1010 });
      const log = { request_id: `charge-${id}`, user_id: id, created_at: 1 };
      await house.services.ledger.settle({ request_id: log.request_id, user_id: id, token_id: 0, quota: 0, log });
      await house.services.ledger.settle({
        request_id: `${log.request_id}-2`,
        user_id: id,
        token_id: 0,
        quota: 20,
        log,
      });
      expect(house.mails).toEqual([]);
      await until(() => house.mails.length > 0);
      expect(house.mails.map((mail) => mail.to)).toEqual([address]);
    });
  });

  describe("a webhook", () => {
    const setting = (more: Record<string, unknown> = {}) => {
      const { secrets } = house.services;
      return JSON.stringify({
        notify_type: "webhook",
        webhook_url: `${hook.url}/hook`,
        webhook_secret_cipher: secrets.encrypt("user-secret", "hook-secret"),
        ...more,
      });
    };

    test("gets type, title, content, values and time, signed with the user's secret, which itself is not sent", async () => {
      const { id } = await somebody({ setting: setting() });
      expect(await warn(id)).toBe(1);
      const [call] = hook.heard;
      expect(call).toMatchObject({ path: "/hook", method: "POST" });
      expect(JSON.parse(call?.body ?? "")).toEqual({
        type: "quota_exceed",
        title: "额度不足提醒",
        content: expect.stringContaining("$0.50"),
        values: ["$0.50", "$1.00", "https://weir.example/topup"],
        timestamp: expect.any(Number),
      });
      expect(call?.headers["x-webhook-signature"]).toBe(
        createHmac("sha256", "hook-secret")
          .update(call?.body ?? "")
          .digest("hex"),
      );
      expect(JSON.stringify(call)).not.toContain("hook-secret");
      expect(house.mails).toEqual([]);
    });

    test("without a secret is not signed; a receiver that fails or redirects is logged and not tried again", async () => {
      const plain = await somebody({ setting: setting({ webhook_secret_cipher: "" }) });
      expect(await warn(plain.id)).toBe(1);
      expect(hook.heard[0]?.headers["x-webhook-signature"]).toBeUndefined();
      for (const path of ["/broken", "/moved"]) {
        const { id } = await somebody({ setting: setting({ webhook_url: `${hook.url}${path}` }) });
        expect(await warn(id)).toBe(0);
        expect(await warn(id)).toBe(0);
        expect(hook.heard.filter((call) => call.path === path)).toHaveLength(1);
      }
      expect(house.logged.join("\n")).toContain("a notice could not be delivered");
    });

    test("never leads into a private network unless the operator allows it", async () => {
      const strict = { ...house.services, env: { ...house.services.env, WEIR_ALLOW_PRIVATE_FETCH: false } };
      for (const address of [
        `${hook.url}/hook`,
        "http://169.254.169.254/latest",
        "http://[::1]/",
        "file:///etc/passwd",
        "http://u:p@example.com/",
      ]) {
        const { id } = await somebody({ setting: setting({ webhook_url: address }) });
        expect(await warnLowQuota(strict, [id])).toBe(0);
      }
      expect(hook.heard).toEqual([]);
    });

    test("that cannot be signed is not sent", async () => {
      const other = createSecrets("the secret of another server").encrypt("user-secret", "x");
      const { id } = await somebody({ setting: setting({ webhook_secret_cipher: other }) });
      expect(await warn(id)).toBe(0);
      expect(hook.heard).toEqual([]);
    });
  });

  test("Bark gets title and body at the device's address, Gotify a message with its token in a header", async () => {
    const bark = await somebody({
      setting: JSON.stringify({ notify_type: "bark", bark_url: `${hook.url}/device-key/{{title}}/{{content}}` }),
    });
    const gotify = await somebody();
    const saved = await gotify.person.rest("PUT", "/api/user/setting", {
      notify_type: "gotify",
      gotify_url: `${hook.url}/push/`,
      gotify_token: "app-token",
      gotify_priority: 8,
    });
    expect(saved.body.success).toBe(true);
    expect(await warn(bark.id, gotify.id)).toBe(2);
    const byPath = Object.fromEntries(hook.heard.map((call) => [call.path, call]));
    expect(JSON.parse(byPath["/device-key"]?.body ?? "")).toEqual({
      title: "额度不足提醒",
      body: expect.stringContaining("$0.50"),
    });
    expect(JSON.parse(byPath["/push/message"]?.body ?? "")).toEqual({
      title: "额度不足提醒",
      message: expect.stringContaining("$0.50"),
      priority: 8,
    });
    expect(byPath["/push/message"]?.headers["x-gotify-key"]).toBe("app-token");
  });

  describe("PUT /api/user/setting", () => {
    test("keeps what is not named, hides secrets, and never sends a secret to a new address", async () => {
      const { person } = await somebody({ setting: JSON.stringify({ language: "en", custom: [1] }) });
      const put = async (body: object) => (await person.rest("PUT", "/api/user/setting", body)).body.success;
      const shown = async () => JSON.parse((await person.rest("GET", "/api/user/self")).body.data.setting);
      const cipher = async () => JSON.parse(await settingOf(person)).webhook_secret_cipher;
      expect(
        await put({
          notify_type: "webhook",
          webhook_url: "https://a.example/x",
          webhook_secret: "s3cret-of-mine",
          quota_warning_threshold: 7,
        }),
      ).toBe(true);
      expect(await shown()).toEqual({
        language: "en",
        custom: [1],
        notify_type: "webhook",
        webhook_url: "https://a.example/x",
        webhook_secret_set: true,
        quota_warning_threshold: 7,
      });
      expect(await settingOf(person)).not.toContain("s3cret-of-mine");
      // A form that shows no secret sends none back.
      expect(
        await put({ webhook_url: "https://a.example/x", webhook_secret: "", notification_email: "me@example.com" }),
      ).toBe(true);
      expect(house.services.secrets.decrypt("user-secret", await cipher())).toBe("s3cret-of-mine");
      expect(await put({ webhook_url: "https://b.example/", webhook_secret: "" })).toBe(true);
      expect(await shown()).toMatchObject({
        webhook_secret_set: false,
        notification_email: "me@example.com",
        custom: [1],
      });
      expect(await put({})).toBe(true);
    });

    test("refuses what is no setting, and leaves everything as it was", async () => {
      const { person } = await somebody({ setting: '{"notify_type":"email"}' });
      const bad: object[] = [
        { notify_type: "pigeon" },
        { quota_warning_threshold: -1 },
        { quota_warning_threshold: 0.5 },
        { quota_warning_threshold: 1e300 },
        { webhook_url: "ftp://a" },
        { webhook_url: "javascript:alert(1)" },
        { webhook_url: "http://" },
        { webhook_url: `https://a/${"x".repeat(500)}` },
        { notification_email: "a@b,c@d" },
        { notification_email: "nobody" },
        { webhook_secret: "x".repeat(201) },
        { gotify_priority: 11 },
      ];
      for (const body of bad) {
        const answer = await person.rest("PUT", "/api/user/setting", body);
        expect([body, answer.body.success]).toEqual([body, false]);
      }
      expect(await settingOf(person)).toBe('{"notify_type":"email"}');
      expect((await person.rest("PUT", "/api/user/setting", { webhook_url: "ftp://a" })).body.message).toBe(
        "通知地址必须以 http:// 或 https:// 开头",
      );
      expect((await house.guest.rest("PUT", "/api/user/setting", {})).body.success).toBe(false);
    });

    test("accepts a row whose setting is not JSON or has another shape", async () => {
      for (const setting of [
        "",
        "null",
        "[]",
        "{broken",
        '"text"',
        '{"notify_type":5,"quota_warning_threshold":"many","webhook_url":{}}',
      ]) {
        const { person, id } = await somebody({ setting });
        expect(await warn(id)).toBe(1);
        expect((await person.rest("GET", "/api/user/self")).body.success).toBe(true);
        expect((await person.rest("PUT", "/api/user/setting", { notify_type: "email" })).body.success).toBe(true);
        expect(JSON.parse(await settingOf(person)).notify_type).toBe("email");
      }
    });

    test("its secrets are encrypted again by a rotation of the master secret", () => {
      const { secrets } = house.services;
      const next = createSecrets("another secret for tests");
      const setting = JSON.stringify({
        language: "en",
        webhook_secret_cipher: secrets.encrypt("user-secret", "w"),
        gotify_token_cipher: "",
      });
      const rotated = JSON.parse(rotateSetting(setting, secrets, next) ?? "");
      expect(rotated.language).toBe("en");
      expect(next.decrypt("user-secret", rotated.webhook_secret_cipher)).toBe("w");
      expect(rotateSetting('{"language":"en"}', secrets, next)).toBeUndefined();
    });
  });

  test("a test notice is sent at once, and its error is reported", async () => {
    const { person, address } = await somebody({ quota: 1_000_000 });
    const ask = async () => (await person.rest("POST", "/api/user/setting/test")).body;
    expect(await ask()).toMatchObject({ success: true });
    expect(house.mails).toMatchObject([{ to: address, subject: "Weir: 测试通知" }]);
    await person.rest("PUT", "/api/user/setting", { notify_type: "webhook" });
    expect(await ask()).toMatchObject({ success: false, code: "notice_unreachable" });
    await person.rest("PUT", "/api/user/setting", { webhook_url: `${hook.url}/broken` });
    expect(await ask()).toMatchObject({
      success: false,
      code: "notice_failed",
      message: expect.stringContaining("500"),
    });
    await person.rest("PUT", "/api/user/setting", { webhook_url: "file:///etc/passwd" });
    await person.rest("PUT", "/api/user/setting", { webhook_url: `${hook.url}/fine` });
    expect(await ask()).toMatchObject({ success: true });
    expect(JSON.parse(hook.heard.at(-1)?.body ?? "")).toMatchObject({ type: "test" });
  });

  test("the mail server's answer is shown to root alone", async () => {
    const mail = await startMailServer({ tls: "none", refuse: "No relaying for 10.1.2.3" });
    const settings = {
      host: "127.0.0.1",
      port: mail.port,
      account: "",
      password: "",
      from: "post@weir.example",
      name: "Weir",
      ssl: false,
    };
    const sendMail = createMailer(
      () => settings,
      () => {},
    );
    const failing = { ...(await somebody()).person.ctx, sendMail };
    await expect(testNotice(failing)).rejects.toMatchObject({ code: "mail_failed", values: {} });
    const root = { ...failing, actor: { ...failing.actor, role: ROLE.root } };
    await expect(testNotice(root)).rejects.toMatchObject({
      code: "notice_failed",
      values: { detail: expect.stringContaining("No relaying") },
    });
    await mail.close();
  });

  test("root gets one notice of all channels that were disabled automatically, at most every ten minutes", async () => {
    const { services } = house;
    const { db } = services;
    const root = await house.person({ role: ROLE.root });
    const admin = await house.person({ role: ROLE.admin });
    const mail = (person: Person, email: string) =>
      db.q.update(db.t.users).set({ email }).where(eq(db.t.users.id, person.ctx.actor.id)).returning();
    await mail(root, "root@example.com");
    await mail(admin, "admin@example.com");
    await services.options.set("AutomaticDisableChannelEnabled", "true");
    const made = await db.q
      .insert(db.t.channels)
      .values(["alpha", "beta"].map((name) => ({ type: 1, name, status: CHANNEL_STATUS.enabled, created_time: 1 })))
      .returning();
    const disabled = new Map<number, StoredText>();
    const unsubscribe = services.events.subscribe(({ name, channel, params }) => {
      if (name === "channel_auto_disabled") disabled.set(channel, params.reason as StoredText); // a reason always
    });
    const reason = { code: "channel_call_refused", values: { status: 401, detail: "bad key" } } as const;
    for (const { id } of made) {
      expect(await autoDisable(services, { id }, reason)).toBe(true);
      expect(await autoDisable(services, { id }, reason)).toBe(false);
    }
    unsubscribe();
    expect([...disabled.keys()]).toEqual(made.map((row) => row.id));

    const told = await Promise.all(Array.from({ length: 5 }, () => notifyDisabledChannels(services, disabled)));
    expect(told.filter(Boolean)).toHaveLength(1);
    expect(house.mails).toHaveLength(1);
    expect(house.mails[0]).toMatchObject({ to: "root@example.com", subject: "Weir: 渠道已被自动禁用" });
    for (const { id, name } of made)
      expect(house.mails[0]?.text).toContain(`#${id} ${name}: 上游拒绝服务（状态码 401）：bad key`);
    house.advance(CHANNELS_EVERY_SECONDS - 5);
    expect(await notifyDisabledChannels(services, disabled)).toBe(false);
    house.advance(6);
    expect(await notifyDisabledChannels(services, disabled)).toBe(true);
    expect(house.mails).toHaveLength(2);
    // No receiver: nothing waits forever.
    await db.q
      .update(db.t.users)
      .set({ email: sql`''` })
      .where(eq(db.t.users.id, root.ctx.actor.id))
      .returning();
    expect(await notifyDisabledChannels(services, disabled)).toBe(true);
  });
});
