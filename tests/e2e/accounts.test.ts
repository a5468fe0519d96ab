/**
 * Accounts in a real browser with a real mail server: registration with the bot check, reset by mail, and the user's
 * own settings.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { becomes, eventually } from "../kit/browser-wait";
import { type MailServer, startMailServer } from "../kit/mail-server";
import { type } from "../kit/typing";
import { ROOT, startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

let browser: TestBrowser;
let weir: Weir;
let mail: MailServer;
/** Stands in for Cloudflare: records the tokens that it was asked about; each is valid once. */
const asked: string[] = [];
let siteverify: ReturnType<typeof Bun.serve>;

/** The vendor's script as far as the widget uses it: every rendering and reset returns a new token. */
const WIDGET = `
  let tell, sitekey;
  const give = () => setTimeout(() => { tell("human-" + crypto.randomUUID()); document.body.dataset.human = sitekey; }, 0);
  window.turnstile = { ready: (f) => f(), render: (_, o) => { tell = o.callback; sitekey = o.sitekey; give(); return "w1"; }, reset: give, remove() {}, execute() {}, getResponse: () => "", isExpired: () => false };
  window[new URL(document.currentScript.src).searchParams.get("onload")]?.();
`;

beforeAll(async () => {
  browser = await launchBrowser();
  mail = await startMailServer({ tls: "none" });
  siteverify = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const form = new URLSearchParams(await request.text());
      const token = form.get("response") ?? "";
      const success = form.get("secret") === "turnstile-secret" && token.startsWith("human-") && !asked.includes(token);
      asked.push(token);
      return Response.json({ success });
    },
  });
  weir = await startWeir({ env: { WEIR_TURNSTILE_URL: `http://127.0.0.1:${siteverify.port}/` } });
  for (const [key, value] of Object.entries({
    ServerAddress: weir.url,
    SMTPServer: "127.0.0.1",
    SMTPPort: mail.port,
    SMTPFrom: "weir@example.com",
    EmailVerificationEnabled: true,
    TurnstileSiteKey: "site-key",
    TurnstileSecretKey: "turnstile-secret",
    TurnstileCheckEnabled: true,
  }))
    await weir.setOption(key, value);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await weir?.stop();
  await mail?.close();
  await siteverify?.stop(true);
});

/** The text of the last mail to an address. */
async function mailTo(address: string, pattern: RegExp): Promise<string> {
  let found: string | undefined;
  await eventually(`a mail to ${address}`, async () => {
    const raw = mail.mails.filter(({ to }) => to.includes(address)).at(-1)?.raw ?? "";
    const body = raw.slice(raw.indexOf("\r\n\r\n"));
    const text = /base64/i.test(raw)
      ? Buffer.from(body.replace(/\s/g, ""), "base64").toString()
      : body.replace(/=\r\n/g, "").replace(/=3D/gi, "=");
    found = pattern.exec(text)?.[0];
    return found !== undefined;
  });
  return found ?? "";
}

const withWidget = (page: Page) =>
  page
    .context()
    .route("https://challenges.cloudflare.com/**", (route) =>
      route.fulfill({ contentType: "text/javascript", body: WIDGET }),
    );

/** The bot check of the page has returned its token. */
const human = (page: Page) => page.locator("body[data-human=site-key]").waitFor();

