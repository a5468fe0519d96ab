/**
 * Browser requirements that other end-to-end tests do not prove: fresh visitors, local storage, guards, the reactions
 * to failed calls. A visitor here has no stored settings and a browser in English.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { desc, eq } from "drizzle-orm";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { becomes, settled } from "../kit/browser-wait";
import { type } from "../kit/typing";
import { type Session, startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

let browser: TestBrowser;
let weir: Weir;
let user: Session;

beforeAll(async () => {
  browser = await launchBrowser();
  weir = await startWeir();
  user = await weir.newUser({ quota: 500_000 });
  for (let i = 0; i < 12; i++) await weir.newToken({ name: `token ${i}` });
  for (let i = 0; i < 12; i++)
    await weir.newChannel({ name: `channel ${i}`, base_url: "http://127.0.0.1:9", models: ["m"] });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await weir?.stop();
});

interface Visit extends BrowserContextOptions {
  as?: Session;
  stored?: Record<string, string>;
}

/** Runs `look` in a new browser profile. */
async function visit(
  { as, stored = {}, ...options }: Visit,
  look: (page: Page, context: BrowserContext) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({
    locale: "en-GB",
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
    ...options,
  });
  const local: Record<string, string> = { ...stored };
  if (as) {
    const [name = "", value = ""] = as.cookie.split("=");
    await context.addCookies([{ name, value, url: weir.url }]);
    local.user = JSON.stringify(await as.ok("GET", "/api/user/self"));
  }
  await context.addInitScript((entries) => {
    if (sessionStorage.getItem("visited")) return;
    sessionStorage.setItem("visited", "1");
    for (const [key, value] of Object.entries(entries)) localStorage.setItem(key, value);
  }, local);
  const page = await context.newPage();
  try {
    await look(page, context);
  } finally {
    await context.close();
  }
}

const storage = (page: Page): Promise<Record<string, string>> => page.evaluate(() => ({ ...localStorage }));
const path = (page: Page): string => new URL(page.url()).pathname;
const open = async (page: Page, address: string): Promise<void> => {
  await page.goto(weir.url + address);
  await page.locator("main").first().waitFor();
  await settled(page);
};

describe("a fresh visitor", () => {
  test("reads Chinese in an English browser; the choice survives a reload, an unknown one means Chinese (A-045, A-047, C-176 to C-179)", async () => {
    await visit({}, async (page) => {
      await open(page, "/login");
      // spec: A-045, D-01
      expect(await page.evaluate(() => document.documentElement.lang)).toBe("zh-CN");
      // spec: C-177, C-180
      await page.getByRole("button", { name: "登录", exact: true }).waitFor();
      await page.evaluate(() => localStorage.setItem("language", "en"));
      await page.reload();
      // spec: C-176, C-179
      // spec: A-047
      await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
      await page.evaluate(() => localStorage.setItem("language", "xx"));
      await page.reload();
      // spec: C-178
      await page.getByRole("button", { name: "登录", exact: true }).waitFor();
    });
  });

  test("follows the system's theme without a reload while that is chosen (A-050, C-173 to C-175)", async () => {
    await visit({ colorScheme: "light" }, async (page) => {
      await open(page, "/login");
      const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
      const background = () =>
        page.evaluate(() => getComputedStyle(document.querySelector("header") ?? document.body).backgroundColor);
      // spec: C-175
      expect(await theme()).toBe("light");
      const day = await background();
      await page.emulateMedia({ colorScheme: "dark" });
      // spec: C-175
      // spec: A-050
      await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
      // Colours change with a short transition.
      await page.waitForFunction(
        (before) => getComputedStyle(document.querySelector("header") ?? document.body).backgroundColor !== before,
        day,
      );
      await page.evaluate(() => localStorage.setItem("theme", "light"));
      await page.reload();
      // spec: A-048
      expect(await theme()).toBe("light");
      // spec: C-173
      expect(await background()).toBe(day);
      await page.emulateMedia({ colorScheme: "light" });
      await page.evaluate(() => localStorage.setItem("theme", "dark"));
      await page.reload();
      // spec: C-174
      expect([await theme(), (await background()) === day]).toEqual(["dark", false]);
    });
  });

  test("has the status in local storage, whole and key by key, booleans as text (A-267 to A-278, C-310 to C-313)", async () => {
    await visit({}, async (page) => {
      await open(page, "/login");
      const stored = await storage(page);
      // spec: C-310, D-31
      expect(JSON.parse(stored.status ?? "")).toMatchObject({ system_name: "Weir", quota_per_unit: 500_000 });
      // spec: A-267..A-271, A-275, A-278, A-280, A-281, C-311, C-312, C-313, D-31
      expect(stored).toMatchObject({
        system_name: "Weir",
        logo: "",
        footer_html: "",
        quota_per_unit: "500000",
        display_in_currency: "true",
        default_collapse_sidebar: "false",
        chats: "[]",
        chat_link: "",
        chat_link2: "",
      });
      for (const key of ["enable_drawing", "enable_task", "enable_data_export"])
        expect(stored[key]).toMatch(/^(true|false)$/);
    });
  });
});

