/**
 * The first five minutes in a real browser: an empty Weir, the wizard, the demo channel, the first billed call, and
 * signing in again. On a desktop by keyboard, on a phone by touch.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI from "openai";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expectToLookRight as accessible, launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { type } from "../kit/typing";
import { startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

const PASSWORD = "brick7Wall-six";
let browser: TestBrowser;
let weir: Weir;

beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);
afterAll(() => browser?.close());

/** A page of a fresh visitor; any error in the browser fails the test. */
async function visit(options: BrowserContextOptions, run: (page: Page) => Promise<void>): Promise<void> {
  weir = await startWeir({ root: false });
  const context = await browser.newContext({
    locale: "zh-CN",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => /Content Security Policy/.test(message.text()) && complaints.push(message.text()));
  try {
    await run(page);
    expect(complaints).toEqual([]);
  } finally {
    await context.close();
    await weir.stop();
  }
}

const heading = (page: Page, name: string) => page.getByRole("heading", { name, level: 1 }).waitFor();

/** Presses Tab until the control with this accessible name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element) return "";
      const labels =
        element instanceof HTMLInputElement ? [...(element.labels ?? [])].map((label) => label.textContent) : [];
      return element.getAttribute("aria-label") ?? labels.join(" ") ?? "";
    });
    const text = focused || (await page.evaluate(() => document.activeElement?.textContent ?? ""));
    if (name.test(text.trim())) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab never reached ${name}`);
}

describe("the first run", () => {
  test("goes from an empty installation to a billed and explained call by keyboard alone", async () => {
    await visit({ viewport: { width: 1440, height: 900 } }, async (page) => {
      await page.goto(`${weir.url}/token`);
      await page.waitForURL("**/setup");
      await heading(page, "欢迎使用 Weir");
      await accessible(page);
      const { keyboard } = page;
      // The wizard starts in its first field.
      await page.waitForFunction(() => document.activeElement?.getAttribute("name") === "username");
      await keyboard.type("root");
      await tabTo(page, /^密码/);
      await keyboard.type(PASSWORD);
      await tabTo(page, /^再次输入密码/);
      await keyboard.type(PASSWORD);
      // The page was not opened by the link: it asks for the code, and also accepts the whole link.
      await tabTo(page, /^初始化码/);
      await keyboard.type(await weir.setupLink());
      await keyboard.press("Enter");

      await heading(page, "你打算怎么用？");
      await accessible(page);
      await tabTo(page, /^自用/);
      await keyboard.press("ArrowRight");
      await tabTo(page, /^创建账户并继续/);
      await keyboard.press("Enter");

      await heading(page, "添加第一个渠道");
      await accessible(page);
      // A reload in the middle continues here.
      await page.reload();
      await heading(page, "添加第一个渠道");
      await tabTo(page, /^用演示渠道/);
      await keyboard.press("Enter");

      await heading(page, "连接你的客户端");
      await page.getByText("等待第一个请求…").waitFor();
      await tabTo(page, /^复制密钥/);
      await keyboard.press("Enter");
      const key = await page.evaluate(() => navigator.clipboard.readText());
      expect(key).toMatch(/^sk-[A-Za-z0-9]{48}$/);
      expect(await page.content()).not.toContain(key);
      await accessible(page);

      const client = new OpenAI({ apiKey: key, baseURL: `${weir.url}/v1`, maxRetries: 0 });
      const stream = await client.chat.completions.create({
        model: "demo-echo",
        stream: true,
        messages: [{ role: "user", content: "第一个请求" }],
      });
      let answer = "";
      for await (const chunk of stream) answer += chunk.choices[0]?.delta.content ?? "";
      expect(answer).toEndWith("第一个请求");
      await page.getByText(/成功 · 200 · demo-echo · 首字 .+ · \$0\.0000/).waitFor();
      const [row] = await weir.logs();
      expect(row?.quota).toBe(Math.round(((row?.prompt_tokens ?? 0) + (row?.completion_tokens ?? 0)) / 2));
      expect(await weir.audit()).toEqual([]);
      expect((await weir.anonymous("GET", "/api/setup")).body.data).toMatchObject({ status: true });
    });
  });

  test("works on a phone, and the test button sends a real call whose answer streams in", async () => {
    await visit(
      { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: "dark" },
      async (page) => {
        await page.goto(await weir.setupLink());
        await heading(page, "欢迎使用 Weir");
        await type(page.locator("[name=username]"), "root");
        await type(page.locator("[name=password]"), PASSWORD);
        await type(page.locator("[name=repeat]"), PASSWORD);
        await accessible(page);
        await page.getByRole("button", { name: "下一步" }).tap();
        await page.getByRole("radio", { name: /自用/ }).tap();
        await accessible(page);
        await page.getByRole("button", { name: "创建账户并继续" }).tap();
        await page.getByRole("radio", { name: "DeepSeek" }).tap();
        await accessible(page);
        await page.getByRole("button", { name: "用演示渠道" }).tap();
        await page.getByText("等待第一个请求…").waitFor();
        await accessible(page);
        await page.getByRole("button", { name: "发送测试请求" }).tap();
        await page.getByText(/你说的是：你好/).waitFor();
        await page.getByText(/成功 · 200 · demo-echo/).waitFor();
        await accessible(page);
      },
    );
  });
});

describe("signing in", () => {
  test("leads back to the requested page, also after the session ended in the middle", async () => {
    weir = await startWeir();
    const context = await browser.newContext({ locale: "en-US", viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    try {
      await page.goto(`${weir.url}/log?type=2`);
      await page.waitForURL("**/login?redirect=*");
      // The console is Chinese for a fresh visitor, whatever the browser's language.
      await heading(page, "登录 Weir");
      await accessible(page);
      await page.keyboard.press("Enter");
      await page.getByRole("alert").getByText("请输入用户名和密码！").waitFor();
      await type(page.getByLabel("用户名或邮箱"), "root");
      await type(page.getByLabel("密码", { exact: true }), "wrong password");
      await page.keyboard.press("Enter");
      await page.getByText("用户名或密码错误，或用户已被封禁").waitFor();
      await type(page.getByLabel("密码", { exact: true }), "correct-horse-9");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/log?type=2");
      expect(await page.evaluate(() => JSON.parse(localStorage.getItem("user") ?? "{}").username)).toBe("root");

      // No page is open while the cookie is deleted: its own calls would sign it out.
      await page.goto("about:blank");
      await context.clearCookies();
      await page.goto(`${weir.url}/log?type=2`);
      await page.waitForURL("**/login?expired=true*");
      await page.locator("main").getByText("未登录或登录已过期，请重新登录！").waitFor();
      await accessible(page);
      expect(await page.evaluate(() => localStorage.getItem("user"))).toBeNull();
      await type(page.getByLabel("用户名或邮箱"), "root");
      await type(page.getByLabel("密码", { exact: true }), "correct-horse-9");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/log?type=2");
    } finally {
      await context.close();
      await weir.stop();
    }
  });
});