test("a visitor registers with a mailed code and the bot check, signs in, and resets a forgotten password by mail", async () => {
  const tab = await browser.open(`${weir.url}/about`, { language: "zh" });
  const { page } = tab;
  await withWidget(page);
  await page.goto(`${weir.url}/register`);
  await human(page);
  await type(page.getByLabel("用户名"), "linda");
  await type(page.getByLabel("密码", { exact: true }), "first-password");
  await type(page.getByLabel("确认密码"), "first-password");
  await type(page.getByLabel("邮箱"), "linda@example.com");
  await page.getByRole("button", { name: "获取验证码" }).click();
  await type(page.getByLabel("验证码"), await mailTo("linda@example.com", /\b[A-Z0-9]{6}\b(?=\s)/));
  await page.getByRole("button", { name: "注册", exact: true }).click();
  await page.waitForURL(`${weir.url}/login`);
  await type(page.getByLabel("用户名或邮箱"), "Linda@example.com");
  await type(page.getByLabel("密码", { exact: true }), "first-password");
  await page.getByRole("button", { name: "登录", exact: true }).click();
  await page.waitForURL("**/token");
  await tab.settled();
  tab.check();
  await tab.close();
  // Only once: a passed check is remembered for the registration and the sign-in after it.
  // spec
  expect(asked).toHaveLength(1);

  const fresh = await browser.open(`${weir.url}/about`, { language: "zh" });
  await withWidget(fresh.page);
  await fresh.page.goto(`${weir.url}/reset`);
  await human(fresh.page);
  await type(fresh.page.getByLabel("邮箱"), "linda@example.com");
  await fresh.page.getByRole("button", { name: "发送重置邮件" }).click();
  const link = await mailTo("linda@example.com", /http:\S+\/user\/reset\?\S+/);
  // spec
  expect(new URL(link).origin).toBe(weir.url);
  await fresh.page.goto(link);
  await fresh.page.getByRole("button", { name: "重置密码" }).click();
  const password = await fresh.page.getByLabel("新密码", { exact: true }).inputValue();
  await fresh.page.getByRole("link", { name: "去登录" }).click();
  await type(fresh.page.getByLabel("用户名或邮箱"), "linda");
  await type(fresh.page.getByLabel("密码", { exact: true }), password);
  await fresh.page.getByRole("button", { name: "登录", exact: true }).click();
  // spec: A-093
  await fresh.page.waitForURL("**/token");
  await fresh.settled();
  fresh.check();
  await fresh.close();
});

test("a user who signed in long ago confirms their identity once before a secret is shown, and not again", async () => {
  await weir.setOption("TurnstileCheckEnabled", false);
  const person = await weir.newUser();
  const { sessions } = weir.db.t;
  await weir.db.q.update(sessions).set({ verified_at: 1 }).returning();
  const tab = await browser.open(`${weir.url}/setting?tab=personal`, { language: "zh", as: person });
  const { page } = tab;
  tab.expectProblem("403");
  await page.getByRole("button", { name: "生成系统访问令牌" }).click();
  await type(page.getByRole("dialog").getByLabel("密码", { exact: true }), "wrong-password");
  tab.expectProblem("400");
  await page.keyboard.press("Enter");
  await page.getByText("密码错误").waitFor();
  await type(page.getByRole("dialog").getByLabel("密码", { exact: true }), ROOT.password);
  await page.keyboard.press("Enter");
  const shown = page.getByLabel("新的系统访问令牌");
  const first = await shown.inputValue();
  expect(first).toHaveLength(32);
  // Sooner it would be the second half of a double click (lib/once.ts).
  await Bun.sleep(600);
  await page.getByRole("button", { name: "生成系统访问令牌" }).click();
  await becomes(async () => (await shown.inputValue()) !== first, true);
  await tab.settled();
  tab.check();
  await tab.close();
});

test("a phone that opens the address of the QR code can register the push worker, and asks for permission only after a tap", async () => {
  const person = await weir.newUser();
  const { url } = await person.trpc.push.begin.mutate();
  const tab = await browser.open(url, { language: "en", theme: "dark", viewport: "phone" });
  await tab.settled();
  await tab.looksRight();
  const worker = await tab.page.evaluate(async () => {
    const { scope } = await navigator.serviceWorker.register("/push-worker.js");
    await navigator.serviceWorker.ready;
    return scope;
  });
  expect(worker).toBe(`${weir.url}/`);
  tab.check();
  await tab.close();
});
