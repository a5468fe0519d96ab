import "../../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { ConfirmHost } = await import("../../components/confirm");
const { clearUser, currentUser, storeUser } = await import("../../lib/session");
const { Route } = await import("wouter");
const { default: SettingPage } = await import("../setting/setting-page");

setDefaultTimeout(60_000);
afterEach(() => {
  clearUser();
  closePage();
});

const person = (role: number) => ({ id: 7, username: "ann", display_name: "Ann", role, status: 1, group: "vip" });

const sessions = [
  {
    id: 3,
    created_at: 1,
    last_seen_at: 1_700_000_000,
    ip: "198.51.100.7",
    user_agent: "Mozilla/5.0 (Windows NT 10.0) Gecko/20100101 Firefox/140.0",
    current: true,
  },
  { id: 2, created_at: 1, last_seen_at: 1_700_000_000, ip: "203.0.113.9", user_agent: "curl/8.0", current: false },
];

function open(role: number, address: string, procedures: Procedures = {}) {
  storeUser(person(role));
  const base: Procedures = {
    "user.self": () => ({
      ...person(role),
      email: "ann@example.com",
      quota: 1_000_000,
      used_quota: 250_000,
      request_count: 12,
      setting: "",
      aff_quota: 0,
      aff_history_quota: 0,
      aff_count: 0,
    }),
    "group.models": () => Array.from({ length: 12 }, (_, at) => `model-${at + 1}`),
    "invite.code": () => "Ab3x",
    "auth.sessions": () => sessions,
    "option.settings": () => ({ values: {}, set: [] }),
  };
  const paths = { "/api/status": () => Response.json({ success: true, message: "", data: {} }) };
  return openPage(
    <>
      <Route path="/setting">
        <SettingPage />
      </Route>
      <ConfirmHost />
      <Toasts />
    </>,
    address,
    { procedures: { ...base, ...procedures }, paths },
  );
}

test("what one has and has used is shown, with the role as a tag", async () => {
  await open(1, "/setting?tab=personal");
  // spec
  expect(await screen.findByText("$2.00")).toBeDefined();
  // spec: A-115
  expect(screen.getByText("$0.50")).toBeDefined();
  // spec: A-116
  expect(screen.getByText("12")).toBeDefined();
  expect(screen.getByText("普通用户")).toBeDefined();
  // spec: D-16
  expect(screen.queryByText("管理员")).toBeNull();
  // spec: A-122
  expect(await screen.findByText("ann@example.com")).toBeDefined();
});

test("an administrator is shown with the name of their role, without the badge", async () => {
  await open(10, "/setting?tab=personal");
  await screen.findByText("$2.00");
  // spec: D-16
  expect(screen.getAllByText("管理员")).toHaveLength(1);
});

test("the administrator's badge of the specification is for super administrators alone", async () => {
  await open(100, "/setting?tab=personal");
  // spec: A-131, D-16
  expect(await screen.findByText("管理员")).toBeDefined();
  expect(screen.queryByText("超级管理员")).toBeNull();
});

test("ten models are shown, the others on demand, and folded away again", async () => {
  const { user } = await open(1, "/setting?tab=personal");
  // spec: A-508
  expect(await screen.findByText("model-10")).toBeDefined();
  // spec
  expect(screen.queryByText("model-11")).toBeNull();
  await user.click(screen.getByRole("button", { name: "更多（2）" }));
  // spec: A-118
  expect(screen.getByText("model-12")).toBeDefined();
  await user.click(screen.getByRole("button", { name: "收起" }));
  // spec: A-118
  expect(screen.queryByText("model-11")).toBeNull();
});

test.each([
  ["/setting", 1],
  ["/setting?tab=nonsense", 1],
  ...["operation", "system", "other"].flatMap((tab) => [1, 10].map((role) => [`/setting?tab=${tab}`, role] as const)),
] as const)("%s leads role %i to the personal tab without asking for options", async (address, role) => {
  const { calls } = await open(role, address);
  expect(await screen.findByText("$2.00")).toBeDefined();
  // spec, D-05
  expect(location.search).toBe("?tab=personal");
  expect(screen.queryByRole("tab")).toBeNull();
  // spec: D-05
  expect(calls.some(({ path }) => path.startsWith("option."))).toBe(false);
});

