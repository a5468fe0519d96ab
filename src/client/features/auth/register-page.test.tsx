import "../../../../tests/dom";
import { afterAll, afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { errorText } from "../../../shared/errors";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser, currentUser } = await import("../../lib/session");
const { loadStatus } = await import("../../lib/status");
const { default: RegisterPage } = await import("./register-page");
const { default: ResetPage } = await import("./reset-page");
const { default: ResetConfirmPage } = await import("./reset-confirm-page");

setDefaultTimeout(60_000);
afterEach(() => {
  clearUser();
  sessionStorage.clear();
  closePage();
});
// Files that run later in this process expect the default options.
afterAll(async () => {
  const plain = () => Response.json({ success: true, message: "", data: {} });
  await openPage(<></>, "/", { paths: { "/api/status": plain } });
  await loadStatus();
  closePage();
});

async function open(
  page: "register" | "reset" | "confirm",
  { address, status = {}, procedures = {} }: { address?: string; status?: object; procedures?: Procedures } = {},
) {
  const pages = { register: <RegisterPage />, reset: <ResetPage />, confirm: <ResetConfirmPage /> };
  const paths = {
    "/api/status": () => Response.json({ success: true, message: "", data: { setup: true, ...status } }),
  };
  const opened = await openPage(
    <>
      {pages[page]}
      <Toasts />
    </>,
    address ?? `/${page}`,
    { procedures, paths },
  );
  await loadStatus();
  return opened;
}
type Opened = Awaited<ReturnType<typeof open>>;

const fill = async ({ user }: Opened, values: Record<string, string>) => {
  for (const [label, text] of Object.entries(values)) {
    const field = screen.getByLabelText(label);
    await user.clear(field);
    if (text) await user.type(field, text);
  }
};
const press = (page: Opened, name: string) => page.user.click(screen.getByRole("button", { name }));
const good = { 用户名: "ann", 密码: "secret-pass", 确认密码: "secret-pass" };

test("what is missing, short or unequal is said in the specified words and without a call", async () => {
  const page = await open("register");
  for (const [values, words] of [
    // spec: A-355
    [{ ...good, 用户名: " " }, "请输入用户名和密码！"],
    // spec: A-356
    [{ ...good, 密码: "", 确认密码: "" }, "请输入用户名和密码！"],
    // spec: A-352
    [{ ...good, 密码: "1234567", 确认密码: "1234567" }, "密码长度不得小于 8 位！"],
    // spec: A-354, D-43
    [{ ...good, 确认密码: "secret-pasS" }, "两次输入的密码不一致"],
  ] as const) {
    await fill(page, values);
    await press(page, "注册");
    expect((await screen.findByRole("alert")).textContent).toBe(words);
  }
  // spec
  expect(page.calls).toEqual([]);
  // spec: A-086
  expect(screen.getByPlaceholderText("输入密码，最短 8 位，最长 20 位")).toBeDefined();
  // spec
  for (const absent of ["邮箱", "验证码"]) expect(screen.queryByLabelText(absent)).toBeNull();
  // spec: A-084
  expect(screen.queryByRole("button", { name: "获取验证码" })).toBeNull();
});

test("a registration sends what was typed with the stored invitation, says so and leads to the login", async () => {
  const first = await open("register", { address: "/register?aff=Ab3x" });
  // spec: A-057
  await waitFor(() => expect(localStorage.getItem("aff")).toBe("Ab3x"));
  expect(first.calls).toEqual([]);
  const { cleanup } = await import("@testing-library/react");
  cleanup();
  const page = await open("register", { procedures: { "auth.register": () => undefined } });
  await fill(page, good);
  await press(page, "注册");
  // spec
  expect(await screen.findByText("注册成功！")).toBeDefined();
  // spec
  expect(page.calls).toEqual([
    {
      path: "auth.register",
      input: { username: "ann", password: "secret-pass", password2: "secret-pass", aff_code: "Ab3x" },
    },
  ]);
  // spec: A-087
  expect(location.pathname).toBe("/login");
});

