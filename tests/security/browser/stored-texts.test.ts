/**
 * Every text that users, vendors and operators can store, written as a program, on the screens of guest, user,
 * administrator and root in a real Chromium: nothing runs, nothing is asked of another host, and nothing of it becomes
 * an element (docs/security.md).
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ROLE } from "../../../src/shared/roles";
import { launchBrowser, TEST_LIMIT, type TestBrowser } from "../../kit/browser";
import { type Session, startWeir, type Weir } from "../../kit/weir";

setDefaultTimeout(TEST_LIMIT);

/** A text that runs, fetches and marks an element wherever it is not a text; it has no comma, which separates names. */
const hostile = (where: string, evil = "https://evil.invalid"): string =>
  `'"></title></script><b data-stored="${where}"><img src="${evil}/${where}" onerror="ran('${where}')">` +
  `<script>ran('${where}')</script><svg onload="ran('${where}')">[x](javascript:ran('${where}'))![x](${evil}/${where})`;
const SCRIPT_LINKS = [
  "javascript:ran('link')",
  " JavaScript:ran('link')",
  "java\tscript:ran('link')",
  "data:text/html,<script>ran('link')</script>",
  "vbscript:ran('link')",
];

let browser: TestBrowser;
let weir: Weir;
let user: Session;
let admin: Session;

/** Its model and its errors are texts as well. */
const vendor = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () =>
    Response.json(
      { error: { message: hostile("vendor.message"), type: hostile("vendor.type"), code: hostile("vendor.code") } },
      { status: 400 },
    ),
});

beforeAll(async () => {
  browser = await launchBrowser();
  weir = await startWeir();
  const { q, t } = weir.db;
  [user, admin] = [await weir.newUser({ quota: 5_000_000 }), await weir.newUser({ role: ROLE.admin })];
  const model = `<b data-stored="channel.model"><script>ran('model')</script>`;
  const id = await weir.newChannel({ base_url: `http://127.0.0.1:${vendor.port}`, models: [model] });
  await weir.priceModels({ [model]: 1 });
  const { key, id: token_id } = await weir.newToken({}, user);
  await (await weir.call(key, { model, messages: [{ role: "user", content: hostile("asked") }] })).text();

  // Past the checks of the routes: what is shown is not safe because it was refused.
  await q.update(t.channels).set({
    name: hostile("channel.name"),
    tag: hostile("channel.tag"),
    other_info: JSON.stringify({ status_reason: hostile("channel.reason") }),
    test_model: model,
  });
  await q
    .update(t.tokens)
    .set({ name: hostile("token.name") })
    .where(eq(t.tokens.id, token_id));
  await q
    .update(t.users)
    .set({ display_name: hostile("user.display_name"), email: hostile("user.email") })
    .where(eq(t.users.id, user.id));
  await q.insert(t.users).values({
    username: hostile("user.username"),
    password_hash: "-",
    display_name: hostile("user.display_name"),
    created_at: 1,
  });
  await q.update(t.sessions).set({ user_agent: hostile("session.user_agent"), ip: hostile("session.ip") });
  const now = Math.floor(Date.now() / 1000);
  const texts = {
    username: hostile("log.username"),
    token_name: hostile("log.token_name"),
    channel_name: hostile("log.channel_name"),
    model_name: hostile("log.model_name"),
    content: hostile("log.content"),
    end_reason: hostile("log.end_reason"),
    ip: hostile("log.ip"),
    upstream_request_id: hostile("log.upstream_request_id"),
    other: JSON.stringify({
      reason: hostile("log.reason"),
      admin_info: { use_channel: [hostile("log.use_channel")], attempts: [] },
    }),
  };
  await q.insert(t.logs).values(
    ([1, 2, 3, 4, 5] as const).map((type) => ({
      ...texts,
      request_id: `stored-${type}`,
      user_id: user.id,
      token_id,
      channel: id,
      created_at: now,
      type,
      group: "default",
    })),
  );
  await q.insert(t.log_bodies).values({
    request_id: "stored-2",
    user_id: user.id,
    created_at: now,
    request: JSON.stringify({ messages: [{ role: "user", content: hostile("body.request") }] }),
    response: hostile("body.response"),
  } as typeof t.log_bodies.$inferInsert);
  const job = {
    user_id: user.id,
    username: hostile("task.username"),
    channel_id: id,
    model: hostile("task.model"),
    prompt: hostile("task.prompt"),
    fail_reason: hostile("task.fail_reason"),
    progress: "100%",
    submit_time_ms: now * 1000,
    finish_time_ms: now * 1000,
  };
  const clip = {
    title: hostile("task.title"),
    lyrics: hostile("task.lyrics"),
    audio_url: SCRIPT_LINKS[0],
    image_url: SCRIPT_LINKS[0],
    video_url: SCRIPT_LINKS[3],
  };
  await q.insert(t.tasks).values([
    { ...job, task_id: "task_1", platform: "suno", action: "MUSIC", status: "SUCCESS", data: JSON.stringify([clip]) },
    { ...job, task_id: "task_2", platform: "kling", action: "textGenerate", status: "FAILURE" },
    {
      ...job,
      task_id: "1320098173412546",
      platform: "mj",
      action: "IMAGINE",
      status: "FAILURE",
      data: JSON.stringify(clip),
    },
  ] as (typeof t.tasks.$inferInsert)[]);
  await weir.root.ok("POST", "/api/redemption/", { name: "code", quota: 700_000, count: 1 });
  await q.update(t.redemptions).set({ name: hostile("redemption.name") });
  await q.insert(t.orders).values({
    trade_no: hostile("order.trade_no"),
    user_id: user.id,
    amount: 1,
    quota: 1,
    money: "1.00",
    provider: "epay",
    payment_method: hostile("order.payment_method"),
    note: hostile("order.note"),
    status: "pending",
    create_time: now,
  });
  await q.insert(t.withdrawals).values({
    user_id: user.id,
    amount: 1,
    account: hostile("withdrawal.account"),
    note: hostile("withdrawal.note"),
    created_at: now,
  });
  await q.insert(t.identities).values({
    user_id: user.id,
    provider: "github",
    subject: hostile("identity.subject"),
    name: hostile("identity.name"),
    created_at: now,
  });
  await q.insert(t.passkeys).values({
    user_id: user.id,
    credential_id: "x",
    public_key: "x",
    name: hostile("passkey.name"),
    created_at: now,
  } as typeof t.passkeys.$inferInsert);
  await q.insert(t.audit_log).values({
    created_at: now,
    actor_id: 1,
    actor_name: hostile("audit.actor_name"),
    action: hostile("audit.action"),
    target_type: hostile("audit.target_type"),
    target_id: hostile("audit.target_id"),
    before: JSON.stringify({ name: hostile("audit.before") }),
    after: JSON.stringify({ name: hostile("audit.after") }),
    ip: hostile("audit.ip"),
  } as typeof t.audit_log.$inferInsert);

  for (const key of ["SystemName", "Footer", "About", "Notice", "HomePageContent", "TelegramBotName", "GitHubClientId"])
    await weir.setOption(key, hostile(`option.${key}`, "http://evil.invalid"));
  await weir.root.api("PUT", "/api/option/", {
    key: "UserUsableGroups",
    value: JSON.stringify({ default: hostile("group.text") }),
  });
  await weir.root.api("PUT", "/api/option/", {
    key: "PayMethods",
    value: JSON.stringify([
      { name: hostile("pay.name"), type: "alipay", color: "red;background:url(https://evil.invalid/color)" },
    ]),
  });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await weir?.stop();
  await vendor.stop(true);
});

