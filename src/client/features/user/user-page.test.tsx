import "../../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { ManagedUser } from "../../../shared/user-manage";
import type { Procedures } from "../../../../tests/kit/client-page";

const { within } = await import("@testing-library/react");
const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { ConfirmHost } = await import("../../components/confirm");
const { Toasts } = await import("../../components/toasts");
const { Route } = await import("wouter");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: ProfilePage } = await import("../personal/profile-page");
const { default: UserPage } = await import("./user-page");

setDefaultTimeout(30_000);

const user = (more: Partial<ManagedUser>): ManagedUser => ({
  id: 2,
  username: "alice",
  display_name: "Alice",
  role: 1,
  status: 1,
  group: "default",
  email: "",
  github_id: "",
  wechat_id: "",
  telegram_id: "",
  linux_do_id: "",
  oidc_id: "",
  quota: 500_000,
  used_quota: 0,
  request_count: 0,
  aff_code: "",
  aff_count: 0,
  aff_quota: 0,
  aff_history_quota: 0,
  inviter_id: 0,
  rpm: 0,
  tpm: 0,
  concurrency: 0,
  budget_day: 0,
  budget_month: 0,
  created_at: 1,
  last_login_at: 0,
  setting: "",
  DeletedAt: null,
  ...more,
});

afterEach(() => {
  clearUser();
  closePage();
});

function open(role: number, rows: ManagedUser[], address = "/user", more: Procedures = {}) {
  storeUser({ id: 1, username: "me", display_name: "", role, status: 1, group: "default" });
  const procedures: Procedures = {
    "user.list": () => ({ items: rows, page: 1, page_size: 10, total: rows.length }),
    "user.get": ({ id }: { id: number }) => rows.find((row) => row.id === id),
    "user.credits": () => ({ items: [] }),
    "group.list": () => ["default", "vip"],
    ...more,
  };
  return openPage(
    <>
      <Route path="/user/edit/:id">
        <UserPage />
      </Route>
      <Route path="/user">
        <UserPage />
      </Route>
      <Route path="/user/edit">
        <ProfilePage />
      </Route>
      <ConfirmHost />
      <Toasts />
    </>,
    address,
    { procedures },
  );
}
const menuOf = async (page: Awaited<ReturnType<typeof open>>, name: string) => {
  const row = (await screen.findByText(name)).closest("tr");
  const button = row?.querySelector<HTMLElement>('button[aria-label="行菜单"]');
  if (!button) throw new Error("no menu");
  await page.user.click(button);
};
const item = (name: string) => screen.findByRole("menuitem", { name: new RegExp(`^${name}`) });
const disabled = async (name: string) => (await item(name)).hasAttribute("data-disabled");

test("an administrator's menu has the refused actions off, with the reason", async () => {
  const page = await open(10, [user({})]);
  await menuOf(page, "alice");
  // spec: A-415
  expect([
    await disabled("提升"),
    await disabled("降级"),
    await disabled("启用"),
    await disabled("禁用"),
    await disabled("删除"),
  ]).toEqual([true, true, true, false, false]);
  // spec: A-415
  expect(screen.getByTitle("普通管理员无法提升其他用户为管理员")).toBeDefined();
});

test("nothing may be done to a super administrator", async () => {
  const page = await open(10, [user({ id: 3, username: "boss", role: 100 })]);
  await menuOf(page, "boss");
  for (const name of ["编辑", "提升", "降级", "启用", "禁用", "删除"])
    // spec: A-415
    expect([name, await disabled(name)]).toEqual([name, true]);
});

test.each([10, 100])("a deleted account has no actions in the list, for role %d", async (role) => {
  await open(role, [user({ id: 4, username: "gone", DeletedAt: "2026-01-01T00:00:00Z" })]);
  const row = (await screen.findByText("gone")).closest<HTMLElement>("tr") ?? document.body;
  // spec: A-320
  expect(within(row).getByText("已注销")).toBeDefined();
  // spec: A-321
  expect(within(row).queryByRole("button", { name: "行菜单" })).toBeNull();
});

