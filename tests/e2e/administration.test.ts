/** Managing accounts and settings in a real browser. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { becomes } from "../kit/browser-wait";
import { required } from "../kit/required";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { newStory } from "../kit/steps";
import { paste, type } from "../kit/typing";
import { startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

const noChromium = required("chromium") === undefined;
let browser: TestBrowser;
let weir: Weir;

beforeAll(async () => {
  if (noChromium) return;
  browser = await launchBrowser();
  weir = await startWeir();
}, 90_000);
afterAll(async () => {
  await browser?.close();
  await weir?.stop();
});

test.skipIf(noChromium)(
  "root makes an account, gives it quota with a reason, and bans it; its session ends at its next call",
  async () => {
    const tab = await browser.open(`${weir.url}/user`, { as: weir.root, language: "zh" });
    const { page } = tab;
    await page.getByRole("button", { name: "添加用户" }).first().click();
    await type(page.getByLabel("用户名"), "newcomer");
    await type(page.getByLabel("密码"), "a good password");
    await page.getByRole("button", { name: "创建" }).click();
    await page.getByText("用户账户创建成功！").waitFor();

    await page.getByText("newcomer", { exact: true }).first().click();
    await type(page.getByLabel("添加额度"), "2");
    await type(page.getByLabel("调整原因"), "welcome");
    await tab.looksRight();
    await page.getByRole("button", { name: "保存", exact: true }).click();
    await page.getByText("用户信息更新成功！").waitFor();
    await page
      .getByRole("row", { name: /newcomer/ })
      .getByText("$2.00")
      .waitFor();

    const signedIn = await fetch(`${weir.url}/api/user/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: "newcomer", password: "a good password" }),
    });
    const { data } = (await signedIn.json()) as { data: { id: number } };
    const headers = {
      cookie: signedIn.headers.get("set-cookie")?.split(";")[0] ?? "",
      "new-api-user": String(data.id),
    };
    const status = () => fetch(`${weir.url}/api/user/self`, { headers }).then((answer) => answer.status);
    expect(await status()).toBe(200);
    await page
      .getByRole("row", { name: /newcomer/ })
      .getByRole("button", { name: "行菜单" })
      .click();
    await page.getByRole("menuitem", { name: "禁用" }).click();
    await page.getByText("操作成功完成！").waitFor();
    await page
      .getByRole("row", { name: /newcomer/ })
      .getByText("已封禁")
      .waitFor();
    // spec: A-323
    expect(await status()).toBe(401);
    expect(await weir.audit()).toEqual([]);
    await tab.screenshot("users");
    tab.check();
    await tab.close();
  },
  90_000,
);

test.skipIf(noChromium)(
  "a setting holds at once, and the audit log says who changed it, from what to what",
  async () => {
    const tab = await browser.open(`${weir.url}/setting?tab=other`, { as: weir.root, language: "zh", theme: "dark" });
    const { page } = tab;
    await type(page.getByRole("textbox", { name: "系统名称" }), "Harbour");
    await page.getByRole("button", { name: "保存站点内容" }).click();
    await becomes(
      () =>
        page
          .getByText("Harbour")
          .count()
          .then((count) => count > 0),
      true,
    );
    await page.reload();
    // spec: A-158
    await page.getByRole("banner").getByText("Harbour").waitFor();
    // spec: A-158
    await becomes(async () => (await page.title()).endsWith("Harbour"), true);
    await tab.looksRight();
    for (const name of ["系统设置", "运营设置"]) {
      await page.getByRole("tab", { name }).click();
      await tab.settled();
      await tab.looksRight();
    }
    await tab.screenshot("settings");
    await page.goto(`${weir.url}/audit`);
    await page.getByText("SystemName").first().click();
    await page.getByText('"Harbour"').first().waitFor();
    await page.getByText('"Weir"').first().waitFor();
    await tab.looksRight();
    await tab.screenshot("audit");
    tab.check();
    await tab.close();
  },
  120_000,
);

test.skipIf(noChromium)(
  "an operator's stories have few steps: why her calls fail 2, a refund 3, a key rotated 3, a channel drained 2",
  async () => {
    const upstream = startFakeUpstream();
    const channel = { name: "counted", base_url: upstream.url, models: ["gpt-4o", "error-500"] };
    await weir.newChannel(channel);
    await weir.priceModels({ "gpt-4o": 1.25, "error-500": 1 });
    const carol = await weir.newUser({ quota: 5_000_000 });
    const { key } = await weir.newToken({ name: "hers" }, carol);
    for (const model of ["gpt-4o", "error-500", "no-such-model"]) {
      await (await weir.call(key, { model, messages: [{ role: "user", content: "hello" }] })).text();
    }
    await weir.waitForLog(({ user_id, model_name }) => user_id === carol.id && model_name === "no-such-model");
    const charge = await weir.waitForLog(({ user_id, quota }) => user_id === carol.id && quota > 0);
    const tab = await browser.open(`${weir.url}/user`, { as: weir.root, language: "zh" });
    const { page } = tab;
    const rowOf = (text: string) => page.locator("[data-row]").filter({ hasText: text }).first();
    const menuOf = (text: string) => rowOf(text).getByRole("button", { name: "行菜单" });
    const item = (name: string) => page.getByRole("menuitem", { name, exact: true });

    const why = newStory();
    await why.click(menuOf(carol.username));
    await why.click(item("失败的调用"));
    const causes = page.getByRole("region", { name: "失败的原因" });
    await causes.getByText("failure.server_error").waitFor();
    await causes.getByText("model_not_found").waitFor();
    // The way out of each is one press more.
    expect(await causes.getByRole("link", { name: "查看渠道" }).count()).toBe(2);
    expect(why.steps).toBe(2);

    await page.goto(`${weir.url}/log?username=${carol.username}`);
    const refund = newStory();
    await refund.click(rowOf("gpt-4o").getByRole("cell").first());
    await refund.click(page.getByRole("dialog").getByRole("button", { name: "退款", exact: true }));
    await refund.click(page.getByRole("button", { name: "全额退款" }));
    await page.getByText(/^已退还/).waitFor();
    expect((await weir.balance(carol.id)).quota).toBe(5_000_000);
    expect([charge.quota > 0, refund.steps]).toEqual([true, 3]);

    await page.goto(`${weir.url}/channel`);
    const rotate = newStory();
    await rotate.click(rowOf("counted").getByRole("cell").first());
    await rotate.click(page.getByRole("button", { name: "轮换密钥" }));
    await paste(page.getByLabel("新密钥"), "sk-another-key-0123456789");
    await rotate.click(page.getByRole("button", { name: "测试并轮换" }));
    await page.getByText(/^新密钥已启用/).waitFor();
    expect(rotate.steps).toBe(3);

    await page.goto(`${weir.url}/channel`);
    const drain = newStory();
    await drain.click(menuOf("counted"));
    await drain.click(item("排空"));
    await rowOf("counted").getByText("已排空").waitFor();
    expect(drain.steps).toBe(2);
    tab.check();
    await tab.close();
    upstream.close();
  },
);

test.skipIf(noChromium)(
  "what one browser changes, a list in another browser shows within two seconds; toast and drawer lie below the bar of a lost connection",
  async () => {
    const id = await weir.newChannel({ name: "shared", base_url: "http://127.0.0.1:9", models: ["m"] });
    const [list, other] = await Promise.all([
      browser.open(`${weir.url}/redemption`, { as: weir.root, language: "en" }),
      browser.open(`${weir.url}/channel?open=${id}`, { as: weir.root, language: "en" }),
    ]);
    await Promise.all([list.settled(), other.settled()]);
    const soon = { timeout: 2000 };
    const codes = await weir.root.ok<string[]>("POST", "/api/redemption/", { name: "gift", quota: 5, count: 1 });
    const row = list.page.getByRole("row", { name: /gift/ });
    await row.waitFor(soon);
    const user = await weir.newUser();
    await user.ok("POST", "/api/user/topup", { key: codes[0] });
    await row.getByText("Used").waitFor(soon);

    const { page, context } = other;
    await page.getByRole("switch").first().click();
    const toast = page.locator("[data-sonner-toast]").first();
    await toast.waitFor();
    await page.setViewportSize({ width: 320, height: 700 });
    other.expectProblem("ERR_INTERNET_DISCONNECTED");
    await context.setOffline(true);
    // Not by its role: the drawer hides what is behind it from screen readers.
    const bar = page.locator('[role="status"]', { hasText: "cannot be reached" });
    const drawer = page.getByRole("dialog");
    await bar.waitFor();
    await becomes(async () => {
      const [above, ...below] = await Promise.all([bar, toast, drawer].map((part) => part.boundingBox()));
      return above != null && below.every((box) => box != null && box.y >= above.y + above.height);
    }, true);
    // The name of what the drawer is about keeps its room.
    const title = drawer.getByRole("heading").first().getByText("shared");
    expect(await title.evaluate((text) => text.scrollWidth <= text.clientWidth)).toBe(true);
    await Promise.all([list.close(), other.close()]);
  },
);
