/**
 * Signing in through providers, with one-time codes and with passkeys, in a real browser with a real Weir and fake
 * providers.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { becomes } from "../kit/browser-wait";
import { type FakeIdentity, startFakeIdentity } from "../kit/fake-identity/server";
import { required } from "../kit/required";
import { type } from "../kit/typing";
import { ROOT, startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

const noChromium = required("chromium") === undefined;
let weir: Weir;
let browser: TestBrowser;
let fake: FakeIdentity;
/** Passkeys need a host name: an IP address does not work. */
let site: string;

beforeAll(async () => {
  if (noChromium) return;
  browser = await launchBrowser();
  fake = await startFakeIdentity();
  weir = await startWeir({ env: { ...fake.env } });
  site = weir.url.replace("127.0.0.1", "localhost");
  for (const [key, value] of Object.entries(fake.options))
    if (!key.startsWith("Telegram")) await weir.setOption(key, value);
}, 90_000);

afterAll(async () => {
  await browser?.close();
  await weir?.stop();
  await fake?.stop();
});

describe.skipIf(noChromium)("signing in by more than a password", () => {
  test("GitHub's page opens in a window, comes back signed in, and the login page behind it leads on by itself", async () => {
    const visit = await browser.open(`${weir.url}/login`);
    const { page } = visit;
    await visit.looksRight();
    const [window] = await Promise.all([
      page.waitForEvent("popup"),
      page.getByRole("button", { name: "使用 GitHub 登录" }).click(),
    ]);
    await window.waitForURL(`${fake.url}/login/oauth/authorize?**`);
    expect(new URL(window.url()).searchParams.get("client_id")).toBe(fake.options.GitHubClientId ?? "");
    await window.getByRole("button", { name: "Authorize" }).click();
    await window.waitForURL(`${weir.url}/token`);
    await page.waitForURL(`${weir.url}/token`);
    const user = await page.evaluate(() => JSON.parse(localStorage.getItem("user") ?? "{}"));
    expect(user.username).toMatch(/^github_\d+$/);
    visit.check();
    await visit.close();
  });

  test("one-time codes and a passkey are added and asked for; then a passkey signs in by itself", async () => {
    const user = await weir.newUser();
    const visit = await browser.open(`${site}/setting?tab=personal`, { as: user, theme: "dark" });
    const { page, context } = visit;
    const cdp = await context.newCDPSession(page);
    await cdp.send("WebAuthn.enable");
    await cdp.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    const card = page.getByRole("listitem", { name: "两步验证（验证器应用）" });
    await card.getByRole("button", { name: "启用" }).click();
    const dialog = page.getByRole("dialog", { name: "启用两步验证" });
    await dialog.getByRole("img", { name: "两步验证二维码" }).waitFor();
    await visit.axe();
    const secret = (await dialog.getByText(/^[A-Z2-7]{32}$/).textContent()) ?? "";
    const codeAt = (timestamp: number) =>
      new TOTP({ secret: Secret.fromBase32(secret), period: 30, digits: 6 }).generate({ timestamp });
    await type(dialog.getByLabel("验证码"), codeAt(Date.now()));
    await dialog.getByRole("button", { name: "启用" }).click();
    await page.getByRole("button", { name: "我已保存" }).waitFor();
    const recovery = await page.getByRole("dialog", { name: "恢复代码" }).getByRole("listitem").allTextContents();
    expect(recovery).toHaveLength(10);
    await page.getByRole("button", { name: "我已保存" }).click();
    await page.getByText("已启用，剩余 10 个恢复代码").waitFor();
    await page.getByRole("button", { name: "添加通行密钥" }).click();
    const naming = page.getByRole("dialog", { name: "给通行密钥起个名字" });
    await type(naming.getByLabel("名称"), "e2e");
    await naming.getByRole("button", { name: "保存" }).click();
    await page.getByRole("listitem", { name: "e2e" }).waitFor();
    await visit.looksRight();

    // The kit's script for every page has no storage on an empty page.
    visit.expectProblem("Access is denied for this document");
    // A password is no longer enough; a recovery code is the second factor.
    await page.goto("about:blank");
    await context.clearCookies();
    await page.goto(`${site}/login?expired=true`);
    await type(page.getByLabel("用户名或邮箱"), user.username);
    await type(page.getByLabel("密码", { exact: true }), ROOT.password);
    await page.keyboard.press("Enter");
    const step = page.getByRole("dialog", { name: "两步验证" });
    await type(step.getByLabel("验证码"), recovery[0] ?? "");
    await visit.axe();
    await page.keyboard.press("Enter");
    await page.waitForURL(`${site}/token`);

    // A passkey is enough alone.
    await page.goto("about:blank");
    await context.clearCookies();
    await page.goto(`${site}/login?expired=true`);
    await page.getByRole("button", { name: "使用通行密钥登录" }).click();
    await page.waitForURL(`${site}/token`);
    await becomes(async () => (await user.trpc.factor.status.query()).backup_codes_remaining, 9);
    visit.check();
    await visit.close();
  });
});
