/**
 * Many channels at once, in a real browser with a real Weir and the fake upstream: tags, batches, runs over all,
 * in-place edits, balances, health, and who used a channel.
 */
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { statusInfo } from "../../src/shared/channel-operations";
import { type ConsolePage, launchBrowser, type PageOptions, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { becomes } from "../kit/browser-wait";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import { required } from "../kit/required";
import { type } from "../kit/typing";
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
  weir.newChannel({ name, base_url: upstream.url, models: ["gpt-4o-mini"], ...more });
const channel = (id: number) => weir.root.trpc.channel.get.query({ id });
const rowOf = (page: Page, name: string) => page.locator("[data-row]").filter({ hasText: name });

async function chooseInRow(page: Page, name: string, action: string): Promise<void> {
  await rowOf(page, name).first().getByRole("button", { name: "行菜单" }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

async function chooseForAll(page: Page, action: string): Promise<void> {
  await page.getByRole("button", { name: "更多操作" }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

/** Sets a channel status that only the system sets. */
async function autoDisable(id: number): Promise<void> {
  const { channels } = weir.db.t;
  const other_info = statusInfo(
    { code: "channel_test_failed", values: { detail: "HTTP 401: bad key" } },
    1_795_217_368,
  );
  await weir.db.q.update(channels).set({ status: 3, other_info }).where(eq(channels.id, id));
}

describe.skipIf(!found)("many channels", () => {
  test("tag mode shows sums and a dash for what differs, unfolds by keyboard, and the address keeps it all", async () => {
    await newChannel("聚合甲", { tag: "聚合组", priority: 3, weight: 1 });
    await newChannel("聚合乙", { tag: "聚合组", priority: 3, weight: 2 });
    await newChannel("聚合无签");
    await withPage("/channel?keyword=聚合", {}, async (page) => {
      await rowOf(page, "聚合甲").waitFor();
      await page.getByRole("button", { name: "标签聚合" }).click();
      const tag = page.getByRole("row", { name: "聚合组" });
      await tag.getByText("已启用 2 / 2").waitFor();
      await tag.getByRole("button", { name: "修改 聚合组 的优先级：3" }).waitFor();
      // spec: C-069, C-075
      await tag.getByRole("button", { name: "修改 聚合组 的权重：—" }).waitFor();
      // spec: C-069
      expect(await page.locator("[data-row]").count()).toBe(2);
      await page.getByText("第 1 - 2 条，共 2 条").waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      // spec: C-070
      await rowOf(page, "聚合甲").waitFor();
      // Untagged channels come last.
      // spec: C-070, C-074
      expect(await page.locator("[data-row]").last().textContent()).toContain("聚合无签");
      await page.reload();
      await rowOf(page, "聚合乙").waitFor();
      await page.getByRole("button", { name: "收起标签 聚合组" }).click();
      await becomes(() => page.locator("[data-row]").count(), 2);
    });
  });

  test("a tag is disabled as a whole, undo gives each channel its own status back, and enabled as a whole", async () => {
    const on = await newChannel("整组开", { tag: "整组" });
    const off = await newChannel("整组关", { tag: "整组" });
    await weir.root.trpc.channel.update.mutate({ id: off, status: 2 });
    await withPage("/channel?keyword=整组&tags=1", {}, async (page) => {
      await chooseInRow(page, "整组", "禁用全部");
      await page.getByText("已禁用标签 整组 的全部渠道").waitFor();
      // spec: C-072
      expect([(await channel(on)).status, (await channel(off)).status]).toEqual([2, 2]);
      await page.getByRole("button", { name: "撤销", exact: true }).click();
      await becomes(async () => (await channel(on)).status, 1);
      expect((await channel(off)).status).toBe(2);
      // A toast that closes returns the focus, which closes a menu.
      await page.getByText("已禁用标签 整组 的全部渠道").waitFor({ state: "detached" });
      await chooseInRow(page, "整组", "启用全部");
      await page.getByText("已启用标签 整组 的全部渠道").waitFor();
      // spec: C-071
      expect([(await channel(on)).status, (await channel(off)).status]).toEqual([1, 1]);
    });
  });

  test("the tag dialog calls nothing when nothing changed, refuses broken JSON, overwrites what is filled, dissolves by a blank name", async () => {
    const id = await newChannel("改签", { tag: "旧签", models: ["keep-me"], priority: 4 });
    await withPage("/channel?keyword=改签&tags=1", {}, async (page) => {
      let calls = 0;
      page.on("request", (request) => {
        if (request.url().includes("channel.tagEdit")) calls += 1;
      });
      await rowOf(page, "旧签").waitFor();
      await chooseInRow(page, "旧签", "编辑标签");
      const dialog = page.getByRole("dialog", { name: "编辑标签 旧签" });
      await dialog.getByRole("button", { name: "保存" }).click();
      // spec: C-415
      // spec: C-073
      await page.getByText("没有任何修改！").waitFor();
      await dialog.getByRole("button", { name: "填入模板" }).click();
      await dialog.getByRole("button", { name: "以 JSON 编辑" }).click();
      const json = dialog.getByRole("textbox", { name: "模型映射" });
      // spec: C-098
      expect(JSON.parse(await json.inputValue())).toEqual({ "gpt-3.5-turbo": "gpt-3.5-turbo-0125" });
      await type(json, "{");
      await type(dialog.getByRole("textbox", { name: "优先级" }), "1.5");
      await dialog.getByRole("button", { name: "保存" }).click();
      // spec: C-418
      await dialog.getByText("模型映射必须是合法的 JSON 格式！").waitFor();
      await dialog.getByText("优先级必须是整数！").waitFor();
      // spec: C-415
      expect(calls).toBe(0);
      await type(json, '{"a":"b"}');
      await type(dialog.getByRole("textbox", { name: "优先级" }), "");
      await type(dialog.getByRole("textbox", { name: "权重" }), "8");
      await type(dialog.getByRole("textbox", { name: "标签名称" }), "");
      await dialog.getByText("留空将解散此标签，渠道本身保留").waitFor();
      await dialog.getByRole("button", { name: "保存" }).click();
      await page.getByText("标签更新成功！").waitFor();
      await rowOf(page, "改签").waitFor();
    });
    const { tag, weight, priority, models, model_mapping } = await channel(id);
    // spec: C-414, C-416
    expect({ tag, weight, priority, models }).toEqual({ tag: "", weight: 8, priority: 4, models: "keep-me" });
    expect(JSON.parse(model_mapping)).toEqual({ a: "b" });
  });

  test("batches say what is missing, tag and edit the selected, and name the number before they delete", async () => {
    const first = await newChannel("成批一", { priority: 1 });
    const second = await newChannel("成批二", { priority: 2 });
    await withPage("/channel?keyword=成批", {}, async (page) => {
      await rowOf(page, "成批一").waitFor();
      // spec: C-065
      expect(await page.getByRole("checkbox", { name: "选择本页全部" }).count()).toBe(0);
      await page.getByRole("button", { name: "批量操作" }).click();
      const bar = page.getByRole("toolbar", { name: "批量操作" });
      await bar.getByRole("button", { name: "删除所选" }).click();
      // spec: C-419
      await page.getByText("请先选择要删除的通道！").waitFor();
      await bar.getByRole("button", { name: "设置标签" }).click();
      // spec: C-420, C-422
      await page.getByText("请先选择要设置标签的通道！").waitFor();

      await page.keyboard.press("j");
      await page.keyboard.press("x");
      // spec: C-065
      await bar.getByText("已选择 1 个渠道").waitFor();
      await page.getByRole("checkbox", { name: "选择本页全部" }).check();
      await bar.getByRole("button", { name: "设置标签" }).click();
      const tags = page.getByRole("dialog", { name: "为 2 个渠道设置标签" });
      await tags.getByRole("button", { name: "确定" }).click();
      // spec: C-421
      await tags.getByText("标签不能为空！").waitFor();
      await type(tags.getByRole("combobox", { name: "标签" }), "成批签");
      await page.keyboard.press("Enter");
      // spec: C-067
      await page.getByText("已为 2 个渠道设置标签！").waitFor();
      expect([(await channel(first)).tag, (await channel(second)).tag]).toEqual(["成批签", "成批签"]);

      await bar.getByRole("button", { name: "批量编辑" }).click();
      const edit = page.getByRole("dialog", { name: "批量编辑 2 个渠道" });
      await type(edit.getByRole("textbox", { name: "权重" }), "7");
      await edit.getByRole("button", { name: "保存" }).click();
      await page.getByText("已更新 2 个渠道！").waitFor();
      const after = [await channel(first), await channel(second)];
      expect(after.map(({ priority, weight }) => [priority, weight])).toEqual([
        [1, 7],
        [2, 7],
      ]);

      await bar.getByRole("button", { name: "禁用" }).click();
      await page.getByText("已禁用 2 个渠道").waitFor();
      await bar.getByRole("button", { name: "删除所选" }).click();
      const question = page.getByRole("alertdialog", { name: "删除所选的 2 个渠道？" });
      await question.getByRole("button", { name: "取消" }).click();
      expect((await channel(first)).status).toBe(2);
      await bar.getByRole("button", { name: "删除所选" }).click();
      await question.getByRole("button", { name: "删除 2 个渠道" }).click();
      // spec: C-066
      await page.getByText("已删除 2 个通道！").waitFor();
      await page.getByText("没有符合条件的记录").waitFor();
    });
  });

  test("priority and weight: only Enter and the tick save, Esc and a click elsewhere do not, undo restores the old value", async () => {
    const id = await newChannel("改数字", { priority: 5, weight: 6 });
    await withPage("/channel?keyword=改数字", {}, async (page) => {
      const row = rowOf(page, "改数字");
      const figure = row.getByRole("button", { name: "修改 改数字 的优先级：5" });
      const field = page.getByRole("textbox", { name: "优先级" });
      await figure.click();
      await type(field, "9");
      await page.getByRole("heading", { name: "渠道", exact: true }).click();
      await field.waitFor({ state: "detached" });
      await figure.focus();
      await page.keyboard.press("Enter");
      await type(field, "9");
      await page.keyboard.press("Escape");
      await field.waitFor({ state: "detached" });
      expect(await figure.evaluate((element) => element === document.activeElement)).toBe(true);
      // spec: C-085
      expect((await channel(id)).priority).toBe(5);

      await page.keyboard.press("Enter");
      await type(field, "1.5");
      await page.keyboard.press("Enter");
      // spec: C-409
      await page.getByText("优先级必须是整数！").waitFor();
      await type(field, "-3");
      await page.keyboard.press("Enter");
      await page.getByText("改数字 的优先级已改为 -3").waitFor();
      // spec: C-083
      expect((await channel(id)).priority).toBe(-3);
      await page.getByRole("button", { name: "撤销", exact: true }).click();
      await figure.waitFor();
      // spec: C-085
      await becomes(async () => (await channel(id)).priority, 5);

      await row.getByRole("button", { name: "修改 改数字 的权重：6" }).click();
      const weight = page.getByRole("textbox", { name: "权重" });
      await type(weight, "-1");
      await page.getByRole("button", { name: "保存" }).click();
      // spec: C-410
      await page.getByText("权重必须是非负整数！").waitFor();
      await type(weight, "2");
      await page.getByRole("button", { name: "保存" }).click();
      await row.getByRole("button", { name: "修改 改数字 的权重：2" }).waitFor();
      // spec: C-084
      await becomes(async () => (await channel(id)).weight, 2);
    });
  });

  test("a value that the server refuses is shown unchanged", async () => {
    const id = await newChannel("退回", { priority: 5 });
    await withPage("/channel?keyword=退回", {}, async (page, { expectProblem }) => {
      expectProblem("channel.update");
      expectProblem("ERR_FAILED");
      await page.route("**/trpc/channel.update*", (route) => route.abort());
      await rowOf(page, "退回").getByRole("button", { name: "修改 退回 的优先级：5" }).click();
      await type(page.getByRole("textbox", { name: "优先级" }), "6");
      await page.keyboard.press("Enter");
      await page.getByText("无法连接到服务器", { exact: true }).waitFor();
      await rowOf(page, "退回").getByRole("button", { name: "修改 退回 的优先级：5" }).waitFor();
    });
    expect((await channel(id)).priority).toBe(5);
  });

  test("a click on the balance queries the upstream", async () => {
    const id = await newChannel("余额");
    await withPage("/channel?keyword=余额", {}, async (page) => {
      await page.getByRole("button", { name: "查询 余额 的余额" }).click();
      await page.getByText(/渠道 余额 余额更新成功：\$\d/).waitFor();
      await page.getByRole("button", { name: /剩余 \$\d.*更新 余额 的余额/ }).waitFor();
    });
    const { balance, balance_updated_time } = await channel(id);
    // spec: C-095
    expect(balance).toBeGreaterThan(0);
    // spec: C-226
    expect(balance_updated_time).toBeGreaterThan(0);
  });

  test("who used a channel, and how its last hours went, is shown as text as well", async () => {
    await weir.setOption("AutomaticDisableChannelEnabled", false);
    await weir.priceModels({ "gpt-4o-mini": 1 });
    const id = await newChannel("用过", { group: "检测组" });
    const { channels } = weir.db.t;
    await weir.db.q.update(channels).set({ group: "default" }).where(eq(channels.id, id));
    const hour = Math.floor(Date.now() / 3_600_000) * 3600;
    const row = {
      user_id: weir.root.id,
      token_id: 0,
      channel: id,
      model_name: "gpt-4o-mini",
      group: "default",
      username: "root",
    };
    await weir.db.q.insert(weir.db.t.usage_hourly).values([
      { ...row, hour, count: 9, error_count: 0, quota: 500_000, prompt_tokens: 10, completion_tokens: 5, use_time: 18 },
      {
        ...row,
        hour: hour - 3600,
        count: 40,
        error_count: 0,
        quota: 0,
        prompt_tokens: 0,
        completion_tokens: 0,
        use_time: 40,
      },
    ]);
    const { failed_attempts } = weir.db.t;
    await weir.db.q.insert(failed_attempts).values({ hour, channel: id, model_name: "gpt-4o-mini", count: 1 });
    const time = Math.floor(Date.now() / 1000);
    await weir.db.q.insert(weir.db.t.logs).values(
      ["curl", "curl", "python-openai"].map((client_type, index) => ({
        user_id: weir.root.id,
        created_at: time - index,
        type: 2,
        channel: id,
        group: "default",
        username: "root",
        other: JSON.stringify({ client_type }),
        folded: 1,
        request_id: `used-${index}`,
      })),
    );
    await withPage("/channel?keyword=用过", {}, async (page) => {
      const bars = page.getByRole("group", { name: "近 24 小时：50 次调用，成功率 98.0%，1 次出错" });
      await bars.focus();
      await page.keyboard.press("ArrowLeft");
      await bars
        .getByRole("status")
        .filter({ hasText: "10 次调用，成功率 90.0%，1 次出错，平均 2 秒" })
        .waitFor({ state: "attached" });
      await chooseInRow(page, "用过", "检测上游");
      const use = page.getByRole("dialog", { name: "检测上游：用过" });
      // spec: C-089
      await use.getByRole("row", { name: /curl 2/ }).waitFor();
      await use.getByRole("row", { name: /python-openai 1/ }).waitFor();
      await page.keyboard.press("Escape");
      await rowOf(page, "用过").getByText("用过").click();
      const detail = page.getByRole("dialog", { name: "用过" });
      await detail.getByText("近 24 小时：50 次调用，成功率 98.0%，1 次出错").first().waitFor();
      await detail.getByRole("button", { name: "按小时列出" }).click();
      await detail.getByRole("table", { name: "有调用的小时" }).getByRole("row").nth(2).waitFor();
    });
  });

  test("an automatic disabling shows its reason and time on keyboard focus, counts in the menu, and is lifted in the drawer", async () => {
    const id = await newChannel("被停");
    await autoDisable(id);
    await withPage("/channel?keyword=被停", { language: "en" }, async (page) => {
      await page.getByRole("link", { name: /Channel.*auto-disabled/ }).waitFor();
      await rowOf(page, "被停")
        .getByText("Auto-disabled")
        .focus()
        .catch(() => undefined);
      const badge = rowOf(page, "被停").locator("[data-column=status] [tabindex='0']");
      await badge.focus();
      const tip = page.getByRole("tooltip");
      await tip.waitFor({ state: "attached" });
      // spec: C-323, C-324
      expect(await tip.textContent()).toMatch(/HTTP 401: bad key.*\(20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\)/);
      await rowOf(page, "被停").locator("[data-column=name]").click();
      await page
        .getByRole("dialog", { name: "被停" })
        .getByRole("button", { name: "Enable again", exact: true })
        .click();
      // spec: C-326
      await becomes(async () => (await channel(id)).status, 1);
    });
  });

  test("a channel is drained in its drawer and comes back by undo; an instance on its page", async () => {
    const id = await newChannel("leaving");
    await withPage(`/channel?open=${id}`, {}, async (page) => {
      await page.getByRole("button", { name: "排空", exact: true }).first().click();
      await page.getByText("已排空").first().waitFor();
      await becomes(async () => (await channel(id)).draining_since > 0, true);
      await page.getByRole("button", { name: "撤销" }).click();
      await becomes(async () => (await channel(id)).draining_since, 0);
    });
    const state = async (): Promise<string> => {
      const ready = (await (await fetch(`${weir.url}/readyz`)).json()) as { checks: { state: string } };
      return ready.checks.state;
    };
    await withPage("/instance", {}, async (page) => {
      await page.getByRole("button", { name: /^排空实例/ }).click();
      await page.getByText("没有其他实例在服务").waitFor();
      await page.getByRole("button", { name: "开始排空" }).click();
      await page.getByText("已排空").waitFor();
      expect(await state()).toBe("draining");
      await page.getByRole("button", { name: /^结束实例/ }).click();
      await page.getByText("服务中").waitFor();
      await becomes(state, "serving");
    });
  });

  test("all channels are tested and their balances read, with progress that ends by itself", async () => {
    const id = await newChannel("跑一遍");
    await withPage("/channel?keyword=跑一遍", {}, async (page) => {
      // spec: C-335
      await rowOf(page, "跑一遍").getByText("未测试").waitFor();
      await chooseForAll(page, "测试所有渠道");
      // spec: C-061
      await page.getByText(/渠道测试完成：成功 \d+ 个/).waitFor();
      await rowOf(page, "跑一遍")
        .getByText(/^\d+ ms$/)
        .waitFor();
      await chooseForAll(page, "更新所有渠道余额");
      // spec: C-062
      await page.getByText(/余额更新完成：成功 \d+ 个/).waitFor();
      await rowOf(page, "跑一遍").getByText(/^\$\d/).last().waitFor();
    });
    expect((await channel(id)).balance_updated_time).toBeGreaterThan(0);
  });

  test("a run that another user started shows its progress until it ends", async () => {
    await newChannel("慢一点", { models: ["slow"], test_model: "slow" });
    await withPage("/channel", {}, async (page) => {
      const started = {
        id: "run",
        kind: "test",
        started_by: "other",
        started_at: 1,
        finished_at: 0,
        running: true,
        total: 8,
        done: 3,
        ok: 2,
        failed: 1,
        skipped: 0,
        disabled: 0,
        enabled: 0,
      };
      let ended = false;
      await page.route("**/trpc/**", async (route) => {
        const response = await route.fetch();
        const names = new URL(route.request().url()).pathname.split("/trpc/")[1]?.split(",") ?? [];
        const body: unknown = await response.json();
        if (!Array.isArray(body)) return route.fulfill({ response });
        const answers = body.map((answer: unknown, index) =>
          names[index] === "channel.run"
            ? { result: { data: ended ? { ...started, running: false, finished_at: 9, done: 8, ok: 7 } : started } }
            : answer,
        );
        await route.fulfill({ response, json: answers });
      });
      await page.reload();
      // spec: C-061
      await page.getByRole("progressbar", { name: "正在测试渠道" }).first().waitFor();
      await page.getByText("3 / 8").first().waitFor();
      ended = true;
      await page.getByText("渠道测试完成：成功 7 个，失败 1 个，跳过 0 个").first().waitFor();
      await becomes(() => page.getByRole("progressbar").count(), 0);
    });
  });

  test("a repair names what only an operator can fix and links to it", async () => {
    const id = await newChannel("坏了");
    const { channels } = weir.db.t;
    await weir.db.q.update(channels).set({ model_mapping: "{", models: "a,,a , b" }).where(eq(channels.id, id));
    await withPage("/channel?keyword=坏了", {}, async (page) => {
      await rowOf(page, "坏了").waitFor();
      await chooseForAll(page, "修复数据库一致性");
      // spec: C-068
      await page.getByText(/数据库一致性修复完成：检查 \d+ 个渠道，修复 \d+ 个/).waitFor();
      const dialog = page.getByRole("dialog", { name: "有 1 处需要人工处理" });
      await dialog.getByText("模型映射不是合法的 JSON").waitFor();
      await dialog.getByRole("link", { name: "坏了" }).click();
      await page.getByRole("dialog", { name: "编辑渠道 坏了" }).waitFor();
    });
    expect((await channel(id)).models).toBe("a,b");
    await weir.root.trpc.channel.delete.mutate({ id });
  });

  test("the disabled channels are deleted after a confirmation with their number", async () => {
    const kept = await newChannel("留下");
    const byHand = await newChannel("手停");
    const bySystem = await newChannel("自停");
    await weir.root.trpc.channel.update.mutate({ id: byHand, status: 2 });
    await autoDisable(bySystem);
    const counts: Record<number, number> = await weir.root.trpc.channel.statusCounts.query();
    const total = (counts[2] ?? 0) + (counts[3] ?? 0);
    await withPage("/channel", {}, async (page) => {
      await rowOf(page, "留下").waitFor();
      await chooseForAll(page, "删除已禁用的渠道");
      const question = page.getByRole("alertdialog", { name: `删除 ${total} 个已禁用的渠道？` });
      await question.getByRole("button", { name: `删除 ${total} 个渠道` }).click();
      // spec: C-516
      // spec: C-063
      await page.getByText(`已删除所有禁用渠道，共计 ${total} 个`).waitFor();
      await chooseForAll(page, "删除已禁用的渠道");
      await page.getByText("没有已禁用的渠道").waitFor();
    });
    const { items } = await weir.root.trpc.channel.list.query({ page_size: 100 });
    const left = items.map((row) => row.id);
    expect(left).toContain(kept);
    expect(left).not.toContain(byHand);
    expect(left).not.toContain(bySystem);
  });

  test("on a phone channels are selected, disabled, and a tag is unfolded", async () => {
    const id = await newChannel("手机批", { tag: "手机签" });
    await withPage("/channel?keyword=手机批&batch=1", { viewport: "phone" }, async (page) => {
      await page.getByRole("checkbox", { name: "选择第 1 行" }).tap();
      await page.getByRole("toolbar", { name: "批量操作" }).getByRole("button", { name: "禁用" }).tap();
      await page.getByText("已禁用 1 个渠道").waitFor();
      expect((await channel(id)).status).toBe(2);
      await page.goto(`${weir.url}/channel?keyword=手机批&tags=1`);
      await rowOf(page, "手机签").getByRole("button", { name: "手机签 （标签）" }).tap();
      await rowOf(page, "手机批").waitFor();
      await rowOf(page, "手机批").getByRole("button", { name: "修改 手机批 的优先级：0" }).tap();
      await type(page.getByRole("textbox", { name: "优先级" }), "4");
      await page.getByRole("button", { name: "保存" }).tap();
      await becomes(async () => (await channel(id)).priority, 4);
    });
  });

  const LOOKS = [
    ["zh", "light", "desktop"],
    ["zh", "dark", "desktop"],
    ["en", "light", "desktop"],
    ["en", "dark", "desktop"],
    ["zh", "dark", "phone"],
    ["en", "light", "phone"],
  ] as const;
  for (const [language, theme, viewport] of LOOKS) {
    test(`axe finds nothing on tags, batch and windows: ${language}, ${theme}, ${viewport}`, async () => {
      const id = await newChannel(`轴 ${language} ${theme} ${viewport}`, { tag: "轴签" });
      await autoDisable(id);
      const zh = language === "zh";
      await withPage(
        "/channel?tags=1&unfold=轴签&batch=1&keyword=轴",
        { language, theme, viewport },
        async (page, { looksRight }) => {
          await rowOf(page, "轴签").first().waitFor();
          await page.getByRole("checkbox", { name: zh ? "选择第 1 行" : "Select row 1", exact: true }).check();
          await looksRight();
          const bar = page.getByRole("toolbar", { name: zh ? "批量操作" : /bulk|batch/i });
          for (const name of [zh ? "设置标签" : "Set tag", zh ? "批量编辑" : "Edit"]) {
            await bar.getByRole("button", { name, exact: true }).click();
            await page.getByRole("dialog").waitFor();
            await looksRight();
            await page.keyboard.press("Escape");
            await page.getByRole("dialog").waitFor({ state: "detached" });
          }
          await rowOf(page, "轴")
            .nth(1)
            .getByRole("button", { name: zh ? /的优先级：0/ : /Priority.*: 0/i })
            .click();
          await page.getByRole("textbox", { name: zh ? "优先级" : "Priority" }).waitFor();
          await looksRight();
          await page.goto(`${weir.url}/channel?open=${id}`);
          await page
            .getByRole("dialog")
            .getByRole("group", { name: zh ? /近 24 小时/ : /24 hours/ })
            .waitFor();
          await looksRight();
        },
      );
    });
  }
});