test("what is left of a deleted person is removed in the account's drawer, by a super administrator", async () => {
  const gone = user({ id: 4, username: "gone", DeletedAt: "2026-01-01T00:00:00Z" });
  await open(10, [gone], "/user?edit=4");
  await screen.findByRole("dialog", { name: /gone/ });
  expect(screen.queryByRole("button", { name: "清除个人数据" })).toBeNull();
  closePage();
  const page = await open(100, [gone], "/user?edit=4");
  await page.user.click(await screen.findByRole("button", { name: "清除个人数据" }));
  expect(await screen.findByRole("alertdialog")).toBeDefined();
});

test("after an action the row takes what was answered; the list is not read again", async () => {
  const page = await open(100, [user({})], "/user", { "user.manage": () => user({ role: 10 }) });
  await menuOf(page, "alice");
  await page.user.click(await item("提升"));
  // spec: A-335
  expect(await screen.findByText("管理员")).toBeDefined();
  // spec: A-489
  expect(await screen.findByText("操作成功完成！")).toBeDefined();
  // spec: A-335
  expect(page.calls.filter(({ path }) => path === "user.list")).toHaveLength(1);
});

test("deleting asks for the name; without it no call is made", async () => {
  const page = await open(100, [user({})], "/user", {
    "user.manage": () => user({ DeletedAt: "2026-01-01T00:00:00Z" }),
  });
  await menuOf(page, "alice");
  await page.user.click(await item("删除"));
  const button = await screen.findByRole<HTMLButtonElement>("button", { name: "删除" });
  // spec: A-334, D-36
  expect(button.disabled).toBe(true);
  const question = screen.getByRole("alertdialog", { name: "删除用户 alice？" });
  // spec: D-36
  expect(question.textContent).toContain("此操作无法撤销");
  await page.user.click(screen.getByRole("button", { name: "取消" }));
  await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
  // spec: A-334
  expect(page.calls.some(({ path }) => path === "user.manage")).toBe(false);
  await menuOf(page, "alice");
  await page.user.click(await item("删除"));
  await page.user.type(await screen.findByLabelText("输入 alice 以确认"), "alice");
  await page.user.click(screen.getByRole("button", { name: "删除" }));
  // spec: A-336
  expect(await screen.findByText("已注销")).toBeDefined();
  expect(page.calls.filter(({ path }) => path === "user.manage").map(({ input }) => input)).toEqual([
    { id: 2, action: "delete" },
  ]);
});

test("a new account without a name or a password is refused before any call", async () => {
  const page = await open(10, [], "/user?edit=new");
  await page.user.click(await screen.findByRole("button", { name: "创建" }));
  // spec: A-350
  await waitFor(() => expect(screen.getAllByText("用户名和密码不能为空！")).toHaveLength(2));
  // spec: A-350
  expect(page.calls.some(({ path }) => path === "user.create")).toBe(false);
});

test("a new account is made from a name and a password, and the page says so", async () => {
  const page = await open(10, [], "/user?edit=new", { "user.create": () => user({ username: "carol" }) });
  await page.user.type(await screen.findByLabelText(/^用户名/), "carol");
  await page.user.type(screen.getByLabelText(/^密码/), "secret-pass");
  await page.user.click(screen.getByRole("button", { name: "创建" }));
  // spec: A-487
  expect(await screen.findByText("用户账户创建成功！")).toBeDefined();
  expect(page.calls.find(({ path }) => path === "user.create")?.input).toMatchObject({
    username: "carol",
    password: "secret-pass",
  });
});

test("the form of an account has its name, password, group and quota, and shows what is bound; the signed-in user's own has the first three", async () => {
  const bound = {
    email: "a@b.example",
    github_id: "gh-1",
    wechat_id: "wx-1",
    telegram_id: "tg-1",
    linux_do_id: "ld-1",
  };
  const page = await open(10, [user(bound)], "/user/edit/2");
  for (const name of ["用户名", "显示名称", "新密码", "分组", "添加额度"]) {
    // spec: A-404, D-04, D-12
    expect(await screen.findByLabelText(new RegExp(`^${name}`))).toBeDefined();
  }
  // spec: D-12
  expect(screen.getByText("剩余额度", { selector: "dt" }).parentElement?.textContent).toContain("$1.00");
  // spec: A-365
  expect(screen.getByText(/^最短 8 位/)).toBeDefined();
  await page.user.click(screen.getByRole("tab", { name: "账号绑定" }));
  for (const text of Object.values(bound)) {
    // spec: D-12
    expect(await screen.findByText(text)).toBeDefined();
  }
  closePage();

  await open(1, [], "/user/edit", { "user.self": () => user({ id: 1, username: "me" }) });
  for (const name of ["用户名", "显示名称"]) {
    // spec: D-04, D-12
    expect(await screen.findByLabelText(new RegExp(`^${name}`))).toBeDefined();
  }
  // spec: D-12
  expect(screen.getByRole("button", { name: "修改密码" })).toBeDefined();
  for (const name of ["分组", "添加额度"]) {
    // spec: A-405, D-12
    expect(screen.queryByLabelText(name)).toBeNull();
  }
});