describe("guards", () => {
  const closed =
    "/channel /channel/add /channel/edit/1 /token /playground /redemption /topup /log /detail /midjourney /task /chat /chat/0 /chat2link /user /setting";
  test("an anonymous visitor is redirected from every closed page to the login, and stays on open ones (C-044, C-045, A-065)", async () => {
    await visit({}, async (page) => {
      for (const address of closed.split(" ")) {
        await open(page, address);
        // spec: C-044
        // spec: A-065
        expect([address, path(page)]).toEqual([address, "/login"]);
      }
      for (const address of [
        "/",
        "/pricing",
        "/about",
        "/login",
        "/register",
        "/reset",
        "/oauth/github",
        "/user/reset",
        "/no/such/page",
      ]) {
        await open(page, address);
        // spec: C-045
        // spec
        expect([address, path(page)]).toEqual([address, address]);
        const absent = await page.getByText("页面不存在，请检查浏览器地址是否正确").count();
        // spec
        expect([address, absent]).toEqual([address, address === "/no/such/page" ? 1 : 0]);
      }
      // spec: C-043
      // spec: A-064
      await page.getByText("页面不存在，请检查浏览器地址是否正确").waitFor();
    });
  });

  test("an ordinary user sees the no-permission page on administrators' pages, stays signed in, and gets no data (C-046, C-184, C-452)", async () => {
    await visit({ as: user }, async (page) => {
      const asked: string[] = [];
      page.on("request", (request) => asked.push(new URL(request.url()).pathname));
      const answered: string[] = [];
      page.on("response", async (response) => {
        if (/channel|redemption/.test(response.url()) && !/assets/.test(response.url()))
          answered.push(await response.text().catch(() => ""));
      });
      for (const address of ["/channel", "/channel/add", "/channel/edit/1", "/redemption", "/user"]) {
        await open(page, address);
        // spec: C-046
        await page.getByText("没有权限访问此页面").waitFor();
        expect(path(page)).toBe(address);
      }
      // spec: C-046
      expect(answered.filter((text) => text.includes('"base_url"'))).toEqual([]);
      // spec: D-57
      expect(asked.filter((path) => /^\/trpc\/.*\b(channel|redemption|user\.(list|get))\b/.test(path))).toEqual([]);
      // spec: C-184
      expect(await page.getByRole("navigation", { name: "主菜单" }).getByRole("link", { name: "渠道" }).count()).toBe(
        0,
      );
      // spec: C-046
      expect((await storage(page)).user).toContain(user.username);
    });
  });
});