test("unsaved settings are still there when root goes from tab to tab and back", async () => {
  const values = { SystemName: "Weir" };
  const { user } = await open(100, "/setting", { "option.settings": () => ({ values, set: [] }) });
  await user.click(await screen.findByRole("tab", { name: "其他设置" }));
  expect(location.search).toBe("?tab=other");
  await user.type(await screen.findByLabelText("系统名称"), "x");
  await user.click(screen.getByRole("tab", { name: "个人设置" }));
  await waitFor(() => expect(location.search).toBe("?tab=personal"));
  expect((await screen.findAllByText("1 项未保存")).length).toBeGreaterThan(0);
  await user.click(screen.getByRole("tab", { name: "其他设置" }));
  expect((await screen.findByLabelText<HTMLInputElement>("系统名称")).value).toBe("Weirx");
  expect(location.search).toBe("?tab=other");
});

const byPath = (calls: { path: string; input: unknown }[], path: string) =>
  calls.filter((call) => call.path === path).map(({ input }) => input);

test("an access token is made, shown once and copied", async () => {
  const { user, calls } = await open(1, "/setting?tab=personal", { "user.newAccessToken": () => "t".repeat(32) });
  await user.click(await screen.findByRole("button", { name: "生成系统访问令牌" }));
  // spec
  expect((await screen.findByLabelText<HTMLInputElement>("新的系统访问令牌")).value).toBe("t".repeat(32));
  // spec: A-493
  expect(await screen.findByText("令牌已重置并已复制到剪贴板")).toBeDefined();
  // spec
  expect(await navigator.clipboard.readText()).toBe("t".repeat(32));
  expect(byPath(calls, "user.newAccessToken")).toHaveLength(1);
});

