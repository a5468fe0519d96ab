/** The data dashboard from the menu to the log, and what another user sees of it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { expectToLookRight, launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { becomes } from "../kit/browser-wait";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { ROLE } from "../../src/shared/roles";
import { type Session, startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

const upstream = startFakeUpstream();
let browser: TestBrowser;
let weir: Weir;
let ann: Session;

beforeAll(async () => {
  browser = await launchBrowser();
  weir = await startWeir();
  const models = ["gpt-4o", "gpt-4o-mini", "error-500"];
  await weir.newChannel({ name: "main", base_url: upstream.url, models });
  await weir.priceModels({ "gpt-4o": 1.25, "gpt-4o-mini": 0.075, "error-500": 1 });
  ann = await weir.newUser({ role: ROLE.user, quota: 50_000_000 });
  const { key } = await weir.newToken({ name: "laptop" }, ann);
  const mine = await weir.newToken({ name: "root's" });
  for (const [who, model] of [
    [key, "gpt-4o"],
    [key, "gpt-4o"],
    [key, "error-500"],
    [mine.key, "gpt-4o-mini"],
  ] as const) {
    await (await weir.call(who, { model, messages: [{ role: "user", content: "hello" }] })).text();
  }
  // Roll-ups follow the log with a delay of about a second.
  const now = Math.floor(Date.now() / 1000);
  const range = { start_timestamp: now - 3600, end_timestamp: now + 3600 };
  await becomes(async () => {
    const { count, error_count } = await weir.root.trpc.dashboard.totals.query(range);
    return [count, error_count].join();
  }, "3,1");
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await weir?.stop();
  upstream.close();
});

describe("the data dashboard", () => {
  test("an administrator goes from the menu to the chart, compares users, and ends in the log of one column", async () => {
    const tab = await browser.open(`${weir.url}/token`, { as: weir.root, language: "en" });
    const { page } = tab;
    await page.getByRole("link", { name: "Dashboard" }).click();
    const chart = page.getByRole("group", { name: /Spending over time/ });
    // spec: C-032
    await chart.waitFor();
    await page.getByRole("link", { name: "1 failed" }).waitFor();
    await page.getByRole("combobox", { name: "Group by" }).click();
    await page.getByRole("option", { name: "User" }).click();
    await page.getByRole("button", { name: ann.username }).waitFor();
    await expectToLookRight(page);
    await chart.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/log\?start_timestamp=/);
    await page.getByRole("row", { name: /gpt-4o-mini/ }).waitFor();
    tab.check();
    await tab.close();
  });

  test("a user sees only their own data, also on a phone in the dark theme", async () => {
    const tab = await browser.open(`${weir.url}/detail?range=7d&granularity=day`, {
      as: ann,
      viewport: "phone",
      theme: "dark",
    });
    const { page } = tab;
    const shares = page.getByRole("list", { name: "调用占比" });
    await becomes(async () => (await shares.getByRole("listitem").allTextContents()).join(), "gpt-4o2100.0%");
    expect(await page.getByText("渠道出错").count()).toBe(0);
    await page.getByRole("button", { name: "看表格" }).click();
    expect(await page.getByRole("table", { name: "消耗分布" }).getByRole("row").count()).toBe(8);
    await expectToLookRight(page);
    tab.check();
    await tab.close();
  });
});
