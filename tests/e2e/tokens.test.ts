/** The token page in a real browser with a real Weir: by keyboard, on a phone, in both themes and languages. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { type ConsolePage, launchBrowser, type PageOptions, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { becomes } from "../kit/browser-wait";
import { required } from "../kit/required";
import { paste, type } from "../kit/typing";
import { type Session, startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

const noChromium = required("chromium") === undefined;
let weir: Weir;
let browser: TestBrowser;
let owner: Session;
let opened: ConsolePage[] = [];

beforeAll(async () => {
  if (noChromium) return;
  weir = await startWeir();
  await weir.setOption("UserUsableGroups", { default: "默认分组", vip: "VIP 分组" });
  await weir.setOption("GroupRatio", { default: 1, vip: 2.5 });
  // Never called: it only provides models.
  await weir.newChannel({ base_url: "http://127.0.0.1:9", models: ["gpt-4o", "gpt-4o-mini"], group: "default,vip" });
  browser = await launchBrowser();
}, 90_000);

afterAll(async () => {
  await browser?.close();
  await weir?.stop();
});

beforeEach(async () => {
  if (!noChromium) owner = await weir.newUser({ quota: 5_000_000 });
});

afterEach(async () => {
  const pages = opened;
  opened = [];
  for (const { close } of pages) await close();
  for (const { check } of pages) check();
});

async function open(path: string, options: PageOptions = {}): Promise<ConsolePage> {
  const page = await browser.open(weir.url + path, { as: owner, ...options });
  opened.push(page);
  return page;
}

/** Presses `key` until the focused element has this name. */
async function walkTo(page: Page, name: string, key = "Tab"): Promise<void> {
  for (let steps = 0; steps < 80; steps++) {
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      const labels =
        element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
          ? [...(element.labels ?? [])]
          : [];
      return (
        element?.getAttribute("aria-label") ??
        (labels.map((label) => label.textContent).join(" ") || element?.textContent || "")
      );
    });
    if (focused.trim().startsWith(name)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`the keyboard does not reach "${name}"`);
}

const row = (page: Page, name: string) =>
  page.locator("[data-row]").filter({ has: page.getByText(name, { exact: true }) });
const field = (page: Page, name: string) => page.getByRole("dialog").getByLabel(name, { exact: true });
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());
const stored = async () => (await owner.trpc.token.list.query({ page_size: 100 })).items;
const one = async (id: number) => owner.trpc.token.get.query({ id });

