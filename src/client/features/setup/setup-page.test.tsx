import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { clearUser, currentUser, storeUser } = await import("../../lib/session");
const { default: SetupPage } = await import("./setup-page");

const root = { id: 1, username: "root", display_name: "root", role: 100, status: 1, group: "default" };
const PASSWORD = "brick7Wall-six";
const CODE = "0123456789abcdef0123456789abcdef";
const LINK = `/setup#code=${CODE}`;

afterEach(() => {
  clearUser();
  closePage();
});

/** A server that remembers what the wizard did. `code`: the one that it takes. */
function server(state: { done?: boolean; channels?: number; code?: string } = {}): Procedures {
  const tokens: { id: number; key: string }[] = [];
  let { done = false, channels = 0 } = state;
  return {
    "setup.status": () => ({ status: done, root_init: done, database_type: "sqlite", code_needed: !done }),
    "setup.run": (input: { code: string }) => {
      if (state.code !== undefined && input.code !== state.code) throw new Refusal("setup_code_wrong");
      done = true;
      return root;
    },
    "channel.list": () => ({ items: [], page: 1, page_size: 1, total: channels }),
    "demo.createChannel": () => ({ id: ++channels }),
    "channel.fetchModelsFrom": (input: { key: string }) => {
      if (input.key === "bad") throw new Refusal("fetch_models_failed");
      return ["deepseek-chat", "other-model"];
    },
    "channel.create": () => [{ id: ++channels }],
    "channel.update": () => ({ id: channels }),
    "channel.test": () => ({ success: true, message: "", time: 0.4 }),
    "token.list": () => ({ items: tokens, page: 1, page_size: 1, total: tokens.length }),
    "token.create": () => [tokens[tokens.push({ id: 5, key: "KeyKeyKeyKeyKeyKey" }) - 1]],
    "token.reveal": () => ({ key: "sk-KeyKeyKeyKeyKeyKey" }),
    "log.own": () => ({ items: [] }),
  };
}

const next = () => screen.getByRole("button", { name: "下一步" });
const field = (name: string) => screen.getByLabelText(new RegExp(`^${name}`));

async function fillAccount(user: Awaited<ReturnType<typeof openPage>>["user"]): Promise<void> {
  await user.type(await screen.findByLabelText(/^用户名/), "root");
  await user.type(field("密码"), PASSWORD);
  await user.type(field("再次输入密码"), PASSWORD);
}