test("the list shows 10, 20, 50 or 100 accounts a page, and can leave the deleted ones out", async () => {
  const page = await open(10, [user({})]);
  await screen.findByText("alice");
  // spec: A-505
  expect(page.calls.find(({ path }) => path === "user.list")?.input).toMatchObject({ page: 1, page_size: 10 });
  await page.user.click(screen.getByRole("combobox", { name: "每页条数" }));
  // spec: A-506
  expect((await screen.findAllByRole("option")).map(({ textContent }) => textContent)).toEqual([
    "10 条/页",
    "20 条/页",
    "50 条/页",
    "100 条/页",
  ]);
  closePage();

  const living = await open(10, [user({})], "/user?state=living");
  const asked = () => living.calls.find(({ path }) => path === "user.list")?.input;
  // spec: D-14
  await waitFor(() => expect(asked()).toMatchObject({ state: "living" }));
  expect(await screen.findByText("未注销")).toBeDefined();
});

test("a save without a change makes no call; a change sends itself and the quota as a difference", async () => {
  const page = await open(10, [user({})], "/user?edit=2", {
    "user.update": () => user({ display_name: "Bob", quota: 450_000 }),
  });
  const save = await screen.findByRole("button", { name: "保存" });
  await page.user.click(save);
  expect(page.calls.some(({ path }) => path === "user.update")).toBe(false);
  const name = screen.getByLabelText("显示名称");
  await page.user.clear(name);
  await page.user.type(name, "Bob");
  const added = screen.getByLabelText("添加额度");
  await page.user.clear(added);
  await page.user.type(added, "-0.1");
  await page.user.type(screen.getByLabelText("调整原因"), "refund");
  await page.user.click(save);
  await waitFor(() => expect(page.calls.some(({ path }) => path === "user.update")).toBe(true));
  const sent = page.calls.find(({ path }) => path === "user.update")?.input;
  // spec: A-367, D-47
  expect(sent).toMatchObject({ id: 2, display_name: "Bob", add_quota: -50_000, note: "refund" });
  // spec: A-488
  expect(await screen.findByText("用户信息更新成功！")).toBeDefined();
  expect(Object.keys(sent as object).sort()).toEqual(["add_quota", "adjust_key", "display_name", "id", "note"]);
});

test("an account that may not be read says why instead of showing a form", async () => {
  await open(10, [], "/user?edit=9", {
    "user.get": () => {
      throw new Refusal("same_or_higher_level");
    },
  });
  expect(await screen.findByText(/无权访问同级或更高级用户/)).toBeDefined();
});

test("second factors of another account are removed after a question; who may not change it cannot, and without any there is nothing to press", async () => {
  let owned = { totp: true, passkeys: 2 };
  const more: Procedures = {
    "user.factors": () => owned,
    "user.removeFactors": () => {
      owned = { totp: false, passkeys: 0 };
      return null;
    },
  };
  const page = await open(10, [user({})], "/user?edit=2", more);
  await page.user.click(await screen.findByRole("tab", { name: "账号绑定" }));
  const remove = () => screen.findByRole("button", { name: "移除两步验证" });
  await page.user.click(await remove());
  await page.user.click(await screen.findByRole("button", { name: "取消" }));
  expect(page.calls.some(({ path }) => path === "user.removeFactors")).toBe(false);
  await page.user.click(await remove());
  await page.user.click(await screen.findByRole("button", { name: "移除" }));
  await waitFor(() => expect(page.calls.find(({ path }) => path === "user.removeFactors")?.input).toEqual({ id: 2 }));
  await waitFor(() => expect(screen.queryByRole("button", { name: "移除两步验证" })).toBeNull());
  closePage();

  owned = { totp: true, passkeys: 0 };
  const own = await open(10, [user({ id: 1, username: "me", role: 10 })], "/user?edit=1", more);
  await own.user.click(await screen.findByRole("tab", { name: "账号绑定" }));
  expect((await remove()).hasAttribute("disabled")).toBe(true);
});

