import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { errorText } from "../../../shared/errors";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { ConfirmHost } = await import("../../components/confirm");
const { clearUser, currentUser, storeUser } = await import("../../lib/session");
const { loadStatus } = await import("../../lib/status");
const { default: LoginPage } = await import("../auth/login-page");
const { Router, Route } = await import("wouter");
const { default: OauthPage } = await import("./oauth-page");
const { default: IdentityBindings } = await import("./identity-bindings");
const { factsOf } = await import("./telegram-widget");

setDefaultTimeout(60_000);
const ann = { id: 7, username: "github_7", display_name: "Ann", role: 1, status: 1, group: "default" };
const everything = {
  github_oauth: true,
  linuxdo_oauth: true,
  oidc_enabled: true,
  wechat_login: true,
  telegram_oauth: false,
  wechat_qrcode: "https://weir.example/qr.png",
  telegram_bot_name: "weir_bot",
};

/** Windows that were opened: where each was led. */
const opened: { opener: unknown; href: string; closed: boolean }[] = [];
const realOpen = window.open;
beforeEach(() => {
  opened.length = 0;
  const open = () => {
    const one = { opener: window as unknown, href: "", closed: false };
    opened.push(one);
    return {
      set opener(value: unknown) {
        one.opener = value;
      },
      location: { replace: (href: string) => void (one.href = href) },
      close: () => void (one.closed = true),
    };
  };
  Object.assign(window, { open });
});
afterEach(() => {
  Object.assign(window, { open: realOpen });
  clearUser();
  closePage();
});

interface Setting {
  status?: object;
  procedures?: Procedures;
  state?: (request: Request) => Response;
}

async function open(
  page: Parameters<typeof openPage>[0],
  address: string,
  { status = everything, procedures = {}, state }: Setting = {},
) {
  const paths = {
    "/api/status": () => Response.json({ success: true, message: "", data: status }),
    ...(state ? { "/api/oauth/state": state } : {}),
  };
  const shown = await openPage(
    <>
      {page}
      <ConfirmHost />
      <Toasts />
    </>,
    address,
    { procedures, paths },
  );
  await loadStatus();
  return shown;
}

test("only the ways that the operator offers stand on the login page", async () => {
  await open(<LoginPage />, "/login", { status: { linuxdo_oauth: true } });
  // spec: A-070
  expect(await screen.findByRole("button", { name: "使用 LinuxDO 登录" })).toBeDefined();
  // spec: A-078
  expect(screen.queryByRole("button", { name: "使用 GitHub 登录" })).toBeNull();
  // spec: A-078
  expect(screen.queryByRole("button", { name: "使用 微信 登录" })).toBeNull();
  // spec: A-078
  expect(screen.queryByTitle("使用 Telegram 登录")).toBeNull();
  closePage();
  await open(<LoginPage />, "/login", { status: {} });
  // spec: A-078
  await waitFor(() => expect(screen.queryByText("其他方式")).toBeNull());
});

test.each([
  ["GitHub", "github"],
  ["LinuxDO", "linuxdo"],
])(
  "%s's button asks for a state, with the invite code, and opens the provider's page in a window without a way back",
  async (name, provider) => {
    localStorage.setItem("aff", "Ab3x");
    const asked: string[] = [];
    const state = (request: Request) => {
      asked.push(new URL(request.url).search);
      return Response.json({
        success: true,
        message: "",
        data: "s1",
        url: "https://github.com/login/oauth/authorize?client_id=c&state=s1",
      });
    };
    const { user } = await open(<LoginPage />, "/login", { state });
    // spec
    await user.click(await screen.findByRole("button", { name: `使用 ${name} 登录` }));
    await waitFor(() =>
      // spec
      expect(opened).toEqual([
        { opener: null, href: "https://github.com/login/oauth/authorize?client_id=c&state=s1", closed: false },
      ]),
    );
    // spec
    expect(asked).toEqual([`?provider=${provider}&aff=Ab3x`]);
  },
);

test("where pop-ups are blocked the provider's page opens in this window", async () => {
  Object.assign(window, { open: () => null });
  const went: string[] = [];
  const moved = spyOn(location, "assign").mockImplementation((href) => void went.push(String(href)));
  const url = "https://github.com/login/oauth/authorize?state=s1";
  const { user } = await open(<LoginPage />, "/login", {
    state: () => Response.json({ success: true, message: "", data: "s1", url }),
  });
  await user.click(await screen.findByRole("button", { name: "使用 GitHub 登录" }));
  // spec: D-10
  await waitFor(() => expect(went).toEqual([url]));
  moved.mockRestore();
});

