/**
 * The channels of the console in a real browser, with a real Weir and the fake upstream: by keyboard, on a phone, in
 * both themes and languages. The console is rebuilt when it is older than its sources.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { type ConsolePage, launchBrowser, type PageOptions, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { becomes, eventually } from "../kit/browser-wait";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import { required } from "../kit/required";
import { paste, type } from "../kit/typing";
import { startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

const found = required("chromium") !== undefined;
let upstream: FakeUpstream;
let weir: Weir;
let browser: TestBrowser;

beforeAll(async () => {
  if (!found) return;
  browser = await launchBrowser();
  upstream = startFakeUpstream({ port: 0, hostname: "127.0.0.1" });
  weir = await startWeir({ env: { WEIR_ALLOW_PRIVATE_FETCH: "true" } });
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await weir?.stop();
  upstream?.close();
});

/** Runs `story` in a fresh window signed in as root; the page must have no problem. */
async function withPage(
  path: string,
  options: PageOptions,
  story: (page: Page, console: ConsolePage) => Promise<void>,
): Promise<void> {
  const opened = await browser.open(weir.url + path, { as: weir.root, ...options });
  try {
    await story(opened.page, opened);
    opened.check();
  } finally {
    await opened.close();
  }
}

const newChannel = (name: string, more: Record<string, unknown> = {}) =>
  weir.newChannel({ name, base_url: upstream.url, models: ["gpt-4o-mini", "error-401"], ...more });

/** The row of a channel; on a phone its card. */
const rowOf = (page: Page, name: string) => page.locator("[data-row]").filter({ hasText: name });

const statusOf = async (id: number) => (await weir.root.trpc.channel.get.query({ id })).status;