const SCREENS = {
  guest: ["/", "/about", "/pricing"],
  user: ["/token", "/log", "/task?open=1", "/topup", "/personal"],
  admin: ["/channel", "/user", "/log?open=2", "/redemption"],
  root: [
    "/channel/edit/1",
    "/audit",
    "/setting?tab=operation",
    "/setting?tab=other",
    "/log?open=1",
    "/setting/pricing",
  ],
} as const;

test(
  "on every screen stored texts are texts: for guest, user, administrator and root",
  async () => {
    const problems: string[] = [];
    const shown = new Set<string>();
    const visit = async (who: keyof typeof SCREENS) => {
      const as = { guest: undefined, user, admin, root: weir.root }[who];
      const tab = await browser.open(`${weir.url}/reset`, as ? { as } : {});
      const { page, context } = tab;
      let at = "";
      const tell = (what: string) => void problems.push(`${who} ${at}: ${what}`);
      page.on("dialog", (dialog) => {
        tell(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      context.on("request", (request) => {
        const url = request.url();
        if (!url.startsWith(`${weir.url}/`) && !/^(data|blob):/.test(url)) tell(`request ${url}`);
      });
      await context.exposeBinding("ran", (_, name: string) => tell(`script ${name}`));
      await context.addInitScript(() => {
        document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
          // zod asks once whether it may compile, which no text has a part in.
          if (blockedURI !== "eval")
            (window as unknown as { ran(name: string): void }).ran(`${violatedDirective} ${blockedURI}`);
        });
      });
      for (at of SCREENS[who]) {
        await page.goto(weir.url + at);
        await page.locator("main").first().waitFor();
        await tab.settled();
        const { odd, texts } = await page.evaluate(() => {
          const links = [...document.querySelectorAll("[href], [src], [action], [formaction]")].flatMap((element) =>
            ["href", "src", "action", "formaction"].flatMap((name) => element.getAttribute(name) ?? []),
          );
          const marked = [...document.querySelectorAll("[data-stored], [onerror], [onload]")].map(
            ({ outerHTML }) => outerHTML,
          );
          const values = [...document.querySelectorAll("input, textarea")].map(
            (field) => (field as HTMLInputElement).value,
          );
          return {
            odd: [...marked, ...links.filter((link) => /^\s*(java\s*script|vbscript|data:text)/i.test(link))],
            texts: [document.body.innerText, document.title, ...values].join("\n"),
          };
        });
        for (const what of odd) tell(what.slice(0, 100));
        for (const [, where = ""] of texts.matchAll(/data-stored="([\w.]+)"/g)) shown.add(where);
      }
      await tab.close();
    };
    await Promise.all((["guest", "user", "admin", "root"] as const).map(visit));
    expect(problems).toEqual([]);
    const wanted =
      "audit.action audit.target_id channel.model channel.name channel.tag group.text identity.name log.channel_name " +
      "log.content log.model_name log.token_name log.username option.About option.Footer option.HomePageContent " +
      "option.SystemName order.payment_method passkey.name redemption.name task.fail_reason task.prompt token.name " +
      "user.display_name user.username vendor.message";
    expect(wanted.split(" ").filter((where) => !shown.has(where))).toEqual([]);
    // Eighteen screens in one test.
  },
  2 * TEST_LIMIT,
);