test("a new password is typed twice; what is short or unequal is refused without a call", async () => {
  const { user, calls } = await open(1, "/setting?tab=personal", { "user.updateSelf": () => undefined });
  await user.click(await screen.findByRole("button", { name: "修改密码" }));
  const [first, second] = [await screen.findByLabelText("新密码"), screen.getByLabelText("确认新密码")];
  await user.type(first, "1234567");
  await user.type(second, "1234567{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe("密码长度不得小于 8 位！");
  await user.type(first, "8{Enter}");
  // spec: A-371, D-43
  expect((await screen.findByRole("alert")).textContent).toBe("两次输入的密码不一致！");
  // spec: A-371
  expect(byPath(calls, "user.updateSelf")).toEqual([]);
  await user.type(second, "8{Enter}");
  // spec: A-495
  expect(await screen.findByText("密码修改成功！")).toBeDefined();
  // spec
  expect(byPath(calls, "user.updateSelf")).toEqual([{ password: "12345678" }]);
});

test("the account is deleted only after its name was typed, and the browser is signed out", async () => {
  const { user, calls } = await open(1, "/setting?tab=personal", { "user.deleteSelf": () => undefined });
  const button = await screen.findByRole("button", { name: "删除我的账户" });
  await waitFor(() => expect(button).toHaveProperty("disabled", false));
  await user.click(button);
  const field = await screen.findByLabelText("输入你的账户名 ann 以确认删除");
  await user.type(field, "bob{Enter}");
  // spec
  expect((await screen.findByRole("alert")).textContent).toBe("请输入你的账户名以确认删除！");
  // spec: A-370
  expect(byPath(calls, "user.deleteSelf")).toEqual([]);
  await user.clear(field);
  await user.type(field, "ann");
  await user.click(screen.getByRole("button", { name: "确认删除" }));
  // spec
  expect(await screen.findByText("账户已删除！")).toBeDefined();
  // spec: A-342
  expect(currentUser()).toBeNull();
  // spec: A-343
  expect(location.pathname).toBe("/login");
});

test("a super administrator is told that their account cannot be deleted", async () => {
  await open(100, "/setting?tab=personal");
  expect(await screen.findByRole("button", { name: "删除我的账户" })).toHaveProperty("disabled", true);
  expect(screen.getByText("超级管理员不能删除自己的账户。")).toBeDefined();
});

test("an address is bound by the code that was mailed to it; both are needed, and a refusal is shown as it came", async () => {
  let taken = true;
  const { user, calls } = await open(1, "/setting?tab=personal", {
    "auth.bindEmail": () => {
      if (taken) throw new Refusal("email_taken");
    },
    "auth.sendVerification": () => undefined,
  });
  const button = await screen.findByRole("button", { name: "修改绑定" });
  // spec: A-122
  expect(screen.getByRole("listitem", { name: "邮箱" }).textContent).toContain("ann@example.com");
  await user.click(button);
  await user.click(await screen.findByRole("button", { name: "绑定" }));
  // spec: A-369
  expect((await screen.findByRole("alert")).textContent).toBe("请输入邮箱地址和验证码！");
  await user.type(screen.getByLabelText("验证码"), "ABC234{Enter}");
  // spec: A-369
  expect((await screen.findByRole("alert")).textContent).toBe("请输入邮箱地址和验证码！");
  await user.clear(screen.getByLabelText("验证码"));
  await user.type(screen.getByRole("textbox", { name: "邮箱" }), "new@example.com");
  await user.click(screen.getByRole("button", { name: "绑定" }));
  // spec: A-369
  expect((await screen.findByRole("alert")).textContent).toBe("请输入邮箱地址和验证码！");
  await user.click(screen.getByRole("button", { name: "获取验证码" }));
  expect(await screen.findByText("验证码发送成功，请检查邮箱！")).toBeDefined();
  await user.type(screen.getByLabelText("验证码"), "ABC234{Enter}");
  // spec: A-500
  expect((await screen.findByRole("alert")).textContent).toBe("该邮箱已被使用");
  taken = false;
  await user.click(screen.getByRole("button", { name: "绑定" }));
  // spec: A-494
  expect(await screen.findByText("邮箱绑定成功！")).toBeDefined();
  // spec
  expect(byPath(calls, "auth.bindEmail")).toEqual([
    { email: "new@example.com", code: "ABC234" },
    { email: "new@example.com", code: "ABC234" },
  ]);
  sessionStorage.clear();
});

test("a user without a bound address sees that, and may bind one", async () => {
  await open(1, "/setting?tab=personal", {
    "user.self": () => ({ ...person(1), email: "", quota: 0, used_quota: 0, request_count: 0, setting: "" }),
  });
  const row = await screen.findByRole("listitem", { name: "邮箱" });
  await waitFor(() => expect(row.querySelector("button")).toHaveProperty("disabled", false));
  // spec: A-122
  expect(row.textContent).toContain("未绑定");
});

test("sessions show device name and address; another one can be signed out, the current one cannot", async () => {
  const { user, calls } = await open(1, "/setting?tab=personal", {
    "auth.endSession": () => undefined,
    "auth.endOtherSessions": () => 1,
  });
  expect(await screen.findByText("Firefox, Windows")).toBeDefined();
  expect(screen.getByText("本设备")).toBeDefined();
  expect(screen.getByText("curl/8.0")).toBeDefined();
  await user.click(screen.getByRole("button", { name: "退出" }));
  await waitFor(() => expect(byPath(calls, "auth.endSession")).toEqual([{ id: 2 }]));
  await user.click(screen.getByRole("button", { name: "退出其他设备" }));
  expect(await screen.findByText("已退出其他设备")).toBeDefined();
});

test("name and display name are changed where they differ, and the console's own memory of them", async () => {
  const { user, calls } = await open(1, "/setting?tab=personal", { "user.updateSelf": () => undefined });
  const field = await screen.findByLabelText("显示名称");
  const form = field.closest("form");
  const save = () => user.click(form?.querySelector("button") ?? field);
  await save();
  expect(await screen.findByText("没有任何修改！")).toBeDefined();
  await user.clear(field);
  await user.type(field, "Anna");
  await save();
  expect(await screen.findByText("用户信息更新成功！")).toBeDefined();
  expect(byPath(calls, "user.updateSelf")).toEqual([{ username: "ann", display_name: "Anna" }]);
  expect(currentUser()?.display_name).toBe("Anna");
});