test("a provider that cannot be started closes its window and shows the reason", async () => {
  const { user } = await open(<LoginPage />, "/login", {
    state: () => Response.json({ success: false, message: "管理员未开启通过 GitHub 登录" }),
  });
  await user.click(await screen.findByRole("button", { name: "使用 GitHub 登录" }));
  expect(await screen.findByText("管理员未开启通过 GitHub 登录")).toBeDefined();
  expect(opened[0]?.closed).toBe(true);
});

test("the WeChat dialog shows the QR code, says how long a code lives, makes no call without one, and signs in", async () => {
  const { user, calls } = await open(<LoginPage />, "/login", { procedures: { "identity.wechat": () => ann } });
  await user.click(await screen.findByRole("button", { name: "使用 微信 登录" }));
  // spec
  expect((await screen.findByAltText("公众号二维码")).getAttribute("src")).toBe("https://weir.example/qr.png");
  // spec
  expect(screen.getByText(/三分钟内有效/)).toBeDefined();
  const button = screen.getAllByRole("button", { name: "登录" }).at(-1);
  if (!button) throw new Error("no button");
  await user.click(button);
  expect(await screen.findByText("请输入验证码！")).toBeDefined();
  expect(calls).toEqual([]);
  await user.type(screen.getByLabelText("验证码"), " 123456 {Enter}");
  await waitFor(() => expect(currentUser()?.id).toBe(7));
  // spec: A-074
  expect(calls).toMatchObject([{ path: "identity.wechat", input: { code: "123456" } }]);
});

test("Telegram's frame is Telegram's own page; facts count only in the message that its page sends", async () => {
  await open(<LoginPage />, "/login", { status: { ...everything, telegram_oauth: true } });
  const frame = await screen.findByTitle("使用 Telegram 登录");
  // spec: A-076
  expect(frame.getAttribute("src")).toStartWith("https://oauth.telegram.org/embed/weir_bot?origin=");
  const facts = { id: 12, first_name: "Ann", auth_date: 1_795_000_000, hash: "ab" };
  expect(factsOf(JSON.stringify({ event: "auth_user", auth_data: facts }))).toMatchObject({
    id: "12",
    auth_date: "1795000000",
    hash: "ab",
    first_name: "Ann",
  });
  for (const message of [
    { event: "auth_user" },
    "",
    "{",
    JSON.stringify({ event: "ready" }),
    JSON.stringify({ event: "auth_user", auth_data: null }),
    "null",
  ]) {
    expect(factsOf(message)).toBeUndefined();
  }
});

const page = (
  <Router>
    <Route path="/oauth/:provider">
      <OauthPage />
    </Route>
  </Router>
);

test.each(["github", "linuxdo"])("coming back from %s signs in, once, and leads to the tokens", async (provider) => {
  const finish = `identity.finish.${provider}`;
  const { calls } = await open(page, `/oauth/${provider}?code=c1&state=s1`, {
    procedures: { [finish]: () => ({ data: ann }) },
  });
  // spec: C-400, D-06
  await waitFor(() => expect(location.pathname).toBe("/token"));
  // spec: C-400
  expect(currentUser()?.id).toBe(7);
  // spec: C-040, C-041
  expect(calls).toEqual([{ path: finish, input: { code: "c1", state: "s1" } }]);
});

test("coming back to a binding leads to the settings", async () => {
  storeUser(ann);
  await open(page, "/oauth/oidc?code=c1&state=s1&iss=https://idp.example", {
    procedures: { "identity.finish.oidc": () => ({ message: "bind" }) },
  });
  // spec: C-399, D-06
  await waitFor(() => expect(location.pathname + location.search).toBe("/setting?tab=personal"));
});

test("a refusal is said where it happens, with a way back", async () => {
  await open(page, "/oauth/github?error=access_denied&state=s1", {
    procedures: {
      "identity.finish.github": () => {
        throw new Refusal("identity_state_wrong");
      },
    },
  });
  // spec: C-583
  expect((await screen.findByRole("alert")).textContent).toBe("登录请求已失效，或不是从此浏览器发起的，请重试");
  expect(screen.getByRole("link", { name: "返回登录" }).getAttribute("href")).toBe("/login");
});

test("an identity that is bound to another account is refused with the server's message", async () => {
  storeUser(ann);
  await open(page, "/oauth/github?code=c1&state=s1", {
    procedures: {
      "identity.finish.github": () => {
        throw new Refusal("identity_already_bound");
      },
    },
  });
  // spec: A-501
  expect((await screen.findByRole("alert")).textContent).toBe(errorText("identity_already_bound", {}, "zh"));
});

