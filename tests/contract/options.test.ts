/**
 * Every option in the public status, over the real server: what an operator sets by PUT /api/option/ is returned to
 * anonymous callers under the name of the specification. And no route returns a secret.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { optionKeys } from "../../src/shared/options";
import { startMailServer } from "../kit/mail-server";
import { startWeir, type Weir } from "../kit/weir";

let weir: Weir;

beforeAll(async () => {
  weir = await startWeir();
});
afterAll(() => weir?.stop());

/** Requirement of the option, of the status field, key, text that is set, name and value in the status. */
const SHOWN: readonly [string, string, string, string, string, unknown][] = [
  ["A-222", "A-267", "SystemName", "Harbour", "system_name", "Harbour"],
  ["A-223", "A-268", "Logo", "https://gw.example/logo.png", "logo", "https://gw.example/logo.png"],
  ["A-226", "A-269", "Footer", "<b>x</b>", "footer_html", "<b>x</b>"],
  ["A-188", "A-270", "QuotaPerUnit", "1000", "quota_per_unit", 1000],
  ["A-202", "A-271", "DisplayInCurrencyEnabled", "false", "display_in_currency", false],
  ["A-205", "A-272", "DrawingEnabled", "false", "enable_drawing", false],
  ["", "A-273", "TaskEnabled", "false", "enable_task", false],
  ["A-215", "A-274", "DataExportEnabled", "false", "enable_data_export", false],
  ["A-197", "A-275", "Chats", '[{"A":"https://a.example"}]', "chats", [{ A: "https://a.example" }]],
  [
    "A-237",
    "A-276",
    "PayMethods",
    '[{"name":"Card","type":"card","color":"#123456"}]',
    "pay_methods",
    [{ name: "Card", type: "card", color: "#123456" }],
  ],
  ["A-217", "A-277", "DataExportDefaultTime", "day", "data_export_default_time", "day"],
  ["A-204", "A-278", "DefaultCollapseSidebar", "true", "default_collapse_sidebar", true],
  ["", "A-279", "MjNotifyEnabled", "true", "mj_notify_enabled", true],
  ["A-199", "A-280", "ChatLink", "https://chat.example", "chat_link", "https://chat.example"],
  ["A-200", "A-281", "ChatLink2", "https://chat2.example", "chat_link2", "https://chat2.example"],
  ["A-198", "", "TopUpLink", "https://shop.example", "top_up_link", "https://shop.example"],
  ["", "", "DefaultUseAutoGroup", "true", "default_use_auto_group", true],
  ["A-235", "", "MinTopUp", "3", "min_topup", 3],
  ["A-265", "A-284", "TurnstileSiteKey", "site-key", "turnstile_site_key", "site-key"],
  ["A-256", "A-286", "GitHubClientId", "github-id", "github_client_id", "github-id"],
  ["A-258", "A-288", "LinuxDOClientId", "linuxdo-id", "linuxdo_client_id", "linuxdo-id"],
  [
    "A-262",
    "A-290",
    "WeChatAccountQRCodeImageURL",
    "https://gw.example/qr.png",
    "wechat_qrcode",
    "https://gw.example/qr.png",
  ],
  ["A-264", "A-292", "TelegramBotName", "weir_bot", "telegram_bot_name", "weir_bot"],
];

/** The switches of sign-in, on once what they need is configured. */
const SWITCHES: readonly [string, string, string, string][] = [
  ["A-240", "A-282", "EmailVerificationEnabled", "email_verification"],
  ["A-246", "A-283", "TurnstileCheckEnabled", "turnstile_check"],
  ["A-242", "A-285", "GitHubOAuthEnabled", "github_oauth"],
  ["A-243", "A-287", "LinuxDOOAuthEnabled", "linuxdo_oauth"],
  ["A-244", "A-289", "WeChatAuthEnabled", "wechat_login"],
  ["A-245", "A-291", "TelegramOAuthEnabled", "telegram_oauth"],
];

/** Write only. */
const SECRETS: readonly [string, string][] = [
  ["A-229", "WorkerValidKey"],
  ["A-232", "EpayKey"],
  ["A-254", "SMTPToken"],
  ["A-257", "GitHubClientSecret"],
  ["A-259", "LinuxDOClientSecret"],
  ["A-261", "WeChatServerToken"],
  ["A-263", "TelegramBotToken"],
  ["A-266", "TurnstileSecretKey"],
  ["", "StripeApiSecret"],
];

const put = (key: string, value: string) => weir.root.ok("PUT", "/api/option/", { key, value });
const status = async () => (await weir.anonymous("GET", "/api/status")).body.data as Record<string, unknown>;
const listed = async () =>
  new Map(
    (await weir.root.ok<{ key: string; value: string }[]>("GET", "/api/option/")).map(({ key, value }) => [key, value]),
  );

test.each(SHOWN)("%s %s: the option %s set to %j is in the public status as %s: %j", async (...row) => {
  const [, , key, text, name, value] = row;
  const before = await status();
  expect(before[name]).toBeDefined();
  expect(before[name]).not.toEqual(value);
  await put(key, text);
  // spec: ..A-200, A-202, A-204, A-205, A-215, A-217, A-222, A-223, A-226, A-235, A-237
  // spec
  // spec: A-267..A-281, A-284, A-286, A-288, A-290, A-292
  expect((await status())[name]).toEqual(value);
  const stored = (await listed()).get(key);
  if (key !== "TurnstileSiteKey") expect(stored).toBe(text);
});

