/** The log in a real browser with a real Weir: rows that appear, an export, a cleanup. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { LOG_TYPE } from "../../src/shared/log";
import type { NewLogRow } from "../../src/server/db/schema";
import { launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { becomes } from "../kit/browser-wait";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { required } from "../kit/required";
import { startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

const noChromium = required("chromium") === undefined;
let weir: Weir;
let browser: TestBrowser;
let made = 0;
const now = Math.floor(Date.now() / 1000);

const row = (fields: Partial<NewLogRow>): NewLogRow => ({
  request_id: `e2e-${++made}`,
  created_at: now,
  type: LOG_TYPE.consume,
  user_id: weir.root.id,
  username: "root",
  token_name: "t",
  group: "default",
  quota: 10,
  folded: 2,
  ...fields,
});

beforeAll(async () => {
  if (noChromium) return;
  browser = await launchBrowser();
  weir = await startWeir();
  await weir.db.q
    .insert(weir.db.t.logs)
    .values([row({ model_name: "first" }), row({ model_name: "ancient", created_at: now - 90 * 86_400 })]);
}, 90_000);

afterAll(async () => {
  await browser?.close();
  await weir?.stop();
});

describe.skipIf(noChromium)("the log in the console", () => {
  test("a row that is written while the page is open appears without a reload, and the export is the filtered set", async () => {
    const { page, close, check } = await browser.open(`${weir.url}/log`, { as: weir.root });
    // The page starts with today.
    // spec: C-031
    await page.getByText("first", { exact: true }).waitFor();
    expect(await page.getByText("ancient", { exact: true }).count()).toBe(0);
    const listening = page.waitForResponse((response) => response.url().includes("/api/log/live"));
    await page.getByRole("switch", { name: "实时" }).click();
    expect((await listening).status()).toBe(200);
    await weir.db.q
      .insert(weir.db.t.logs)
      .values(row({ model_name: "newcomer", created_at: now + 1, is_stream: true }));
    await page.getByRole("heading", { name: "使用日志" }).hover();
    await page.getByText("newcomer", { exact: true }).waitFor();
    // At 200 % zoom the table scrolls, and the page gets no wider.
    await page.setViewportSize({ width: 720, height: 450 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("switch", { name: "实时" }).click();
    await page.goto(`${weir.url}/log?model_name=first`);
    await page.getByText("first", { exact: true }).waitFor();
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "导出" }).click();
    await page.getByRole("menuitem", { name: "JSONL" }).click();
    const file = await saving;
    expect(file.suggestedFilename()).toMatch(/^weir-log-[\dT-]+\.jsonl$/);
    expect(
      readFileSync(await file.path(), "utf8")
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { model_name: string }).model_name),
    ).toEqual(["first"]);
    await close();
    check();
  }, 60_000);

  test("kept contents of a plain, a streamed and a translated call are in its details, which J and K walk and paper shows whole", async () => {
    using upstream = startFakeUpstream();
    await weir.setOption("LogContentEnabled", "true");
    await weir.priceModels({ echo: 1 });
    await weir.newChannel({ base_url: upstream.url, models: ["echo"] });
    const { key } = await weir.newToken();
    const body = { model: "echo", max_tokens: 50, messages: [{ role: "user", content: "say this sentence" }] };
    for (const [path, more] of [
      ["/v1/chat/completions", {}],
      ["/v1/chat/completions", { stream: true }],
      ["/v1/messages", { stream: true }],
    ] as const)
      await (await weir.call(key, { ...body, ...more }, { path })).text();
    const calls = async () => (await weir.logs()).filter((log) => log.model_name === "echo");
    await becomes(async () => (await calls()).length, 3);
    await becomes(async () => (await weir.db.q.select().from(weir.db.t.log_bodies)).length, 3);
    const last = (await calls()).at(-1)?.id;
    const { page, close, check } = await browser.open(`${weir.url}/log?model_name=echo&open=${last}`, {
      as: weir.root,
    });
    const dialog = page.getByRole("dialog");
    for (const at of [0, 1, 2]) {
      if (at > 0) await page.keyboard.press("j");
      await page.waitForURL((url) => url.searchParams.get("open") === String((last ?? 0) - at));
      await dialog.getByRole("tab", { name: "内容" }).click();
      const answer = dialog.getByLabel("回答");
      await answer.getByText("say this sentence").waitFor();
      if (at < 2) expect((await answer.textContent())?.trim()).toBe("say this sentence");
    }
    await page.emulateMedia({ media: "print" });
    expect(await page.locator("#root").isVisible()).toBe(false);
    const { x = -1, y = -1, width = 0 } = (await dialog.boundingBox()) ?? {};
    expect([x, y, width]).toEqual([0, 0, 1440]);
    expect(await dialog.getByRole("button").filter({ visible: true }).count()).toBe(0);
    await page.emulateMedia({ media: "screen" });
    await close();
    check();
  }, 60_000);

  test("a super administrator cleans the log, in the dark, on a phone", async () => {
    const { page, close, check } = await browser.open(`${weir.url}/log`, {
      as: weir.root,
      theme: "dark",
      viewport: "phone",
    });
    await page.getByRole("button", { name: "清理日志" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "清理日志" }).click();
    await becomes(async () => (await weir.logs()).some((log) => log.model_name === "ancient"), false);
    expect((await weir.logs()).some((log) => log.model_name === "first")).toBe(true);
    await close();
    check();
  }, 60_000);
});