test("the account is created with what both steps say, and its owner is signed in", async () => {
  localStorage.setItem("language", "zh");
  const { user, calls } = await openPage(<SetupPage />, LINK, { procedures: server() });
  await fillAccount(user);
  await user.click(next());
  await user.click(await screen.findByRole("radio", { name: /团队/ }));
  expect(screen.getByText(/SQLite/)).toBeDefined();
  await user.click(screen.getByRole("button", { name: "创建账户并继续" }));
  await waitFor(() => expect(currentUser()).toEqual(root));
  expect(calls.find((call) => call.path === "setup.run")?.input).toEqual({
    username: "root",
    password: PASSWORD,
    confirmPassword: PASSWORD,
    code: CODE,
    mode: "team",
    server_address: "http://localhost",
  });
  expect(await screen.findByRole("heading", { name: "添加第一个渠道" })).toBeDefined();
  for (const secret of [PASSWORD, CODE])
    expect(JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain(secret);
});

test("what the server would refuse is refused before the call, field by field", async () => {
  localStorage.setItem("language", "zh");
  const { user, calls } = await openPage(<SetupPage />, LINK, { procedures: server() });
  await user.type(await screen.findByLabelText(/^用户名/), "a-name-too-long");
  await user.type(field("密码"), "short");
  await user.type(field("再次输入密码"), "other");
  await user.click(next());
  const said = screen.getAllByRole("alert").map((alert) => alert.textContent);
  expect(said).toEqual(["用户名长度必须为 1 到 12 个字符", "密码长度不得小于 8 位！", "两次输入的密码不一致"]);
  expect(calls.some((call) => call.path === "setup.run")).toBe(false);
});

test("the code of the link is used without being shown and leaves the address; a refused one gets a field and keeps the rest", async () => {
  localStorage.setItem("language", "zh");
  const { user, calls } = await openPage(<SetupPage />, `${LINK.replace(CODE, "ffff")}`, {
    procedures: server({ code: CODE }),
  });
  await fillAccount(user);
  expect(location.href).toEndWith("/setup");
  expect(screen.queryByLabelText(/^初始化码/)).toBeNull();
  await user.click(next());
  await user.click(await screen.findByRole("button", { name: "创建账户并继续" }));
  expect((await screen.findByRole("alert")).textContent).toContain("初始化码错误");
  expect(field("用户名")).toHaveProperty("value", "root");
  await user.clear(field("初始化码"));
  await user.type(field("初始化码"), ` ${CODE} `);
  await user.click(next());
  await user.click(await screen.findByRole("button", { name: "创建账户并继续" }));
  await waitFor(() => expect(currentUser()).toEqual(root));
  expect(calls.filter((call) => call.path === "setup.run").map(({ input }) => input)).toMatchObject([
    { code: "ffff" },
    { code: CODE },
  ]);
});

test("who comes without the link is asked for the code, and may paste the whole link", async () => {
  localStorage.setItem("language", "zh");
  const { user, calls } = await openPage(<SetupPage />, `/setup?code=${CODE}`, { procedures: server({ code: CODE }) });
  await fillAccount(user);
  await user.click(next());
  expect(screen.getByRole("alert").textContent).toContain("初始化码错误");
  await user.click(field("初始化码"));
  await user.paste(`http://localhost:3000${LINK}`);
  await user.click(next());
  await user.click(await screen.findByRole("button", { name: "创建账户并继续" }));
  await waitFor(() => expect(currentUser()).toEqual(root));
  expect(calls.find((call) => call.path === "setup.run")?.input).toMatchObject({ code: CODE });
});

test("after a reload it goes on at the first channel, and asks a stranger to sign in first", async () => {
  localStorage.setItem("language", "zh");
  await openPage(<SetupPage />, "/setup", { procedures: server({ done: true }) });
  await waitFor(() => expect(location.pathname + location.search).toBe("/login?redirect=%2Fsetup"));
  closePage();
  storeUser(root);
  await openPage(<SetupPage />, "/setup", { procedures: server({ done: true }) });
  expect(await screen.findByRole("heading", { name: "添加第一个渠道" })).toBeDefined();
  closePage();
  await openPage(<SetupPage />, "/setup", { procedures: server({ done: true, channels: 1 }) });
  expect(await screen.findByRole("heading", { name: "连接你的客户端" })).toBeDefined();
});

test("a tested key preselects the models that both sides know, and saving tests the channel", async () => {
  localStorage.setItem("language", "zh");
  storeUser(root);
  const { user, calls } = await openPage(<SetupPage />, "/setup", { procedures: server({ done: true }) });
  await user.click(await screen.findByRole("radio", { name: "DeepSeek" }));
  await user.type(field("密钥"), "bad");
  await user.click(screen.getByRole("button", { name: "测试连接" }));
  expect(await screen.findByText(/获取模型列表失败/)).toBeDefined();
  await user.clear(field("密钥"));
  await user.click(field("密钥"));
  await user.paste("sk-good");
  expect(await screen.findByText(/2 个模型/)).toBeDefined();
  await user.click(screen.getByRole("button", { name: "保存并继续" }));
  expect(await screen.findByRole("heading", { name: "连接你的客户端" })).toBeDefined();
  expect(calls.find((call) => call.path === "channel.create")?.input).toMatchObject({
    type: 43,
    name: "DeepSeek",
    key: "sk-good",
    models: ["deepseek-chat"],
  });
  expect(calls.some((call) => call.path === "channel.test")).toBe(true);
});

test("the demo channel and one token are made, and only once", async () => {
  localStorage.setItem("language", "zh");
  storeUser(root);
  const { user, calls } = await openPage(<SetupPage />, "/setup", { procedures: server({ done: true }) });
  await user.click(await screen.findByRole("button", { name: "用演示渠道" }));
  expect(await screen.findByText("等待第一个请求…")).toBeDefined();
  expect(calls.filter((call) => call.path === "demo.createChannel")).toHaveLength(1);
  expect(calls.filter((call) => call.path === "token.create").map((call) => call.input)).toEqual([
    { name: "默认", unlimited_quota: true, remain_quota: 0 },
  ]);
});

test("an address that is never tried is said to be one, and why", async () => {
  storeUser(root);
  const { user } = await openPage(<SetupPage />, "/setup", {
    procedures: {
      ...server({ done: true }),
      "channel.fetchModelsFrom": () => {
        throw new Refusal("address_forbidden");
      },
    },
  });
  await user.click(await screen.findByRole("radio", { name: "OpenAI" }));
  await user.type(field("密钥"), "sk-0123456789abcdef0123456789abcdef");
  await user.click(screen.getByRole("button", { name: "测试连接" }));
  expect(await screen.findByText(/^这个地址不会被访问：链路本地地址/)).toBeDefined();
});

test("the fields of a type come into view when it is chosen, and the focus stays with the choice", async () => {
  const shown: string[] = [];
  const scroll = Element.prototype.scrollIntoView;
  Element.prototype.scrollIntoView = function () {
    shown.push(this.tagName);
  };
  try {
    storeUser(root);
    const { user } = await openPage(<SetupPage />, "/setup", { procedures: server({ done: true }) });
    const type = await screen.findByRole("radio", { name: "OpenAI" });
    await user.click(type);
    await waitFor(() => expect(shown).toContain("FORM"));
    expect(document.activeElement).toBe(type);
  } finally {
    Element.prototype.scrollIntoView = scroll;
  }
});

test("an empty repetition of the password is asked for, not called different", async () => {
  localStorage.setItem("language", "zh");
  const { user } = await openPage(<SetupPage />, LINK, { procedures: server() });
  await user.type(await screen.findByLabelText(/^用户名/), "root");
  await user.type(field("密码"), PASSWORD);
  await user.click(next());
  expect(await screen.findByText("请再次输入密码")).toBeDefined();
});