test("with e-mail verification the code is sent, counted down through a reload, and asked for", async () => {
  const status = { email_verification: true };
  const procedures = { "auth.sendVerification": () => undefined, "auth.register": () => undefined };
  const page = await open("register", { status, procedures });
  // spec: A-082
  expect(await screen.findByLabelText("邮箱")).toBeDefined();
  await press(page, "获取验证码");
  expect((await screen.findByRole("alert")).textContent).toBe("请输入有效的邮箱地址");
  await fill(page, good);
  await press(page, "注册");
  // spec: A-358
  expect((await screen.findByRole("alert")).textContent).toBe("请输入邮箱地址和验证码！");
  await fill(page, { 邮箱: "ann@example.com" });
  await press(page, "注册");
  // spec: A-359
  expect((await screen.findByRole("alert")).textContent).toBe("请输入邮箱地址和验证码！");
  // spec: A-359
  expect(page.calls).toEqual([]);
  await press(page, "获取验证码");
  // spec: A-492
  expect(await screen.findByText("验证码发送成功，请检查邮箱！")).toBeDefined();
  // spec
  expect(screen.getByRole("button", { name: /^(30|29|28) 秒后重试$/ })).toHaveProperty("disabled", true);
  await fill(page, { 验证码: "ABC234" });
  await press(page, "注册");
  await waitFor(() => expect(page.calls.map(({ path }) => path)).toEqual(["auth.sendVerification", "auth.register"]));
  // spec: A-084
  expect(page.calls[0]?.input).toEqual({ email: "ann@example.com" });
  // spec: A-083
  expect(page.calls[1]?.input).toMatchObject({ email: "ann@example.com", verification_code: "ABC234" });

  const { cleanup } = await import("@testing-library/react");
  cleanup();
  await open("register", { status });
  // spec: D-41
  expect(await screen.findByRole("button", { name: /^\d+ 秒后重试$/ })).toBeDefined();
});

test("the countdown ends by itself, and a code can be sent again", async () => {
  // As a reload finds it a moment before its end.
  sessionStorage.setItem("code-countdown", String(Date.now() + 700));
  const page = await open("register", {
    status: { email_verification: true },
    procedures: { "auth.sendVerification": () => undefined },
  });
  await fill(page, { 邮箱: "ann@example.com" });
  // spec: A-345
  expect(await screen.findByRole("button", { name: "获取验证码" })).toHaveProperty("disabled", false);
  await press(page, "获取验证码");
  // spec
  expect(await screen.findByRole("button", { name: /^(30|29|28) 秒后重试$/ })).toBeDefined();
  expect(page.calls).toHaveLength(1);
});

test("a code that could not be sent ends the countdown and says why", async () => {
  const page = await open("register", {
    status: { email_verification: true },
    procedures: {
      "auth.sendVerification": () => {
        throw new Refusal("email_domain_denied");
      },
    },
  });
  await fill(page, { 邮箱: "ann@example.com" });
  await press(page, "获取验证码");
  expect((await screen.findByRole("alert")).textContent).toBe("管理员不允许使用该域名的邮箱");
  expect(await screen.findByRole("button", { name: "获取验证码" })).toHaveProperty("disabled", false);
});

test("while the bot check is not ready nothing is sent and a message is shown", async () => {
  const status = { turnstile_check: true, turnstile_site_key: "0x1" };
  const page = await open("register", { status, procedures: { "auth.register": () => undefined } });
  await fill(page, good);
  await press(page, "注册");
  // spec, D-79
  expect(await screen.findByText("请稍等几秒，正在检查环境")).toBeDefined();
  // spec: A-357, D-79
  expect(page.calls).toEqual([]);
});

test("a code and a reset mail wait for the bot check too", async () => {
  const status = { turnstile_check: true, turnstile_site_key: "0x1" };
  for (const [where, button] of [
    ["register", "获取验证码"],
    ["reset", "发送重置邮件"],
  ] as const) {
    const page = await open(where, { status: { ...status, email_verification: true } });
    await fill(page, { 邮箱: "ann@example.com" });
    await press(page, button);
    // spec: A-475, D-79
    expect(await screen.findByText("请稍等几秒，正在检查环境")).toBeDefined();
    // spec: A-475
    expect(page.calls).toEqual([]);
    closePage();
  }
});

test.each([
  // spec: A-499
  ["verification_code_wrong", "验证码错误或已过期"],
  // spec: A-500
  ["email_taken", "该邮箱已被使用"],
  // spec: A-502
  ["registration_disabled", "管理员关闭了新用户注册"],
  // spec: A-504
  ["turnstile_failed", "Turnstile 校验失败，请刷新页面后重试！"],
  // spec: D-42
  ["password_too_long", errorText("password_too_long", {}, "zh")],
] as const)("a registration that the server refuses is answered in its words: %s", async (code, words) => {
  const page = await open("register", {
    procedures: {
      "auth.register": () => {
        throw new Refusal(code);
      },
    },
  });
  // The maximum length is checked by the server.
  await fill(page, { ...good, 密码: "x".repeat(21), 确认密码: "x".repeat(21) });
  await press(page, "注册");
  // spec, D-42
  expect((await screen.findByRole("alert")).textContent).toBe(words);
});