test("every status and role has its word, any other value is shown as unknown, and a locked account cannot be enabled", async () => {
  const page = await open(100, [
    user({ id: 3, username: "on" }),
    user({ id: 4, username: "off", status: 2, role: 10 }),
    user({ id: 5, username: "locked", status: 3 }),
    user({ id: 6, username: "odd", status: 9, role: 7 }),
    user({ id: 7, username: "boss", role: 100 }),
  ]);
  const textOf = async (name: string) => (await screen.findByText(name)).closest("tr")?.textContent;
  for (const [name, words] of [
    ["on", ["普通用户", "已激活"]],
    ["off", ["管理员", "已封禁"]],
    ["locked", ["已锁定"]],
    ["boss", ["超级管理员"]],
  ] as const) {
    // spec: ..A-326
    for (const word of words) expect(await textOf(name)).toContain(word);
  }
  // spec
  expect((await textOf("odd"))?.match(/未知/g)).toHaveLength(2);
  for (const [word, hue] of [
    ["已激活", "bg-green-bg"],
    ["已封禁", "bg-red-bg"],
  ] as const) {
    // spec
    for (const badge of screen.getAllByText(word)) expect(badge.parentElement?.className).toContain(hue);
  }
  await menuOf(page, "locked");
  // spec: A-318
  expect(await disabled("启用")).toBe(true);
});

test("the list shows of each account what the specification names, by column", async () => {
  await open(10, [
    user({
      id: 21,
      username: "carol",
      group: "vip",
      quota: 1_250_000,
      used_quota: 3_500_000,
      request_count: 417,
      aff_count: 6,
      aff_history_quota: 4_000_000,
      inviter_id: 13,
    }),
    user({ id: 22, username: "dave" }),
  ]);
  await screen.findByText("carol");
  const headers = screen.getAllByRole("columnheader").map((header) => header.textContent);
  const cellsOf = (name: string) =>
    within(screen.getByText(name).closest<HTMLElement>("tr") ?? document.body).getAllByRole("cell");
  const cell = (name: string, header: string) =>
    cellsOf(name)[headers.findIndex((text) => text?.startsWith(header))]?.textContent;
  for (const [id, header, text] of [
    ["A-097", "ID", "21"],
    ["A-098", "用户名", "carolAlice"],
    ["A-099", "分组", "vip"],
    ["A-100", "剩余额度", "$2.50"],
    ["A-101", "已用额度", "$7.00"],
    ["A-102", "调用次数", "417"],
    ["A-106", "角色", "普通用户"],
    ["A-107", "状态", "已激活"],
  ] as const) {
    // spec: A-097..A-102, A-106, A-107
    expect([id, cell("carol", header)]).toEqual([id, text]);
  }
  const invites = (name: string, title: string) =>
    within(cellsOf(name)[headers.indexOf("邀请信息")] ?? document.body).getByTitle(title).textContent;
  // spec: A-103
  expect(invites("carol", "邀请人数")).toBe("6");
  // spec: A-104
  expect(invites("carol", "邀请收益")).toBe("$8.00");
  // spec: A-105
  expect([invites("carol", "邀请人 ID"), invites("dave", "邀请人 ID")]).toEqual(["邀请人：13", "邀请人：无"]);
});

test("a row's menu has the six actions; editing opens the drawer of that account", async () => {
  const page = await open(100, [user({})]);
  await menuOf(page, "alice");
  // spec: A-108
  for (const name of ["提升", "降级", "禁用", "启用", "编辑", "删除"]) expect(await item(name)).toBeDefined();
  await page.user.click(await item("编辑"));
  // spec: A-110
  expect(await screen.findByRole("dialog")).toBeDefined();
  expect((await screen.findByLabelText<HTMLInputElement>(/^用户名/)).value).toBe("alice");
  expect(location.search).toBe("?edit=2");
});

test("a row's menu leads to the account's calls, and to those that failed", async () => {
  for (const [name, query] of [
    ["查看日志", "username=alice"],
    ["失败的调用", "username=alice&type=5"],
  ] as const) {
    const page = await open(100, [user({})]);
    await menuOf(page, "alice");
    await page.user.click(await item(name));
    expect([location.pathname, location.search]).toEqual(["/log", `?${query}`]);
    closePage();
  }
});

