import "../../../../tests/dom";
import { afterAll, afterEach, expect, test } from "bun:test";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { loadStatus } = await import("../../lib/status");
const { clearUser, currentUser, storeUser } = await import("../../lib/session");
const { ConfirmHost } = await import("../../components/confirm");
const { default: LoginPage } = await import("./login-page");

const root = { id: 1, username: "root", display_name: "root", role: 100, status: 1, group: "default" };

afterEach(() => {
  clearUser();
  closePage();
});
// Files that run later in this process expect the default options.
afterAll(async () => {
  const plain = () => Response.json({ success: true, message: "", data: {} });
  await openPage(<></>, "/", { paths: { "/api/status": plain } });
  await loadStatus();
  closePage();
});

const username = () => screen.getByLabelText("用户名或邮箱");
const password = () => screen.getByLabelText("密码");
const submit = () => screen.getByRole("button", { name: "登录" });

test("an empty name or password is refused with the specified words and without a call", async () => {
  const { user, calls } = await openPage(<LoginPage />, "/login");
  await user.click(submit());
  // spec: A-362
  expect(screen.getByRole("alert").textContent).toBe("请输入用户名和密码！");
  expect(document.activeElement).toBe(username());
  await user.type(username(), "root");
  await user.click(submit());
  expect(document.activeElement).toBe(password());
  // spec: A-362
  expect(calls).toEqual([]);
});

test("a login keeps the user and leads to the page that was asked for", async () => {
  const { user, calls } = await openPage(<LoginPage />, "/login?redirect=%2Flog%3Ftype%3D2", {
    procedures: { "auth.login": () => root },
  });
  await user.type(username(), " root ");
  await user.type(password(), "secret-pass{Enter}");
  await waitFor(() => expect(currentUser()).toEqual(root));
  // spec: A-067
  expect(calls).toEqual([{ path: "auth.login", input: { username: "root", password: "secret-pass" } }]);
  // spec: A-338, C-309
  expect(JSON.parse(localStorage.getItem("user") ?? "")).toEqual(root);
  // spec: D-06
  await waitFor(() => expect(location.pathname + location.search).toBe("/log?type=2"));
});

test("a login that was not asked for by a page leads to the tokens, never to another site", async () => {
  for (const search of ["", "?redirect=//evil.example", "?redirect=https://evil.example"]) {
    const { user } = await openPage(<LoginPage />, `/login${search}`, { procedures: { "auth.login": () => root } });
    await user.type(username(), "root");
    await user.type(password(), "secret-pass{Enter}");
    // spec: A-061, D-06
    await waitFor(() => expect(location.pathname).toBe("/token"));
    clearUser();
    closePage();
  }
});

