/** The top bar and the menu: what they show to which users. */
import "../../../tests/dom";
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";

const { closePage, openPage, screen, waitFor } = await import("../../../tests/kit/client-page");
const { act, within } = await import("@testing-library/react");
const { loadStatus } = await import("../lib/status");
const { activateLanguage } = await import("../lib/i18n");
const { clearUser, storeUser } = await import("../lib/session");
const { Sidebar, sidebarStartsCollapsed } = await import("./sidebar");
const { TopBar } = await import("./top-bar");

// Slow while other test files run.
setDefaultTimeout(30_000);

afterEach(async () => {
  clearUser();
  closePage();
  document.documentElement.removeAttribute("data-theme");
  await activateLanguage("zh");
});

const person = (role: number) => ({
  id: 1,
  username: "ann",
  display_name: "ann",
  role,
  status: 1,
  group: "default",
});
const bar = () => <TopBar onPalette={() => {}} onPaletteHover={() => {}} onShortcuts={() => {}} />;
const linksOf = (name: string) =>
  within(screen.getByRole("navigation", { name }))
    .getAllByRole("link")
    .map((link) => [link.textContent, link.getAttribute("href")]);

describe("the top bar", () => {
  test("leads a stranger home, to the console, to prices and about, and to sign in or register", async () => {
    await openPage(bar(), "/");
    // spec: C-169, C-170, C-171, C-172
    expect(linksOf("站点")).toEqual([
      ["首页", "/"],
      ["控制台", "/token"],
      ["定价", "/pricing"],
      ["关于", "/about"],
    ]);
    // spec: C-181
    expect(screen.getByRole("link", { name: "登录" }).getAttribute("href")).toBe("/login");
    // spec: C-181
    expect(screen.getByRole("link", { name: "注册" }).getAttribute("href")).toBe("/register");
  });

  test("before there is an administrator it offers nobody to sign in or to register", async () => {
    const answer = (setup: boolean) => () =>
      Response.json({ success: true, message: "", data: { setup, register_enabled: true } });
    await openPage(bar(), "/setup", { paths: { "/api/status": answer(false) } });
    await act(() => loadStatus());
    expect(screen.queryByRole("link", { name: "登录" })).toBeNull();
    expect(screen.queryByRole("link", { name: "注册" })).toBeNull();
    closePage();
    await openPage(bar(), "/", { paths: { "/api/status": answer(true) } });
    await act(() => loadStatus());
    expect(screen.getByRole("link", { name: "登录" })).toBeTruthy();
  });

  test("links signed-in users to the console, and shows their menu instead of the sign-in", async () => {
    storeUser(person(1));
    const { user } = await openPage(bar(), "/");
    // spec: C-169, C-171, C-172
    expect(linksOf("站点")).toEqual([
      ["首页", "/"],
      ["控制台", "/token"],
      ["定价", "/pricing"],
      ["关于", "/about"],
    ]);
    expect(screen.queryByRole("link", { name: "登录" })).toBeNull();
    expect(screen.queryByRole("link", { name: "注册" })).toBeNull();
    await user.click(screen.getByRole("button", { name: "用户菜单：ann" }));
    // spec: C-182
    expect(await screen.findByRole("menuitem", { name: "退出登录" })).toBeDefined();
  });

  test("turns the page to day, to dark, and to what the system has", async () => {
    const { user } = await openPage(bar(), "/");
    for (const [name, stored, shown] of [
      ["夜间模式", "dark", "dark"],
      ["日间模式", "light", "light"],
      ["跟随系统", "system", "light"],
    ] as const) {
      await user.click(screen.getByRole("button", { name: "主题" }));
      await user.click(await screen.findByRole("menuitemradio", { name }));
      // spec: C-173, C-174, C-175
      expect([localStorage.getItem("theme"), document.documentElement.dataset["theme"]]).toEqual([stored, shown]);
    }
  });

  test("turns its words to English and back to Chinese", async () => {
    const { user } = await openPage(bar(), "/");
    await user.click(screen.getByRole("button", { name: "语言" }));
    await user.click(await screen.findByRole("menuitemradio", { name: "English" }));
    await waitFor(() =>
      // spec: C-176
      expect(linksOf("Site")).toEqual([
        ["Home", "/"],
        ["Console", "/token"],
        ["Pricing", "/pricing"],
        ["About", "/about"],
      ]),
    );
    await user.click(screen.getByRole("button", { name: "Language" }));
    await user.click(await screen.findByRole("menuitemradio", { name: "中文" }));
    await waitFor(() => expect(linksOf("站点").map(([title]) => title)).toEqual(["首页", "控制台", "定价", "关于"]));
  });
});