describe.skipIf(!found)("channels", () => {
  test("a channel is added by keyboard alone, tested at once, and its draft and key field are gone afterwards", async () => {
    await withPage("/channel", {}, async (page) => {
      await page.getByRole("button", { name: "添加渠道" }).first().focus();
      await page.keyboard.press("Enter");
      const type = page.getByRole("combobox", { name: "类型" });
      await type.focus();
      await page.keyboard.type("openai");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      await page.keyboard.type("键盘渠道");
      await page.keyboard.press("Tab");
      await page.keyboard.type(`${upstream.url}/v1/`);
      await page.keyboard.press("Tab");
      await page.getByText("已去掉结尾的 /v1/").waitFor();
      await page.keyboard.type("sk-keyboard");
      await page.keyboard.press("Control+Enter");
      // spec: C-060, C-096
      await page.getByText("渠道创建成功！").waitFor();
      // The new channel is shown, with its test button.
      const detail = page.getByRole("dialog", { name: "键盘渠道" });
      await detail.getByRole("button", { name: "测试渠道 键盘渠道", exact: true }).focus();
      await page.keyboard.press("Enter");
      // spec: C-087
      await page.getByText(/渠道 键盘渠道 测试成功，耗时 \d+\.\d\d 秒/).waitFor();
      expect(await page.evaluate(() => localStorage.getItem("draft:channel-new"))).toBeNull();
    });
    const { items } = await weir.root.trpc.channel.list.query({ keyword: "键盘渠道" });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      type: 1,
      base_url: upstream.url,
      group: "default",
      priority: 0,
      weight: 0,
      auto_ban: 1,
    });
    expect(items[0]?.models.split(",").length).toBeGreaterThan(5);
    expect(items[0]?.response_time).toBeGreaterThan(0);
  });

  test("saving without the required fields says what is missing, at the fields, and leads to the first", async () => {
    await withPage("/channel/add", {}, async (page) => {
      // spec: C-025
      await page.getByRole("heading", { level: 1, name: "添加渠道" }).waitFor();
      await page.getByRole("button", { name: "创建" }).click();
      await page.getByText("请选择渠道类型").waitFor();
      for (const text of ["请填写名称和密钥", "请至少选择一个模型"]) await page.getByText(text).first().waitFor();
      const focused = page.locator("[role=combobox]:focus");
      expect(await focused.getAttribute("aria-invalid")).toBe("true");
      await page.getByRole("button", { name: /类型与连接.*有错误/ }).waitFor();
    });
  });

  test("three lines of keys become three channels", async () => {
    await withPage("/channel?edit=new", {}, async (page) => {
      await type(page.getByRole("combobox", { name: "类型" }), "deepseek");
      await page.keyboard.press("Enter");
      await type(page.getByRole("textbox", { name: "名称", exact: true }), "批量");
      await paste(page.getByRole("textbox", { name: "密钥", exact: true }), "sk-1\nsk-2\nsk-3");
      await page.getByText("检测到 3 个密钥，将批量创建 3 个渠道").waitFor();
      await page.getByRole("button", { name: "创建" }).click();
      await page.getByText("渠道创建成功！").waitFor();
    });
    // spec: C-206
    expect((await weir.root.trpc.channel.list.query({ keyword: "批量" })).total).toBe(3);
  });

  test("the upstream's models are compared and taken over; typed doubles are named", async () => {
    const id = await newChannel("取模型");
    await withPage(`/channel/edit/${id}`, {}, async (page) => {
      await page.getByRole("button", { name: "获取模型列表" }).click();
      await page.getByRole("dialog", { name: "上游模型列表" }).waitFor();
      await type(page.getByRole("searchbox", { name: "筛选模型" }), "late-usage");
      await page.getByRole("checkbox", { name: "late-usage", exact: true }).click();
      await page.getByRole("button", { name: "应用" }).click();
      await type(page.getByRole("textbox", { name: "自定义模型名称" }), "my-model, gpt-4o-mini");
      await page.keyboard.press("Enter");
      // spec: C-408
      await page.getByText("某些模型已存在！ gpt-4o-mini").waitFor();
      await page.getByRole("button", { name: "保存" }).click();
      await page.getByText("渠道更新成功！").waitFor();
    });
    const { models } = await weir.root.trpc.channel.get.query({ id });
    // spec: C-407
    expect(models.split(",")).toEqual(["gpt-4o-mini", "error-401", "late-usage", "my-model"]);
  });

  test("what was typed and not saved survives a reload, the key excepted", async () => {
    const id = await newChannel("草稿");
    await withPage(`/channel?edit=${id}`, {}, async (page) => {
      await type(page.getByRole("combobox", { name: "标签" }), "半途");
      await paste(page.getByRole("textbox", { name: "密钥", exact: true }), "sk-secret");
      await page.getByText("2 处修改").waitFor();
      await page.waitForFunction((key) => localStorage.getItem(key)?.includes("半途"), `draft:channel-edit-${id}`);
      expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain("sk-secret");
      page.on("dialog", (dialog) => void dialog.accept());
      await page.reload();
      await page.getByRole("button", { name: "恢复" }).click();
      expect(await page.getByRole("combobox", { name: "标签" }).inputValue()).toBe("半途");
      expect(await page.getByRole("textbox", { name: "密钥", exact: true }).inputValue()).toBe("");
      await page.keyboard.press("Control+Enter");
      await page.getByText("渠道更新成功！").waitFor();
    });
    expect((await weir.root.trpc.channel.get.query({ id })).tag).toBe("半途");
  });

  test("a channel is disabled, the row says so at once, and undo brings it back", async () => {
    const id = await newChannel("可撤销");
    await withPage("/channel?keyword=可撤销", {}, async (page) => {
      const row = rowOf(page, "可撤销");
      await row.getByRole("button", { name: "行菜单" }).click();
      await page.getByRole("menuitem", { name: "禁用" }).click();
      await row.getByText("已禁用").waitFor();
      await page.getByText("已禁用渠道 可撤销").waitFor();
      // spec: C-091, C-325
      await becomes(() => statusOf(id), 2);
      await page.getByRole("button", { name: "撤销", exact: true }).click();
      await row.getByText("已启用").waitFor();
      // spec: C-326
      await becomes(() => statusOf(id), 1);
    });
  });

  test("a change of status that the server refuses is taken back on the screen", async () => {
    const id = await newChannel("被拒");
    await withPage("/channel?keyword=被拒", {}, async (page, { expectProblem }) => {
      expectProblem("channel.update");
      await page.route("**/trpc/channel.update*", (route) => route.abort());
      const row = rowOf(page, "被拒");
      await row.getByRole("button", { name: "行菜单" }).click();
      await page.getByRole("menuitem", { name: "禁用" }).click();
      await page.getByText("无法连接到服务器", { exact: true }).waitFor();
      await row.getByText("已启用").waitFor();
    });
    expect(await statusOf(id)).toBe(1);
  });

  test("by keyboard: rows are walked, copied, edited and deleted", async () => {
    const id = await newChannel("走一行");
    await withPage("/channel?keyword=走一行", {}, async (page) => {
      await rowOf(page, "走一行").waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("c");
      // spec: C-093
      await page.getByText("渠道复制成功：走一行_复制").waitFor();
      await rowOf(page, "走一行_复制").waitFor();
      // The copy is first: it is newer.
      await page.keyboard.press("k");
      await page.keyboard.press("e");
      // spec: C-092
      await page.getByRole("dialog", { name: "编辑渠道 走一行_复制" }).waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press(".");
      await page.getByRole("menuitem", { name: "删除" }).focus();
      await page.keyboard.press("Enter");
      const question = page.getByRole("alertdialog", { name: "删除渠道 走一行_复制？" });
      await question.getByRole("button", { name: "删除" }).focus();
      await page.keyboard.press("Enter");
      await page.getByText("渠道已删除").waitFor();
      // spec: C-090
      await becomes(() => rowOf(page, "走一行").count(), 1);
    });
    const { items } = await weir.root.trpc.channel.list.query({ keyword: "走一行" });
    // spec: C-090, C-093
    expect(items.map((row) => row.id)).toEqual([id]);
  });

  test("a test of one model shows its time, a failing one its reason, in the row and in the toast", async () => {
    await newChannel("测一测");
    await withPage("/channel?keyword=测一测", {}, async (page) => {
      const row = rowOf(page, "测一测");
      await row.getByRole("button", { name: "测试渠道 测一测 的某个模型" }).click();
      await page.getByRole("menuitem", { name: "error-401" }).click();
      // spec: C-088
      await page.getByText(/渠道 测一测：测试失败：.*401/).waitFor();
      await row.getByText(/^失败/).waitFor();
      await row.getByRole("button", { name: "测试渠道 测一测", exact: true }).click();
      await row.getByText(/^\d+ ms$/).waitFor();
    });
  });

  test("filters live in the address and find by model, type and status; sort-by-ID is remembered", async () => {
    const rare = await newChannel("稀有", { models: ["one-of-a-kind"], priority: 99 });
    const last = await newChannel("最后");
    await withPage("/channel?model=of-a-kin", {}, async (page) => {
      await rowOf(page, "稀有").waitFor();
      expect(await page.locator("tr[data-row]").count()).toBe(1);
      await page.getByRole("button", { name: "移除筛选：模型" }).click();
      await eventually("more than one row", async () => (await page.locator("tr[data-row]").count()) > 1);
      expect(await page.locator("tr[data-row]").first().textContent()).toContain(String(rare));
      await page.getByRole("checkbox", { name: "按 ID 排序" }).click();
      await eventually(
        "the newest first",
        async () => (await page.locator("tr[data-row]").first().textContent())?.startsWith(String(last)) ?? false,
      );
      // spec: C-057, C-316
      expect(await page.evaluate(() => localStorage.getItem("id-sort"))).toBe("true");
      await page.reload();
      // spec: C-058
      await page.getByRole("checkbox", { name: "按 ID 排序", checked: true }).waitFor();
      await page.getByRole("button", { name: "已禁用", exact: true }).click();
      await page.waitForURL(/status=2/);
    });
  });

  test("a deleted channel has its own message", async () => {
    await withPage("/channel/edit/999999", {}, async (page, { expectProblem }) => {
      expectProblem("status of 404");
      // spec: C-572
      await page.getByText("渠道未找到，请刷新页面后重试。").waitFor();
    });
    const id = await newChannel("将被删");
    await withPage("/channel?keyword=将被删", {}, async (page, { expectProblem }) => {
      expectProblem("status of 404");
      const row = rowOf(page, "将被删");
      await row.waitFor();
      // While the copy is on its way: told of it, the page drops the row at once.
      await page.route("**/trpc/channel.copy*", async (route) => {
        await weir.root.trpc.channel.delete.mutate({ id });
        await route.continue();
      });
      await row.getByRole("button", { name: "行菜单" }).click();
      await page.getByRole("menuitem", { name: "复制" }).click();
      const told = page.getByText("渠道复制失败：渠道未找到，请刷新页面后重试。");
      await told.waitFor();
      // spec: C-573
      expect(await told.count()).toBe(1);
    });
  });

  test("on a phone a channel is added, tested and disabled", async () => {
    await withPage("/channel", { viewport: "phone" }, async (page) => {
      await page.getByRole("button", { name: "添加渠道" }).first().tap();
      await type(page.getByRole("combobox", { name: "类型" }), "openai");
      await page.getByRole("option").first().tap();
      await type(page.getByRole("textbox", { name: "名称", exact: true }), "手机渠道");
      await type(page.getByRole("textbox", { name: "接口地址", exact: true }), upstream.url);
      await paste(page.getByRole("textbox", { name: "密钥", exact: true }), "sk-phone");
      await page.getByRole("button", { name: "创建" }).tap();
      const detail = page.getByRole("dialog", { name: "手机渠道" });
      await detail.getByRole("button", { name: "测试渠道 手机渠道", exact: true }).tap();
      await page.getByText(/测试成功/).waitFor();
      await detail.getByRole("switch", { name: "启用渠道 手机渠道" }).tap();
      await page.getByText("已禁用渠道 手机渠道").waitFor();
    });
    const { items } = await weir.root.trpc.channel.list.query({ keyword: "手机渠道" });
    expect(items[0]?.status).toBe(2);
  });

  for (const viewport of ["desktop", "phone"] as const) {
    for (const [language, theme] of [
      ["zh", "light"],
      ["zh", "dark"],
      ["en", "light"],
      ["en", "dark"],
    ] as const) {
      test(`axe finds nothing on list, detail and form: ${language}, ${theme}, ${viewport}`, async () => {
        const id = await newChannel(`axe ${language} ${theme} ${viewport}`, { tag: "tag", model_mapping: '{"a":"b"}' });
        await withPage("/channel", { language, theme, viewport }, async (page, { looksRight }) => {
          for (const path of [
            "/channel",
            `/channel?open=${id}`,
            `/channel?edit=${id}`,
            "/channel?edit=new",
            "/channel/add",
          ]) {
            await page.goto(weir.url + path);
            const settled = path === "/channel" ? "[data-row]" : path === "/channel/add" ? "form" : "[role=dialog]";
            await page.locator(settled).first().waitFor();
            await looksRight();
          }
        });
      });
    }
  }
});