describe("lists", () => {
  test("say which rows they show in both languages, and share one page size that outlives the visit (C-197, C-623 to C-625, A-421, A-505)", async () => {
    await visit({ as: weir.root }, async (page) => {
      // Ten rows fill it; a taller one has longer pages unless the user chooses.
      await page.setViewportSize({ width: 1280, height: 700 });
      await open(page, "/channel");
      // spec: C-624
      // spec: C-197
      await page.getByText("第 1 - 10 条，共 12 条").waitFor();
      await page.getByRole("combobox", { name: "每页条数" }).click();
      // spec: A-506, C-623
      expect(await page.getByRole("option").allTextContents()).toEqual([
        "10 条/页",
        "20 条/页",
        "50 条/页",
        "100 条/页",
      ]);
      await page.getByRole("option", { name: "20 条/页" }).click();
      await page.getByText("第 1 - 12 条，共 12 条").waitFor();
      // spec: A-421, C-315, C-625
      expect((await storage(page))["page-size"]).toBe("20");
      await open(page, "/token");
      // spec: C-625
      await page.getByText("第 1 - 12 条，共 12 条").waitFor();
      await page.evaluate(() => localStorage.setItem("language", "en"));
      await page.reload();
      // spec: C-197
      await page.getByText("Items 1 - 12 of 12").waitFor();
    });
  });

  test("sort by ID is kept as id-sort and restored (C-057, C-058)", async () => {
    await visit({ as: weir.root, stored: { "id-sort": "true" } }, async (page) => {
      const asked: string[] = [];
      page.on("request", (request) => asked.push(decodeURIComponent(request.url()) + (request.postData() ?? "")));
      await open(page, "/channel");
      await page.getByText(/^第 1 - \d+ 条，共 12 条/).waitFor();
      // spec: C-057, C-058
      expect(asked.some((text) => /"id_sort":true/.test(text))).toBe(true);
    });
  });

  test("every call of the console names the user and forbids caching; the models of the types are cached (A-339, A-417, A-418, A-456, C-477, C-478)", async () => {
    await visit({ as: weir.root }, async (page) => {
      const headers: Record<string, string>[] = [];
      page.on("request", (request) => /\/(api|trpc)\//.test(request.url()) && headers.push(request.headers()));
      await open(page, "/channel");
      await open(page, "/token");
      expect(headers.length).toBeGreaterThan(3);
      for (const sent of headers) {
        // spec, C-477, C-560
        expect(sent["new-api-user"]).toBe(String(weir.root.id));
        // spec: A-418, C-478
        expect(sent["cache-control"]).toBe("no-store");
      }
      await page.waitForFunction(() => localStorage.getItem("channel_models") !== null);
      // spec: A-456
      expect(Object.keys(JSON.parse((await storage(page)).channel_models ?? "{}") as object)).toContain("1");
    });
  });
});

describe("failed calls", () => {
  for (const [status, zh, en] of [
    [405, "本站仅供演示，没有服务端", "This site is a demo without a server"],
    [429, "请求过于频繁，请稍后再试", "Too many requests"],
    [500, "服务器内部错误，请联系管理员", "Internal server error"],
  ] as const) {
    test(`HTTP ${status} is one toast with its words, in both languages (A-471 to A-474, C-566, C-567)`, async () => {
      for (const [language, words] of [
        ["zh", zh],
        ["en", en],
      ] as const) {
        await visit({ as: weir.root, stored: { language } }, async (page) => {
          await page.clock.install();
          await page.route("**/trpc/**", (route) => route.fulfill({ status, body: "" }));
          await page.goto(`${weir.url}/channel`);
          const toast = page.locator("[data-sonner-toast]");
          await toast.first().waitFor();
          await settled(page);
          // Retries, if there were any, come within this time.
          await page.clock.runFor(1500);
          await settled(page);
          // spec: C-566, C-567
          expect(await toast.count()).toBe(1);
          // spec, C-566, C-567
          expect((await toast.textContent())?.toLowerCase()).toContain(words.toLowerCase());
          expect(path(page)).toBe("/channel");
        });
      }
    });
  }

  test("a failed status call is reported, the page stays usable, and the status loads when the server answers again (C-568 to C-570)", async () => {
    for (const [language, unreachable, failed] of [
      ["zh", "无法连接到服务器", "加载状态失败"],
      ["en", "Unable to connect to server", "Failed to load status"],
    ] as const) {
      await visit({ stored: { language } }, async (page) => {
        await page.clock.install();
        let mode: "abort" | "500" | "pass" = "500";
        await page.route("**/api/status", (route) =>
          mode === "pass"
            ? route.continue()
            : mode === "abort"
              ? route.abort()
              : route.fulfill({ status: 500, body: "" }),
        );
        await page.goto(`${weir.url}/login`);
        // spec: C-569, C-570
        await page.getByText(failed).waitFor();
        mode = "abort";
        await page.clock.runFor(2000);
        // spec: C-568, C-570
        await page.getByText(unreachable).waitFor();
        mode = "pass";
        await page.clock.runFor(4000);
        // spec: C-570
        await becomes(async () => "status" in (await storage(page)), true);
        await type(page.locator("input[name=username]"), "still usable");
      });
    }
  });

  test("an ended session redirects to the login with the requested page, and no stored user (A-470, C-564, C-565)", async () => {
    const other = await weir.signIn(weir.root.username, "correct-horse-9");
    await visit({ as: other }, async (page) => {
      await open(page, "/token");
      // No page is open while the session ends: its own calls would redirect it.
      await page.goto("about:blank");
      await other.ok("GET", "/api/user/logout");
      await page.goto(`${weir.url}/channel`);
      // spec: C-564
      await page.waitForURL("**/login?*");
      // spec: A-470, C-565
      expect(new URL(page.url()).searchParams.get("expired")).toBe("true");
      // spec: C-565
      await page.getByText("未登录或登录已过期，请重新登录！").first().waitFor();
      expect((await storage(page)).user).toBeUndefined();
      await type(page.locator("input[name=username]"), weir.root.username);
      await type(page.locator("input[name=password]"), "correct-horse-9");
      await page.locator("form button[type=submit]").click();
      // spec: C-565
      await page.waitForURL("**/channel");
      // spec: C-309
      expect(JSON.parse((await storage(page)).user ?? "{}")).toMatchObject({
        id: weir.root.id,
        username: "root",
        role: 100,
      });
    });
  });
});

describe("the operator's settings", () => {
  test("the footer is there within a second of a cold load, the version label too, and the sidebar starts as configured (C-656, C-657, C-660, C-195, C-196)", async () => {
    await weir.setOption("Footer", "<b>Operated by</b> ACME");
    await weir.setOption("DefaultCollapseSidebar", true);
    await visit({}, async (page) => {
      // The page's own clock: this process may see the page's changes late.
      await page.addInitScript(() => {
        const look = () => {
          if (!document.body?.textContent?.includes("Operated by")) return requestAnimationFrame(look);
          document.documentElement.dataset.footerAt = String(performance.now());
        };
        look();
      });
      let asked = 0;
      page.on("request", (request) => (asked += Number(request.url().endsWith("/api/status"))));
      await page.goto(`${weir.url}/login`);
      await page.getByText("Operated by").waitFor();
      const late = await page.evaluate(() => {
        const [load] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
        return Number(document.documentElement.dataset.footerAt) - (load?.loadEventEnd ?? 0);
      });
      // spec: C-656, C-657
      expect([late < 1000, asked]).toEqual([true, 1]);
      const version = (JSON.parse((await storage(page)).status ?? "{}") as { version: string }).version;
      // spec: C-660, C-661
      expect(await page.locator("footer").textContent()).toContain(version);
    });
    await visit({ as: weir.root }, async (page) => {
      await open(page, "/token");
      await open(page, "/token");
      const expand = page.getByRole("button", { name: "展开侧边栏" });
      // spec: C-195
      // spec: A-204
      await expand.waitFor();
      await expand.click();
      await page.reload();
      // spec: C-196
      await page.getByRole("button", { name: "收起侧边栏" }).waitFor();
    });
    await weir.setOption("DefaultCollapseSidebar", false);
  });
});

describe("details of the pages", () => {
  test("the channel list has its columns; rows that are not enabled are shaded; an unknown status is named (C-076 to C-082, C-086, C-321, C-322, C-334)", async () => {
    const { channels } = weir.db.t;
    const [off, odd] = await weir.db.q.select({ id: channels.id }).from(channels).orderBy(desc(channels.id)).limit(2);
    await weir.root.ok("PUT", "/api/channel/", { id: off?.id, status: 2 });
    await weir.db.q
      .update(channels)
      .set({ status: 9 })
      .where(eq(channels.id, odd?.id ?? 0));
    await visit({ as: weir.root }, async (page) => {
      await open(page, "/channel");
      for (const name of ["ID", "名称", "类型", "分组", "状态", "响应时间", "已用 / 剩余"]) {
        await page.getByRole("columnheader", { name }).first().waitFor();
      }
      const row = (name: string) => page.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
      // spec: C-322
      await row("channel 11").getByText("已禁用").waitFor();
      await row("channel 10").getByText("未知").waitFor();
      // spec: C-334
      expect(await row("channel 10").getByText("未知").count()).toBe(1);
      // spec: C-024, C-321
      await row("channel 9").getByText("已启用").waitFor();
      const colour = (name: string) =>
        row(name)
          .getByRole("cell")
          .first()
          .evaluate((element) => getComputedStyle(element).backgroundColor);
      await page.mouse.move(0, 0);
      // spec: C-086
      expect(await colour("channel 11")).not.toBe(await colour("channel 9"));
    });
  });

  test("signing in shows a message, and signing out deletes the user in the browser and the session on the server (A-340, A-341, A-490)", async () => {
    const guest = await weir.newUser();
    await visit({}, async (page, context) => {
      await open(page, "/login");
      await type(page.locator("input[name=username]"), guest.username);
      await type(page.locator("input[name=password]"), "correct-horse-9");
      await page.locator("form button[type=submit]").click();
      await page.getByText("登录成功！").waitFor();
      await page.waitForURL("**/token");
      const cookie = (await context.cookies()).find(({ name }) => name === "session")?.value;
      await page.getByRole("button", { name: guest.username }).click();
      await page.getByRole("menuitem", { name: "退出登录" }).click();
      // spec: C-182
      await page.waitForFunction(() => localStorage.getItem("user") === null);
      // spec: A-340
      expect((await storage(page)).user).toBeUndefined();
      const self = await weir.anonymous("GET", "/api/user/self", undefined, {
        cookie: `session=${cookie}`,
        "new-api-user": String(guest.id),
      });
      // spec: A-341, C-182
      expect(self.status).toBe(401);
    });
  });
});