test("a refusal's message is shown unchanged; where registration is off there is no form", async () => {
  const page = await open("register", {
    procedures: {
      "auth.register": () => {
        throw new Refusal("username_taken");
      },
    },
  });
  await fill(page, good);
  await press(page, "注册");
  expect((await screen.findByRole("alert")).textContent).toBe("用户名已被使用");
  const { cleanup } = await import("@testing-library/react");
  for (const [status, words] of [
    [{ register_enabled: false }, "管理员关闭了新用户注册"],
    [{ password_register: false }, "管理员关闭了密码注册，请使用其他方式"],
  ] as const) {
    cleanup();
    await open("register", { status });
    expect(await screen.findByText(words)).toBeDefined();
    // spec: D-09
    expect(screen.queryByLabelText("用户名")).toBeNull();
  }
});

test("who is signed in has no business on the register page", async () => {
  storeUser({ id: 1, username: "root", display_name: "", role: 100, status: 1, group: "default" });
  await open("register");
  // spec: D-08
  await waitFor(() => expect(location.pathname).toBe("/token"));
});

test("a reset mail is requested at most once in thirty seconds, whichever account has the address", async () => {
  const page = await open("reset", { procedures: { "auth.sendReset": () => undefined } });
  await press(page, "发送重置邮件");
  expect((await screen.findByRole("alert")).textContent).toBe("邮箱地址无效");
  await fill(page, { 邮箱: " ann@example.com" });
  await press(page, "发送重置邮件");
  expect(await screen.findByText(/重置邮件将很快送达/)).toBeDefined();
  // spec
  expect(screen.getByRole("button", { name: /^(30|29|28) 秒后重试$/ })).toHaveProperty("disabled", true);
  // spec
  expect(page.calls).toEqual([{ path: "auth.sendReset", input: { email: "ann@example.com" } }]);
});

test("the confirmation page calls nothing before its button; then it shows and copies the new password and forgets who was signed in", async () => {
  storeUser({ id: 1, username: "root", display_name: "", role: 100, status: 1, group: "default" });
  const page = await open("confirm", {
    address: "/user/reset?email=ann%40example.com&token=abc",
    procedures: { "auth.resetPassword": () => "NewPassword12345" },
  });
  expect(screen.getByLabelText<HTMLInputElement>("邮箱").value).toBe("ann@example.com");
  // spec: D-11
  expect(page.calls).toEqual([]);
  await press(page, "重置密码");
  // spec: A-091
  expect((await screen.findByLabelText<HTMLInputElement>("新密码")).value).toBe("NewPassword12345");
  // spec
  expect(page.calls).toEqual([{ path: "auth.resetPassword", input: { email: "ann@example.com", token: "abc" } }]);
  // spec: A-092
  expect(await navigator.clipboard.readText()).toBe("NewPassword12345");
  expect(currentUser()).toBeNull();
});

test("a link without address or token, or one that was used, is said to be invalid", async () => {
  for (const address of ["/user/reset", "/user/reset?email=a@b.example", "/user/reset?token=x"]) {
    await open("confirm", { address });
    // spec: D-11
    expect((await screen.findByRole("alert")).textContent).toBe("重置链接无效或已过期，请重新申请");
    expect(screen.queryByRole("button", { name: "重置密码" })).toBeNull();
    closePage();
  }
  const page = await open("confirm", {
    address: "/user/reset?email=a@b.example&token=x",
    procedures: {
      "auth.resetPassword": () => {
        throw new Refusal("reset_link_invalid");
      },
    },
  });
  await press(page, "重置密码");
  expect((await screen.findByRole("alert")).textContent).toBe("重置链接无效或已过期，请重新申请");
});

test("the bot check is on the registration and the login page, with the operator's site key, while it is switched on", async () => {
  const { default: LoginPage } = await import("./login-page");
  const drawn: unknown[] = [];
  const widget = {
    render: (_: unknown, options: { sitekey: string }) => {
      drawn.push(options.sitekey);
      return "w1";
    },
    ready: (then: () => void) => then(),
    reset: () => {},
    remove: () => {},
    execute: () => {},
    getResponse: () => "",
    isExpired: () => false,
  };
  Object.assign(window, { turnstile: widget });
  for (const turnstile_check of [false, true]) {
    const status = { setup: true, turnstile_check, turnstile_site_key: "0xkey" };
    for (const page of [<RegisterPage key="r" />, <LoginPage key="l" />]) {
      await openPage(page, "/login", {
        paths: { "/api/status": () => Response.json({ success: true, message: "", data: status }) },
      });
      await loadStatus();
      const loaded = () => {
        // The vendor's script would call this once it is there.
        const onLoad: unknown = Reflect.get(window, "onloadTurnstileCallback");
        if (typeof onLoad === "function") onLoad();
        return drawn;
      };
      // spec
      await waitFor(() => expect(loaded()).toEqual(turnstile_check ? ["0xkey"] : []));
      closePage();
      drawn.length = 0;
    }
  }
  Reflect.deleteProperty(window, "turnstile");
});