test("a wrong password is said beside the form and the field is ready for another try", async () => {
  const { user } = await openPage(<LoginPage />, "/login", {
    procedures: {
      "auth.login": () => {
        throw new Refusal("credentials_wrong");
      },
    },
  });
  await user.type(username(), "root");
  await user.type(password(), "wrong{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe("用户名或密码错误，或用户已被封禁");
  expect(currentUser()).toBeNull();
});

test.each([
  // spec: A-503
  ["password_login_disabled", "管理员关闭了密码登录"],
  // spec: A-504
  ["turnstile_failed", "Turnstile 校验失败，请刷新页面后重试！"],
] as const)("what the server refuses is said as it came: %s", async (code, words) => {
  const { user } = await openPage(<LoginPage />, "/login", {
    procedures: {
      "auth.login": () => {
        throw new Refusal(code);
      },
    },
  });
  await user.type(username(), "root");
  await user.type(password(), "secret-pass{Enter}");
  // spec
  expect((await screen.findByRole("alert")).textContent).toBe(words);
});

test("a sign-in is said; who is signed in already is led on from here", async () => {
  const page = (
    <>
      <LoginPage />
      <Toasts />
    </>
  );
  const { user } = await openPage(page, "/login", { procedures: { "auth.login": () => root } });
  await user.type(username(), "root");
  await user.type(password(), "secret-pass{Enter}");
  // spec: A-490
  expect(await screen.findByText("登录成功！")).toBeDefined();
  closePage();
  storeUser(root);
  await openPage(page, "/login");
  // spec: D-08
  await waitFor(() => expect(location.pathname).toBe("/token"));
});

test("an expired session is explained by a note that stays", async () => {
  await openPage(<LoginPage />, "/login?expired=true");
  // spec: A-055
  expect(screen.getByText("未登录或登录已过期，请重新登录！")).toBeDefined();
});

test("a user who signs in again after their session has expired stays signed in", async () => {
  storeUser(root);
  const { user } = await openPage(<LoginPage />, "/login?expired=true&redirect=%2Flog", {
    procedures: { "auth.login": () => ({ ...root, username: "again" }) },
  });
  // spec: D-08
  await waitFor(() => expect(currentUser()).toBeNull());
  await user.type(username(), "root");
  await user.type(password(), "secret-pass{Enter}");
  await waitFor(() => expect(location.pathname).toBe("/log"));
  expect(currentUser()?.username).toBe("again");
});

test("the password can be shown, and Caps Lock gives a warning", async () => {
  const { user } = await openPage(<LoginPage />, "/login");
  expect(password().getAttribute("type")).toBe("password");
  await user.click(screen.getByRole("button", { name: "显示密码" }));
  expect(password().getAttribute("type")).toBe("text");
  await user.click(password());
  await user.keyboard("{CapsLock}a");
  expect(screen.getByText("大写锁定已打开")).toBeDefined();
});

test("the default account of imported data is asked to change its default password, and no other", async () => {
  const page = () =>
    openPage(
      <>
        <LoginPage />
        <ConfirmHost />
      </>,
      "/login",
      { procedures: { "auth.login": () => root } },
    );
  const first = await page();
  await first.user.type(username(), "root");
  await first.user.type(password(), "123456{Enter}");
  // spec: A-364, D-44
  expect((await screen.findByRole("alertdialog", { name: "您正在使用默认密码！" })).textContent).toContain(
    "请立刻修改默认密码！",
  );
  closePage();
  clearUser();

  const second = await page();
  await second.user.type(username(), "root");
  await second.user.type(password(), "1234567{Enter}");
  await waitFor(() => expect(currentUser()).toEqual(root));
  expect(screen.queryByRole("alertdialog")).toBeNull();
});

/** From here on the status is the one the previous test set. */
const withStatus = (data: object) => ({
  paths: { "/api/status": () => Response.json({ success: true, message: "", data }) },
});

test("where passwords or registration are off there is no form and no link for them", async () => {
  await openPage(<LoginPage />, "/login", withStatus({ password_login: false, register_enabled: false }));
  await loadStatus();
  // spec: D-09
  await waitFor(() => expect(screen.queryByLabelText("用户名或邮箱")).toBeNull());
  // spec: D-09
  expect(screen.queryByRole("link", { name: "注册账户" })).toBeNull();
  closePage();
  await openPage(<LoginPage />, "/login", withStatus({}));
  await loadStatus();
  expect(await screen.findByLabelText("用户名或邮箱")).toBeDefined();
  expect(screen.getByRole("link", { name: "注册账户" })).toBeDefined();
});

test("while the bot check is not ready nothing is sent and a message is shown", async () => {
  const page = (
    <>
      <LoginPage />
      <Toasts />
    </>
  );
  const { user, calls } = await openPage(
    page,
    "/login",
    withStatus({ turnstile_check: true, turnstile_site_key: "0x1" }),
  );
  await loadStatus();
  await user.type(username(), "root");
  await user.type(password(), "secret-pass{Enter}");
  // spec: A-475, D-79
  expect(await screen.findByText("请稍等几秒，正在检查环境")).toBeDefined();
  // spec: A-475, D-79
  expect(calls).toEqual([]);
});