describe("the side menu", () => {
  const menuOf = async (role: number, stored: Record<string, string> = {}) => {
    for (const [key, value] of Object.entries(stored)) localStorage.setItem(key, value);
    await openPage(<Sidebar user={person(role)} collapsed={false} />, "/token", {
      procedures: { "user.self": () => ({ quota: 0 }), "channel.statusCounts": () => ({}) },
    });
    const links = linksOf("主菜单");
    closePage();
    return links;
  };
  const everything = { enable_data_export: "true", enable_drawing: "true", enable_task: "true" };
  const own = [
    ["操练场", "/playground"],
    ["聊天", "/chat"],
    ["API 令牌", "/token"],
    ["使用日志", "/log"],
    ["数据看板", "/detail"],
    ["绘图", "/midjourney"],
    ["异步任务", "/task"],
    ["钱包", "/topup"],
    ["个人设置", "/setting?tab=personal"],
  ];
  const administrators = [
    ["渠道", "/channel"],
    ["告警", "/incident"],
    ["实例", "/instance"],
    ["用户管理", "/user"],
    ["兑换码", "/redemption"],
    ["模型状态", "/status"],
  ];

  test("an ordinary user has their own pages, an administrator those of administrators too, root the settings", async () => {
    // spec: C-022, C-183, C-184, C-185, C-186, C-187, C-188, C-189, C-190, C-191, C-192, C-193, C-194
    expect(await menuOf(1, everything)).toEqual(own);
    // spec: C-021, C-184, C-188, C-190
    expect(await menuOf(10, everything)).toEqual([...own, ...administrators]);
    expect(await menuOf(100, everything)).toEqual([
      ...own,
      ...administrators,
      ["系统设置", "/setting?tab=operation"],
      ["操作审计", "/audit"],
      ["模型价格", "/setting/pricing"],
    ]);
  });

  test.each([
    ["enable_data_export", "/detail"],
    ["enable_drawing", "/midjourney"],
    ["enable_task", "/task"],
  ])("without a stored %s of true there is no %s", async (flag, path) => {
    const paths = async (value: string) => (await menuOf(1, { ...everything, [flag]: value })).map(([, to]) => to);
    // spec: C-187, C-192, C-193
    expect(await paths("true")).toContain(path);
    for (const value of ["false", "1", ""])
      // spec: C-187, C-192, C-193
      expect([value, await paths(value)]).not.toEqual([value, expect.arrayContaining([path])]);
  });

  test("the configured chats stand below the chat, each at its number", async () => {
    const chats = JSON.stringify([{ Web: "https://chat.example/?k={key}" }, { Desk: "app://open?k={key}" }]);
    const links = await menuOf(1, { chats });
    const at = links.findIndex(([title]) => title === "聊天");
    // spec: C-185
    expect(links.slice(at, at + 3)).toEqual([
      ["聊天", "/chat"],
      ["Web", "/chat/0"],
      ["Desk", "/chat/1"],
    ]);
  });

  test("is collapsed at first only where the operator says so, and the user's own choice wins", () => {
    for (const [operator, own, collapsed] of [
      [null, null, false],
      ["false", null, false],
      ["true", null, true],
      ["true", "false", false],
      ["false", "true", true],
    ] as const) {
      localStorage.clear();
      if (operator !== null) localStorage.setItem("default_collapse_sidebar", operator);
      if (own !== null) localStorage.setItem("sidebar-collapsed", own);
      // spec: C-195, C-196
      expect([operator, own, sidebarStartsCollapsed()]).toEqual([operator, own, collapsed]);
    }
  });
});

test("the names of the bar's controls begin with what is seen of them", async () => {
  storeUser({ ...person(1), display_name: "Ann A." });
  await openPage(bar(), "/");
  expect(screen.getByRole("button", { name: /^搜索 (Ctrl K|⌘K)$/ }).textContent).toMatch(/^搜索/);
  expect(screen.getByRole("button", { name: "用户菜单：Ann A." }).textContent).toContain("Ann A.");
});
