/**
 * Ten tasks of the console, each done by keyboard alone on a desktop, and by touch on a phone (390 px). No mouse is
 * used; results are checked on the server, not only on the screen.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { type ConsolePage, launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { becomes } from "../kit/browser-wait";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { consoleText } from "../kit/texts";
import { type } from "../kit/typing";
import { ROOT, startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

const upstream = startFakeUpstream();
let browser: TestBrowser;
let weir: Weir;

beforeAll(async () => {
  browser = await launchBrowser();
  weir = await startWeir();
  await weir.priceModels({ echo: 1 });
  await weir.newChannel({ name: "main", base_url: upstream.url, models: ["echo"] });
  const { key } = await weir.newToken({ name: "first" });
  await (await weir.call(key, { model: "echo", messages: [{ role: "user", content: "hello" }] })).text();
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await weir?.stop();
  upstream.close();
});

const say = (zh: string): string => consoleText("zh", zh);

/**
 * Presses Tab until an element has the focus whose accessible name or text begins with `name`, which proves that it is
 * reachable.
 */
async function tabTo(page: Page, name: string, most = 80): Promise<void> {
  for (let presses = 0; presses < most; presses++) {
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement | null;
      const label = element?.id
        ? document.querySelector(`label[for="${CSS.escape(element.id)}"]`)?.textContent
        : undefined;
      return (
        [element?.getAttribute("aria-label"), label, element?.textContent].find((text) => text?.trim())?.trim() ?? ""
      );
    });
    if (focused.startsWith(name)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`"${name}" was not reached by ${most} presses of Tab`);
}

/** How a task activates a control: by Tab and Enter, or by a tap. */
interface Hand {
  page: Page;
  press(
    role: "button" | "link" | "menuitem" | "radio" | "menuitemradio" | "tab" | "switch",
    name: string,
  ): Promise<void>;
  write(label: string, text: string): Promise<void>;
}

const keyboard = (page: Page): Hand => ({
  page,
  press: async (role, name) => {
    // Inside an open menu the arrow keys move the focus; elsewhere Tab does.
    if (role === "menuitem" || role === "menuitemradio") {
      // The menu gets the focus shortly after it is drawn.
      await page.waitForFunction(() => document.activeElement?.closest("[role=menu]") !== null);
      for (let presses = 0; presses < 20; presses++) {
        const focused = await page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
        if (focused.startsWith(name)) return page.keyboard.press("Enter");
        const before = focused;
        await page.keyboard.press("ArrowDown");
        await page
          .waitForFunction((text) => (document.activeElement?.textContent?.trim() ?? "") !== text, before, {
            timeout: 500,
          })
          .catch(() => undefined);
      }
      throw new Error(`the menu has no "${name}"`);
    }
    await tabTo(page, name);
    await page.keyboard.press("Enter");
  },
  write: async (label, text) => {
    await tabTo(page, label);
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type(text);
  },
});