test("an unknown provider's page does not exist", async () => {
  const { calls } = await open(page, "/oauth/nobody?code=c1&state=s1");
  expect(calls).toEqual([]);
  expect(screen.queryByText("正在确认身份…")).toBeNull();
});

test("a binding that is off cannot be started and says why; one that is bound is shown by its name and unbound after a question", async () => {
  storeUser(ann);
  let bound = [{ provider: "github", name: "octocat", created_at: 1 }];
  const procedures: Procedures = {
    "identity.list": () => bound,
    "identity.unbind": () => {
      bound = [];
    },
  };
  const { user, calls } = await open(
    <ul>
      <IdentityBindings />
    </ul>,
    "/setting",
    { status: { ...everything, linuxdo_oauth: false }, procedures },
  );
  // spec: A-124
  expect(await screen.findByText("octocat")).toBeDefined();
  const off = await screen.findByRole("button", { name: "绑定 LinuxDO" });
  // spec: A-127
  await waitFor(() => expect(off.hasAttribute("disabled")).toBe(true));
  // spec: A-127
  expect(screen.getAllByText("管理员未开启")).toHaveLength(2);
  await user.click(screen.getByRole("button", { name: "解绑 GitHub" }));
  await user.click(await screen.findByRole("button", { name: "解绑" }));
  // spec: A-124
  expect(await screen.findByRole("button", { name: "绑定 GitHub" })).toBeDefined();
  expect(calls.filter((call) => call.path === "identity.unbind")).toEqual([
    { path: "identity.unbind", input: { provider: "github" } },
  ]);
});

test("WeChat is bound by a code, and a refusal leaves the dialog open", async () => {
  storeUser(ann);
  let taken = true;
  const procedures: Procedures = {
    "identity.list": () => [],
    "identity.wechatBind": () => {
      if (taken) throw new Refusal("wechat_code_wrong");
    },
  };
  const { user } = await open(
    <ul>
      <IdentityBindings />
    </ul>,
    "/setting",
    { procedures },
  );
  await user.click(await screen.findByRole("button", { name: "绑定 微信" }));
  // spec: A-123
  expect((await screen.findByAltText("公众号二维码")).getAttribute("src")).toBe("https://weir.example/qr.png");
  await user.type(await screen.findByLabelText("验证码"), "111111{Enter}");
  expect(await screen.findByText("验证码错误或已过期")).toBeDefined();
  taken = false;
  await user.click(screen.getByRole("button", { name: "绑定" }));
  // spec
  expect(await screen.findByText("绑定成功！")).toBeDefined();
  await waitFor(() => expect(screen.queryByLabelText("验证码")).toBeNull());
});

test("each binding says whether it is bound and to which account, and offers its own way to bind", async () => {
  storeUser(ann);
  const status = { ...everything, telegram_oauth: true };
  let bound = [
    { provider: "wechat", name: "wx-ann", created_at: 1 },
    { provider: "telegram", name: "tg-ann", created_at: 1 },
    { provider: "linuxdo", name: "do-ann", created_at: 1 },
  ];
  const bindings = (
    <ul>
      <IdentityBindings />
    </ul>
  );
  await open(bindings, "/setting", { status, procedures: { "identity.list": () => bound } });
  // spec
  for (const { name } of bound) expect(await screen.findByText(name)).toBeDefined();
  closePage();

  storeUser(ann);
  bound = [];
  const procedures: Procedures = { "identity.list": () => bound, "identity.begin": () => ({ url: "" }) };
  const { user, calls } = await open(bindings, "/setting", { status, procedures });
  for (const name of ["微信", "GitHub", "Telegram", "LinuxDO"]) {
    // spec: A-123..A-126
    expect((await screen.findByRole("listitem", { name })).textContent).toContain("未绑定");
  }
  await user.click(await screen.findByRole("button", { name: "绑定 LinuxDO" }));
  await user.click(screen.getByRole("button", { name: "绑定 GitHub" }));
  // spec
  await waitFor(() =>
    expect(calls.filter(({ path }) => path === "identity.begin").map(({ input }) => input)).toEqual([
      { provider: "linuxdo" },
      { provider: "github" },
    ]),
  );
  await user.click(screen.getByRole("button", { name: "绑定 Telegram" }));
  // spec: A-125
  expect((await screen.findByTitle(/Telegram/)).getAttribute("src")).toContain("/embed/weir_bot?");
});