test.each(SWITCHES)("%s %s: the switch %s is in the public status as %s, off by default", async (...row) => {
  const [, , key, name] = row;
  // spec: ..A-246, A-282, A-283, A-285, A-287, A-289, A-291
  expect((await status())[name]).toBe(false);
  for (const [needed, value] of [
    ["SMTPServer", "mail.example"],
    ["ServerAddress", "https://gw.example"],
    ["TurnstileSiteKey", "k"],
    ["TurnstileSecretKey", "k"],
    ["GitHubClientId", "c"],
    ["GitHubClientSecret", "s"],
    ["LinuxDOClientId", "c"],
    ["LinuxDOClientSecret", "s"],
    ["WeChatServerAddress", "https://wechat.example"],
    ["WeChatServerToken", "t"],
    ["WeChatAccountQRCodeImageURL", "https://gw.example/qr.png"],
    ["TelegramBotToken", "1:a"],
    ["TelegramBotName", "b"],
  ] as const)
    await put(needed, value);
  await put(key, "true");
  // spec: ..A-246, A-282, A-283, A-285, A-287, A-289, A-291
  expect((await status())[name]).toBe(true);
  await put(key, "false");
});

test.each(SECRETS)("%s: %s is accepted and returned by no route", async (_, key) => {
  await put(key, `planted-${key}`);
  const keys = [...(await listed()).keys()];
  expect(keys.length).toBeGreaterThan(50);
  // spec
  expect(keys).not.toContain(key);
  const everything = JSON.stringify([
    await status(),
    [...(await listed())],
    await weir.root.trpc.option.settings.query(),
  ]);
  // spec
  expect(everything).not.toContain("planted-");
});

test("the public status needs no login and shows no option under its key, and no secret", async () => {
  const answer = await weir.anonymous("GET", "/api/status");
  // spec: A-293
  expect([answer.status, answer.body.success]).toEqual([200, true]);
  const names = Object.keys(answer.body.data as object);
  expect(optionKeys.filter((key) => names.includes(key))).toEqual([]);
});

/** Texts of the site: requirement, key, text, the public call that answers it. */
const TEXTS: readonly [string, string, string, string][] = [
  ["A-221", "Notice", "# Hi", "/api/notice"],
  ["A-224", "HomePageContent", "<p>home</p>", "/api/home_page_content"],
  ["A-225", "About", "https://about.example", "/api/about"],
];
test.each(TEXTS)(
  "%s: what is set as %s, %j, is what %s answers anonymous callers; empty by default",
  async (...row) => {
    const [, key, text, path] = row;
    expect((await weir.anonymous("GET", path)).body.data).toBe("");
    await put(key, text);
    // spec
    expect((await weir.anonymous("GET", path)).body.data).toBe(text);
  },
);

/** Options that are only stored and read back here; other tests show their effect. */
const KEPT: readonly [string, string, string, string][] = [
  ["A-216", "DataExportInterval", "1", "1"],
  ["A-228", "WorkerUrl", "https://worker.example/w", "https://worker.example/w"],
];
test.each(KEPT)("%s: %s takes %j and gives %j back", async (...row) => {
  const [, key, text, stored] = row;
  await put(key, text);
  // spec
  expect((await listed()).get(key)).toBe(stored);
});

test.each([
  ["A-216", "DataExportInterval", "0"],
  ["A-217", "DataExportDefaultTime", "month"],
  ["A-235", "MinTopUp", "0"],
])("%s: %s refuses %j", async (_, key, value) => {
  // spec
  expect((await weir.root.api("PUT", "/api/option/", { key, value })).body.success).toBe(false);
});

test("the mail settings are the options: server, port, account, password, sender, and TLS from the first byte", async () => {
  const mail = await startMailServer({ tls: "none", account: "post@weir.example", password: "mail-secret" });
  const send = async () => (await weir.root.api("POST", "/api/option/test_mail", { to: "ada@example.com" })).body;
  const set = async (values: Record<string, string>) => {
    for (const [key, value] of Object.entries(values)) await put(key, value);
  };
  try {
    const settings = { SMTPServer: "127.0.0.1", SMTPPort: String(mail.port), SMTPAccount: "post@weir.example" };
    await set({ ...settings, SMTPToken: "wrong", SMTPFrom: "", SMTPSSLEnabled: "false" });
    // spec: A-254
    expect(await send()).toMatchObject({ success: false });
    await set({ SMTPToken: "mail-secret" });
    expect(await send()).toMatchObject({ success: true });
    // spec
    expect(mail.mails.at(-1)).toMatchObject({ account: "post@weir.example", from: "post@weir.example" });
    await set({ SMTPFrom: "noreply@weir.example" });
    expect(await send()).toMatchObject({ success: true });
    // spec: A-253
    expect(mail.mails.at(-1)).toMatchObject({ account: "post@weir.example", from: "noreply@weir.example" });
    await set({ SMTPSSLEnabled: "true" });
    // spec: A-255
    expect(await send()).toMatchObject({ success: false });
    expect(mail.mails).toHaveLength(2);
  } finally {
    await mail.close();
  }
});