const touch = (page: Page): Hand => ({
  page,
  press: async (role, name) => {
    await page
      .getByRole(role, { name: new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`) })
      .first()
      .tap();
  },
  write: async (label, text) => {
    await type(page.getByLabel(label, { exact: false }).first(), text);
  },
});

for (const viewport of ["desktop", "phone"] as const) {
  describe(viewport === "desktop" ? "by keyboard alone" : "by touch at 390 px", () => {
    let tab: ConsolePage;
    let hand: Hand;
    const name = `${viewport} token`;

    beforeAll(async () => {
      tab = await browser.open(`${weir.url}/login`, { viewport });
      hand = viewport === "desktop" ? keyboard(tab.page) : touch(tab.page);
    }, 30_000);
    afterAll(() => tab?.context.close());

    const stored = (key: string) => tab.page.evaluate((name) => localStorage.getItem(name), key);
    const tokens = () =>
      weir.root.ok<{ id: number; name: string; status: number }[]>("GET", "/api/token/?p=0&size=100");
    /** The menu of the only row: J goes to it, the full stop opens its menu. */
    const openRowMenu = async () => {
      const button = tab.page.getByRole("button", { name: say("行菜单") }).first();
      await button.waitFor();
      if (viewport === "desktop") {
        await tab.page.keyboard.press("Escape");
        await tab.page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
        await tab.page.keyboard.press("j");
        await tab.page.waitForFunction(() => document.activeElement?.closest("[data-row]"));
        await tab.page.keyboard.press(".");
      } else await button.tap();
      await tab.page.getByRole("menu").waitFor();
    };
    const mine = async () => (await tokens()).find((token) => token.name.startsWith(name));

    test("1. sign in", async () => {
      await hand.page.getByLabel(say("密码"), { exact: false }).first().waitFor();
      await hand.write(say("用户名或邮箱"), ROOT.username);
      await hand.write(say("密码"), ROOT.password);
      await tab.page.keyboard.press("Enter");
      await tab.page.waitForURL("**/token");
    });

    test("2. make a token, whose key and address are then shown", async () => {
      await hand.press("button", say("添加令牌"));
      await tab.page.getByRole("dialog").waitFor();
      await hand.write(say("名称"), name);
      await tab.page.keyboard.press("ControlOrMeta+Enter");
      await tab.page.getByRole("dialog").getByText("/v1").first().waitFor();
      expect((await mine())?.status).toBe(1);
      await tab.page.keyboard.press("Escape");
      await tab.page.getByRole("dialog").waitFor({ state: "hidden" });
    });

    test("3. find it by name; the address keeps the search", async () => {
      const search = tab.page.getByPlaceholder(say("搜索令牌名称"));
      if (viewport === "desktop") {
        await tab.page.keyboard.press("/");
        await tab.page.keyboard.type(name);
      } else await type(search, name);
      await tab.page.waitForURL(/desktop|phone/);
      await tab.page.getByText("第 1 - 1 条", { exact: false }).first().waitFor();
    });

    test("4. disable it, and 5. undo that", async () => {
      const id = (await mine())?.id ?? 0;
      const status = async () => (await mine())?.status;
      expect(id).toBeGreaterThan(0);
      await openRowMenu();
      await hand.press("menuitem", say("禁用"));
      await becomes(status, 2);
      const undo = tab.page.getByRole("button", { name: say("撤销") });
      await undo.waitFor();
      if (viewport === "desktop") {
        await undo.focus();
        await tab.page.keyboard.press("Enter");
      } else await undo.tap();
      await becomes(status, 1);
    });

    test("6. go to the log and read a bill", async () => {
      if (viewport === "desktop") {
        await tab.page.keyboard.press("Escape");
        await tab.page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
        await tab.page.keyboard.press("g");
        // No person presses keys faster than this.
        await tab.page.waitForTimeout(50);
        await tab.page.keyboard.press("l");
      } else {
        await hand.press("button", say("打开菜单"));
        await hand.press("link", say("使用日志"));
      }
      await tab.page.waitForURL("**/log**");
      await tab.page.getByText("echo").first().waitFor();
      if (viewport === "desktop") {
        await tab.page.keyboard.press("j");
        await tab.page.keyboard.press("Enter");
      } else await tab.page.locator("[data-row]").filter({ hasText: "echo" }).first().tap();
      const dialog = tab.page.getByRole("dialog");
      await dialog.getByText(say("与账单一致")).waitFor();
      await tab.page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
    });

    test("7. turn to the dark theme", async () => {
      await hand.press("button", say("主题"));
      await tab.page.getByRole("menu").waitFor();
      await hand.press("menuitemradio", say("夜间模式"));
      // spec: C-174
      await becomes(() => stored("theme"), "dark");
    });

    test("8. delete the token, after being asked", async () => {
      await tab.page.goto(`${weir.url}/token?keyword=${encodeURIComponent(name)}`);
      await tab.page.getByText(name).first().waitFor();
      await openRowMenu();
      await hand.press("menuitem", say("删除"));
      const dialog = tab.page.getByRole("alertdialog");
      await dialog.waitFor();
      await (viewport === "desktop"
        ? tabTo(tab.page, say("删除")).then(() => tab.page.keyboard.press("Enter"))
        : dialog.getByRole("button", { name: say("删除") }).tap());
      // spec: C-115
      await becomes(async () => (await mine()) === undefined, true);
    });

    test("9. change the language", async () => {
      await hand.press("button", say("语言"));
      await tab.page.getByRole("menu").waitFor();
      await hand.press("menuitemradio", "English");
      await tab.page.getByRole("heading", { name: consoleText("en", "API 令牌") }).waitFor();
      // spec: C-176
      expect(await stored("language")).toBe("en");
    });

    test("10. sign out", async () => {
      await hand.press("button", consoleText("en", "用户菜单：{0}").replace("{0}", ""));
      await tab.page.getByRole("menu").waitFor();
      await hand.press("menuitem", consoleText("en", "退出登录"));
      // spec: C-182
      await becomes(() => stored("user"), null);
    });
  });
}