async function menu(page: Page, name: string, item: string): Promise<void> {
  await row(page, name).getByRole("button", { name: "行菜单" }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

describe.skipIf(noChromium)("tokens in the console", () => {
  test("a token is created by keyboard alone and its Connect panel opens", async () => {
    const { page } = await open("/log");
    await page.getByRole("heading", { name: "使用日志" }).waitFor();
    const heading = page.getByRole("heading", { name: "API 令牌" });
    // The two keys must follow within a second of each other, which a busy machine may miss.
    for (let tries = 0; tries < 5 && !(await heading.isVisible()); tries++) {
      await page.keyboard.press("g");
      await page.keyboard.press("t");
      await heading.waitFor({ timeout: 2000 }).catch(() => undefined);
    }
    await heading.waitFor();
    await walkTo(page, "添加令牌");
    await page.keyboard.press("Enter");
    await walkTo(page, "名称");
    await page.keyboard.type("by keyboard");
    await walkTo(page, "令牌额度");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("2.5");
    await walkTo(page, "1 小时");
    await page.keyboard.press("Space");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "连接" }).waitFor();
    const [token] = await stored();
    // spec: C-102, C-118
    expect(token).toMatchObject({ name: "by keyboard", remain_quota: 1_250_000, status: 1, group: "" });
    expect(Math.abs((token?.expired_time ?? 0) - Date.now() / 1000 - 3600)).toBeLessThan(30);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("a row is edited, copied and disabled by keyboard alone", async () => {
    const { id, key } = await weir.newToken({ name: "keys only", quota: 500_000 }, owner);
    const { page } = await open("/token");
    await row(page, "keys only").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("c");
    await page.getByText("已复制令牌 keys only 的密钥").waitFor();
    // spec: C-112
    expect(await clipboard(page)).toBe(key);
    await page.keyboard.press(".");
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowDown");
    await page.getByRole("menuitem", { name: "禁用" }).press("Enter");
    await row(page, "keys only").getByText("已禁用").waitFor();
    await page.getByText("已禁用令牌 keys only").waitFor();
    // spec: C-116
    expect((await one(id)).status).toBe(2);
    await row(page, "keys only").focus();
    await page.keyboard.press("e");
    await page.getByRole("dialog").waitFor();
    await walkTo(page, "名称");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("renamed");
    await page.keyboard.press("Control+Enter");
    await row(page, "renamed").waitFor();
    // spec: C-117, C-118
    expect(await one(id)).toMatchObject({ name: "renamed", remain_quota: 500_000, status: 2 });
  });

  test("a batch keeps the plain name once and all keys are copied with one click", async () => {
    const { page } = await open("/token?edit=new");
    await type(field(page, "名称*"), "batch");
    await page.getByRole("button", { name: "10", exact: true }).click();
    await page.getByRole("button", { name: /^创建/ }).click();
    await page.getByRole("button", { name: "复制全部" }).click();
    await page.getByText("已复制 10 个令牌").waitFor();
    const lines = (await clipboard(page)).split("\n");
    expect(lines).toHaveLength(10);
    expect(lines[0]).toMatch(/^batch {4}sk-\w{48}$/);
    // spec: C-615
    for (const line of lines.slice(1)) expect(line).toMatch(/^batch-[a-z0-9]{6} {4}sk-\w{48}$/);
    expect(await stored()).toHaveLength(10);
  });

  test("an unlimited token switches quota and count off", async () => {
    const { page } = await open("/token?edit=new");
    await type(field(page, "名称*"), "open end");
    await page.getByRole("button", { name: "30", exact: true }).click();
    await page.getByRole("switch", { name: "无限额度" }).click();
    // spec: C-432
    expect(await field(page, "令牌额度").isDisabled()).toBe(true);
    // spec: C-433
    expect(await field(page, "数量").isDisabled()).toBe(true);
    await page.getByRole("button", { name: /^创建/ }).click();
    await page.getByRole("heading", { name: "连接" }).waitFor();
    expect((await stored()).map(({ name, unlimited_quota }) => ({ name, unlimited_quota }))).toEqual([
      { name: "open end", unlimited_quota: true },
    ]);
  });

  test("each error is shown at its field and nothing is sent", async () => {
    const { page } = await open("/token?edit=new");
    // spec: C-434
    expect(await field(page, "可用模型").isDisabled()).toBe(true);
    await type(field(page, "过期时间"), "tomorrow");
    await type(field(page, "IP 白名单"), "10.0.0.1\nnonsense\n2001:db8::/32");
    await page.getByRole("switch", { name: "限制模型" }).click();
    await page.keyboard.press("Control+Enter");
    for (const text of [
      "请输入令牌名称！",
      "过期时间格式错误！",
      "第 2 行不是合法的 IP 或网段：nonsense",
      "启用模型限制时请至少选择一个模型",
    ])
      await page.getByRole("alert").filter({ hasText: text }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("name");
    expect(await stored()).toEqual([]);
  });

  test("everything that the form sets arrives", async () => {
    const { page } = await open("/token?edit=new");
    await type(field(page, "名称*"), "full");
    await type(field(page, "过期时间"), "2035-06-01 12:00:00");
    await page.getByRole("radio", { name: /^vip/ }).click();
    await page.getByRole("switch", { name: "限制模型" }).click();
    await type(field(page, "可用模型"), "gpt-4o-mini");
    await field(page, "可用模型").press("Enter");
    await type(field(page, "IP 白名单"), "10.0.0.1, 10.0.0.2");
    await type(field(page, "IP 黑名单"), "2001:db8::/32");
    await type(field(page, "每分钟请求"), "60");
    await type(field(page, "并发数"), "3");
    await page.getByRole("button", { name: /^创建/ }).click();
    await page.getByRole("heading", { name: "连接" }).waitFor();
    const expiry = await page.evaluate(() => Math.floor(new Date(2035, 5, 1, 12).getTime() / 1000));
    expect((await stored())[0]).toMatchObject({
      name: "full",
      expired_time: expiry,
      group: "vip",
      model_limits_enabled: true,
      model_limits: "gpt-4o-mini",
      allow_ips: "10.0.0.1\n10.0.0.2",
      deny_ips: "2001:db8::/32",
      rpm: 60,
      tpm: 0,
      concurrency: 3,
    });
  });

  test("unsaved input survives a reload", async () => {
    const { page } = await open("/token?edit=new");
    await type(field(page, "名称*"), "half done");
    await page.waitForFunction(() => localStorage.getItem("draft:token-new")?.includes("half done"));
    await page.reload();
    await page.getByRole("button", { name: "恢复" }).click();
    expect(await field(page, "名称*").inputValue()).toBe("half done");
  });

  test("selected tokens are copied one a line, and copying none says so", async () => {
    const a = await weir.newToken({ name: "first" }, owner);
    const b = await weir.newToken({ name: "second" }, owner);
    await weir.newToken({ name: "third" }, owner);
    const { page } = await open("/token");
    await page.getByRole("button", { name: "复制所选" }).click();
    // spec: C-435
    await page.getByText("请至少选择一个令牌！").waitFor();
    await row(page, "first").getByRole("checkbox").check();
    await row(page, "second").getByRole("checkbox").check();
    await page.getByRole("button", { name: "复制所选" }).click();
    await page.getByText("已复制 2 个令牌").waitFor();
    // spec: C-103, C-104
    expect(await clipboard(page)).toBe(`second    ${b.key}\nfirst    ${a.key}`);
  });

  test("the list shows keys masked, and the whole one for ten seconds on demand", async () => {
    const { key } = await weir.newToken({ name: "secret" }, owner);
    const { page } = await open("/token");
    await row(page, "secret")
      .getByText(`${key.slice(0, 7)}…${key.slice(-4)}`)
      .waitFor();
    // spec: C-119
    expect(await page.content()).not.toContain(key);
    await page.clock.install();
    await row(page, "secret").getByRole("button", { name: "显示密钥 10 秒" }).click();
    // spec: C-027, C-111, C-119, C-249
    await page.getByText(key).waitFor();
    await page.clock.fastForward(10_500);
    await page.getByText(key).waitFor({ state: "detached" });
  });

  test("tokens are found by name and by key, and a whole key never stays in the address", async () => {
    const { key } = await weir.newToken({ name: "needle" }, owner);
    await weir.newToken({ name: "hay" }, owner);
    const { page } = await open("/token");
    await type(page.getByRole("searchbox"), "need");
    await row(page, "hay").waitFor({ state: "detached" });
    await row(page, "needle").waitFor();
    await type(page.getByRole("searchbox"), "");
    await row(page, "hay").waitFor();
    await page.getByRole("button", { name: "筛选" }).click();
    await paste(page.getByRole("dialog").getByLabel("密钥"), key);
    await page.keyboard.press("Enter");
    await row(page, "hay").waitFor({ state: "detached" });
    await row(page, "needle").waitFor();
    expect(page.url()).toContain(`token=${key.slice(0, 11)}`);
    expect(page.url()).not.toContain(key.slice(3));
  });

  test("disabling is undone within eight seconds, and sends nothing but the status", async () => {
    const { id } = await weir.newToken({ name: "toggle", quota: 500_000 }, owner);
    const { page } = await open("/token");
    await row(page, "toggle").waitFor();
    const sent = page.waitForRequest((request) => request.url().includes("token.setStatus"));
    await menu(page, "toggle", "禁用");
    // spec: C-345
    expect((await sent).postData()).toContain(`{"id":${id},"status":2}`);
    await row(page, "toggle").getByText("已禁用").waitFor();
    await page.getByRole("button", { name: "撤销" }).click();
    await row(page, "toggle").getByText("已启用").waitFor();
    // spec: C-345
    // spec: C-116
    await becomes(async () => (await one(id)).status, 1);
  });

  test("an expired and an exhausted token cannot be enabled, and the page says why", async () => {
    await weir.newToken({ name: "late", quota: 500_000, expired_time: Math.floor(Date.now() / 1000) - 60 }, owner);
    await weir.newToken({ name: "spent", quota: 0 }, owner);
    const { page, expectProblem } = await open("/token");
    expectProblem("400");
    await row(page, "spent").getByText("已耗尽").waitFor();
    await menu(page, "spent", "启用");
    // spec: C-347
    await page.getByText("令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度").waitFor();
    await menu(page, "late", "启用");
    // spec: C-346
    await page.getByText("令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期").waitFor();
    await row(page, "late").getByText("已过期").waitFor();
  });

  test("a clipboard that refuses shows the key in a dialog", async () => {
    const { key } = await weir.newToken({ name: "refused" }, owner);
    const { page, context } = await open("/token");
    await context.clearPermissions();
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new DOMException("denied", "NotAllowedError"));
    });
    await row(page, "refused").getByRole("button", { name: "复制密钥" }).click();
    await page.getByRole("heading", { name: "无法复制到剪贴板，请手动复制" }).waitFor();
    expect(await page.getByRole("textbox", { name: "要复制的文本" }).inputValue()).toBe(key);
  });

  test("on a phone a token is created, edited and deleted", async () => {
    const { page } = await open("/token", { viewport: "phone" });
    await page.getByText("还没有令牌").waitFor();
    await page.getByRole("button", { name: "添加令牌" }).first().tap();
    await type(field(page, "名称*"), "pocket");
    await page.getByRole("button", { name: /^创建/ }).tap();
    await page.getByRole("heading", { name: "连接" }).waitFor();
    await page.getByRole("button", { name: "编辑" }).tap();
    await type(field(page, "名称*"), "pocket 2");
    await page.getByRole("button", { name: /^保存/ }).tap();
    await page.getByText("令牌更新成功！").waitFor();
    await page.getByRole("button", { name: "关闭" }).tap();
    await row(page, "pocket 2").getByRole("button", { name: "行菜单" }).tap();
    await page.getByRole("menuitem", { name: "删除" }).tap();
    await page.getByRole("alertdialog").getByRole("button", { name: "删除" }).tap();
    await page.getByText("还没有令牌").waitFor();
    // spec: C-115
    expect(await stored()).toEqual([]);
  });

  for (const [language, theme, viewport] of [
    ["zh", "light", "desktop"],
    ["en", "dark", "phone"],
    ["zh", "dark", "phone"],
    ["en", "light", "desktop"],
  ] as const) {
    test(`axe finds nothing: ${language}, ${theme}, ${viewport}`, async () => {
      const { id } = await weir.newToken({ name: "site", quota: 500_000, group: "vip", rpm: 60 }, owner);
      await weir.newToken({ name: "limited", model_limits_enabled: true, model_limits: "gpt-4o" }, owner);
      const { page, axe, looksRight } = await open("/token", { language, theme, viewport });
      await row(page, "limited").waitFor();
      await axe();
      for (const path of ["/token?edit=new", `/token?edit=${id}`, `/token?open=${id}`]) {
        await page.goto(weir.url + path);
        await page.getByRole("dialog").getByText("vip").first().waitFor();
        await looksRight();
      }
    });
  }
});
