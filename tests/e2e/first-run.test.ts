/**
 * The whole first run: an empty folder, the wizard, the first channel, the Connect panel, the official SDK as caller,
 * the tick, the log page and its bill.
 */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI from "openai";
import type { Locator } from "playwright-core";
import { type ConsolePage, launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { newStory, type Story } from "../kit/steps";
import { consoleText } from "../kit/texts";
import { paste, type } from "../kit/typing";
import { startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

const PASSWORD = "Kp7#first-run-w9";
const UPSTREAM_KEY = "sk-first-run-upstream-key-000000000000";

const upstream = startFakeUpstream();
let browser: TestBrowser;

beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);
afterAll(async () => {
  await browser?.close();
  upstream.close();
});

for (const viewport of ["desktop", "phone"] as const) {
  describe(`the first run on a ${viewport}`, () => {
    let weir: Weir;
    let tab: ConsolePage;
    let story: Story;
    const language = viewport === "phone" ? "en" : "zh";
    const say = (zh: string): string => consoleText(language, zh);

    beforeAll(async () => {
      weir = await startWeir({ root: false });
      story = newStory();
      // The phone uses English and the dark theme, so that both variants are tested.
      tab = await browser.open(await weir.setupLink(), {
        viewport,
        language,
        theme: viewport === "phone" ? "dark" : "light",
      });
    }, 30_000);
    afterAll(async () => {
      await tab?.context.close();
      await weir?.stop();
    });

    afterEach(() => tab.check());

    test("the printed link leads to the wizard, which forgets the code's address and makes the root account", async () => {
      const { page } = tab;
      await page.waitForURL(`${weir.url}/setup`);
      await type(page.getByLabel(say("用户名")), "keeper");
      await type(page.locator('input[name="password"]'), PASSWORD);
      await type(page.locator('input[name="repeat"]'), PASSWORD);
      await tab.axe();
      await tab.screenshot(`first-run-${viewport}-1-account`);
      await story.click(page.getByRole("button", { name: say("下一步") }));

      await story.click(page.getByRole("radio", { name: new RegExp(say("团队")) }));
      await tab.axe();
      await story.click(page.getByRole("button", { name: say("创建账户并继续") }));
      await page.getByRole("heading", { name: say("添加第一个渠道") }).waitFor();
      const status = await weir.anonymous("GET", "/api/setup");
      expect(status.body.data).toMatchObject({ status: true });
      const again = await weir.anonymous("POST", "/api/setup", { username: "intruder", password: PASSWORD });
      expect(again.status).toBe(403);
    });

    test("the first channel is typed in, tested by a real call, and saved", async () => {
      const { page } = tab;
      await story.click(page.getByRole("radio", { name: "OpenAI", exact: true }));
      await paste(page.locator('input[type="password"]'), UPSTREAM_KEY);
      await story.click(page.getByRole("button", { name: say("使用其他接口地址") }));
      await type(page.locator('input[type="url"]'), upstream.url);
      await tab.axe();
      await tab.screenshot(`first-run-${viewport}-2-channel`);
      await story.click(page.getByRole("button", { name: say("保存并继续") }));
      await page.getByRole("heading", { name: say("连接你的客户端") }).waitFor();
      expect(upstream.journal.entries.some((entry) => entry.key === UPSTREAM_KEY && entry.method === "POST")).toBe(
        true,
      );
    });

    test("the Connect panel's key and address work in the official SDK, and the tick appears", async () => {
      const { page } = tab;
      const copied = async (name: string, click = (target: Locator) => target.click()): Promise<string> => {
        await click(page.getByRole("button", { name, exact: true }).first());
        return page.evaluate(() => navigator.clipboard.readText());
      };
      const baseURL = await copied(say("复制接口地址"));
      // One of the two counts: a client's configuration, copied whole, has both.
      const apiKey = await copied(say("复制密钥"), story.click);
      expect(baseURL).toBe(`${weir.url}/v1`);
      expect(apiKey).toMatch(/^sk-[A-Za-z0-9]{48}$/);
      expect(await page.content()).not.toContain(apiKey);
      await page.getByText(say("等待第一个请求…")).waitFor();
      await tab.axe();
      await tab.screenshot(`first-run-${viewport}-3-connect`);

      const client = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
      const stream = await client.chat.completions.create({
        model: "gpt-4o-mini",
        stream: true,
        messages: [{ role: "user", content: "one two three four five" }],
      });
      let answer = "";
      let pieces = 0;
      for await (const chunk of stream) {
        const text = chunk.choices[0]?.delta.content ?? "";
        answer += text;
        if (text) pieces++;
      }
      // spec: C-002
      expect(answer).toBe("one two three four five");
      // spec: C-002
      expect(pieces).toBeGreaterThan(1);

      await page.getByText(`${say("成功")} · 200`).waitFor();
      await tab.screenshot(`first-run-${viewport}-4-tick`);
    });

    test("the log page shows the call, and the lines of its bill sum to the charge to the unit", async () => {
      const { page } = tab;
      const row = await weir.waitForLog(
        (candidate) => candidate.model_name === "gpt-4o-mini" && candidate.token_id > 0,
      );
      await story.click(page.getByRole("link", { name: say("查看日志") }));
      await page.waitForURL(`**/log?open=${row.id}`);
      const units = page.locator("[data-units]");
      await units.first().waitFor();
      const lines = await units.evaluateAll((cells) => cells.map((cell) => cell.getAttribute("data-units") ?? ""));
      const charged = Number(await page.getByTestId("bill-charged").textContent());
      // spec: C-149
      expect(charged).toBe(row.quota);
      // Exact decimals: the lines are summed as tenths of billionths, and rounded once.
      const sum = lines.reduce((total, text) => total + Math.round(Number(text) * 1e10), 0) / 1e10;
      // spec: C-149
      expect(Math.max(1, Math.round(sum))).toBe(charged);
      // spec: C-148, C-149
      expect(await page.getByText(say("与账单一致")).count()).toBe(1);
      // From an empty installation to the first bill.
      expect(story.steps).toBe(8);
      await tab.axe();
      await tab.screenshot(`first-run-${viewport}-5-log`);

      const root = await weir.balance(1);
      expect(root).toMatchObject({ used_quota: charged, request_count: 1 });
      expect(await weir.holds()).toBe(0);
      expect(await weir.audit()).toEqual([]);
    });

    test("signing out and in again leads to the console", async () => {
      const { page } = tab;
      await tab.context.clearCookies();
      await page.evaluate(() => localStorage.removeItem("user"));
      await page.goto(`${weir.url}/log`);
      await page.waitForURL("**/login**");
      await type(page.locator('input[name="username"]'), "keeper");
      await type(page.locator('input[name="password"]'), "wrong-password");
      tab.expectProblem("status of 400");
      await page
        .getByRole("button", { name: say("登录"), exact: true })
        .last()
        .click();
      await page.getByRole("alert").waitFor();
      await tab.axe();
      await type(page.locator('input[name="password"]'), PASSWORD);
      await page.keyboard.press("Enter");
      await page.waitForURL("**/log");
    });
  });
}
