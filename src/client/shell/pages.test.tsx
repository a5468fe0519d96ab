/** Each path of the specification, opened directly: which page it shows, and to which users. */
import "../../../tests/dom";
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Procedures } from "../../../tests/kit/client-page";

const { closePage, openPage, screen } = await import("../../../tests/kit/client-page");
const { clearUser, storeUser } = await import("../lib/session");
const { menuPages } = await import("../paths");
const { Shell } = await import("./shell");

// A page is compiled when it is opened first, and a machine that runs other tests beside these is slow.
setDefaultTimeout(60_000);

afterEach(() => {
  clearUser();
  closePage();
});

/** An empty list, for every endpoint. */
const list = { items: [], page: 1, page_size: 10, total: 0, total_exact: true };
const LISTS =
  "channel.list token.list log.page log.ownPage redemption.page midjourney.list task.list user.list user.search".split(
    " ",
  );
const procedures: Procedures = {
  ...Object.fromEntries(LISTS.map((path) => [path, () => list])),
  "option.homePage": () => "",
  "option.about": () => "",
  "option.notice": () => "",
};
const open = (address: string, role: number, more: Procedures = {}) => {
  if (role > 0) storeUser({ id: 1, username: "ann", display_name: "ann", role, status: 1, group: "default" });
  for (const flag of ["enable_data_export", "enable_drawing", "enable_task"]) localStorage.setItem(flag, "true");
  return openPage(<Shell />, address, { procedures: { ...procedures, ...more } });
};

describe("the page at each address", () => {
  test.each([
    ["C-023", "/", 0, "Weir"],
    ["C-024", "/channel", 10, "渠道"],
    ["C-025", "/channel/add", 10, "添加渠道"],
    ["C-027", "/token", 1, "API 令牌"],
    ["C-028", "/playground", 1, "操练场"],
    ["C-029", "/redemption", 10, "兑换码"],
    ["C-030", "/topup", 1, "钱包"],
    ["C-031", "/log", 1, "使用日志"],
    ["C-032", "/detail", 1, "数据看板"],
    ["C-033", "/midjourney", 1, "绘图"],
    ["C-034", "/task", 1, "异步任务"],
    ["C-035", "/pricing", 0, "定价"],
    ["C-045", "/about", 0, "关于 Weir"],
    ["C-042", "/user", 10, "用户管理"],
    ["C-042", "/setting", 1, "个人设置"],
    ["C-042", "/user/edit", 1, "编辑个人资料"],
    ["C-042", "/login", 0, "登录 Weir"],
    ["C-042", "/register", 0, "注册 Weir"],
    ["C-042", "/reset", 0, "重置密码"],
    ["C-042", "/user/reset?email=a@b.example&token=x", 0, "密码重置确认"],
    ["C-043", "/no/such/page", 0, "页面不存在"],
    ["C-043", "/no/such/page", 1, "页面不存在"],
  ] as const)("%s: %s for role %d is headed %s", async (_, address, role, heading) => {
    await open(address, role);
    const head = await screen.findByRole("heading", { level: 1 }).catch(() => null);
    // spec: C-023, C-024, C-025, C-027, C-028, C-029, C-030, C-031, C-032, C-033, C-034, C-035, C-042, C-043, C-045
    expect([address, location.pathname, head?.textContent]).toEqual([address, address.split("?")[0], heading]);
  });

  test("the about page shows the operator's text, to visitors too", async () => {
    await open("/about", 0, { "option.about": () => "We run **this**." });
    // spec: C-036
    expect((await screen.findByText("this")).closest("main")?.textContent).toContain("We run this.");
  });

  test("a user's form is at the path with their id", async () => {
    const { calls } = await open("/user/edit/3", 10);
    await screen.findAllByRole("dialog").catch(() => []);
    // spec: C-042
    expect(calls.find(({ input }) => JSON.stringify(input) === '{"id":3}')?.path).toBe("user.get");
  });
});

test("every item of the side menu leads to a page that is headed as its own, not to one that is not there", async () => {
  localStorage.setItem("enable_data_export", "true");
  localStorage.setItem("enable_drawing", "true");
  localStorage.setItem("enable_task", "true");
  const addresses = menuPages(100).map((page) => page.nav?.to ?? page.path);
  const heads: (string | null)[] = [];
  for (const address of addresses) {
    await open(address, 100);
    heads.push((await screen.findByRole("heading", { level: 1 })).textContent);
    closePage();
  }
  expect(addresses.length).toBeGreaterThan(12);
  // spec: C-196
  for (const none of ["页面不存在", "没有权限", "登录 Weir"]) expect(heads).not.toContain(none);
});

describe("who may not see a page", () => {
  const CLOSED =
    "/channel /channel/add /channel/edit/1 /token /playground /redemption /topup /log /detail /midjourney /task /chat /chat/0 /chat2link /user /setting";
  test.each(CLOSED.split(" "))("a stranger at %s is led to the sign-in", async (address) => {
    const { calls } = await open(address, 0);
    const head = await screen.findByRole("heading", { level: 1 });
    // spec: C-044
    expect([location.pathname, head.textContent]).toEqual(["/login", "登录 Weir"]);
    expect(calls).toEqual([]);
  });

  test.each(["/channel", "/channel/add", "/channel/edit/1", "/redemption", "/user"])(
    "an ordinary user at %s is told that he may not, stays there and asks nothing of the page",
    async (address) => {
      const { calls } = await open(address, 1);
      const head = await screen.findByRole("heading", { level: 1 });
      // spec: C-046
      expect([location.pathname, head.textContent]).toEqual([address, "没有权限"]);
      // spec: C-046
      expect(calls.filter(({ path }) => /^(channel|redemption|user\.list)/.test(path))).toEqual([]);
    },
  );
});