test("a new account is asked for username, display name and password, and sent with them", async () => {
  const page = await open(10, [], "/user", { "user.create": () => user({}) });
  const [add] = await screen.findAllByRole("button", { name: "添加用户" });
  if (add) await page.user.click(add);
  await page.user.type(await screen.findByLabelText(/^用户名/), "newcomer");
  await page.user.type(screen.getByLabelText("显示名称"), "New Comer");
  await page.user.type(screen.getByLabelText(/^密码/), "a good password");
  await page.user.click(screen.getByRole("button", { name: "创建" }));
  const created = () => page.calls.find(({ path }) => path === "user.create")?.input;
  // spec: A-109
  await waitFor(() =>
    expect(created()).toMatchObject({ username: "newcomer", display_name: "New Comer", password: "a good password" }),
  );
});

test("the list is searched by keyword and by one of the server's groups", async () => {
  const page = await open(10, [user({})]);
  const asked = () => page.calls.findLast(({ path }) => path === "user.list")?.input;
  await page.user.type(await screen.findByRole("searchbox"), "ali{Enter}");
  // spec: A-095
  await waitFor(() => expect(asked()).toMatchObject({ keyword: "ali" }));
  await page.user.click(screen.getByRole("button", { name: "筛选" }));
  await page.user.click(await screen.findByRole("combobox", { name: "分组" }));
  await page.user.click(await screen.findByRole("option", { name: "vip" }));
  // spec: A-096
  await waitFor(() => expect(asked()).toMatchObject({ keyword: "ali", group: "vip" }));
});

test("the list has four page sizes, says which rows it shows, and takes the size that was chosen before", async () => {
  localStorage.setItem("page-size", "50");
  const page = await open(10, [user({}), user({ id: 3, username: "bob" })]);
  // spec: A-113
  expect(await screen.findByText("第 1 - 2 条，共 2 条")).toBeDefined();
  // spec: A-112
  expect(page.calls.find(({ path }) => path === "user.list")?.input).toMatchObject({ page_size: 50 });
  await page.user.click(screen.getByRole("combobox", { name: "每页条数" }));
  const sizes = (await screen.findAllByRole("option")).map((option) => option.textContent);
  // spec: A-111
  expect(sizes).toEqual(["10 条/页", "20 条/页", "50 条/页", "100 条/页"]);
  await page.user.click(screen.getByRole("option", { name: "20 条/页" }));
  // spec: A-112
  expect(localStorage.getItem("page-size")).toBe("20");
});

test("a double click on Save adds quota once; a retry after a lost answer has the same key", async () => {
  let lost = true;
  const page = await open(100, [user({})], "/user?edit=2", {
    "user.update": () => {
      if (lost) throw new Refusal("internal");
      return user({ quota: 1_000_000 });
    },
  });
  const add = await screen.findByLabelText(/^添加额度/);
  await page.user.clear(add);
  await page.user.type(add, "5");
  await page.user.dblClick(screen.getByRole("button", { name: "保存" }));
  const updates = () => page.calls.filter(({ path }) => path === "user.update");
  await waitFor(() => expect(updates()).toHaveLength(1));
  await screen.findByText(/服务器内部错误/);
  lost = false;
  await page.user.dblClick(screen.getByRole("button", { name: "保存" }));
  await waitFor(() => expect(updates()).toHaveLength(2));
  const [first, second] = updates().map(({ input }) => Reflect.get(Object(input), "adjust_key"));
  expect(first).toBeString();
  expect(second).toBe(first);
});

test("the name of a row is never cut for the display name beside it; tabs that save nothing have no Save", async () => {
  const page = await open(
    100,
    [user({ username: "c.danvers", display_name: "Carol Danvers of the whole company" })],
    "/user?edit=2",
  );
  const named = await waitFor(() => {
    const found = screen.getAllByText("c.danvers").find((element) => element.closest("tr"));
    if (!found) throw new Error("no row");
    return found;
  });
  expect(named.className).toContain("shrink-0");
  await page.user.click(await screen.findByRole("tab", { name: "额度流水" }));
  expect(screen.queryByRole("button", { name: "保存" })).toBeNull();
  await page.user.click(screen.getByRole("tab", { name: "资料" }));
  expect(screen.getByRole("button", { name: "保存" })).toBeDefined();
});
