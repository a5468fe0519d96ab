import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { ConnectPanel } = await import("./connect-panel");

const KEY = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKl";
const row = {
  id: 7,
  request_id: "r",
  created_at: 1_700_000_000,
  type: 2,
  user_id: 1,
  username: "root",
  token_id: 3,
  token_name: "默认",
  channel: 0,
  channel_name: "",
  group: "default",
  model_name: "demo-echo",
  quota: 26,
  prompt_tokens: 15,
  completion_tokens: 37,
  use_time: 1,
  is_stream: true,
  content: "",
  other: '{"frt":48}',
  end_reason: "complete",
  ip: "",
  upstream_request_id: "",
};

afterEach(closePage);

test("the key is masked in view and whole on the clipboard", async () => {
  const { user, container } = await openPage(
    <ConnectPanel tokenId={3} tokenKey={KEY} models={["demo-echo"]} />,
    "/token",
    {
      procedures: { "log.own": () => ({ items: [] }) },
    },
  );
  expect(container.innerHTML).not.toContain(KEY);
  expect(container.textContent).toContain("sk-AbCdEfGh…IjKl");
  await user.click(screen.getByRole("button", { name: "复制密钥" }));
  expect(await navigator.clipboard.readText()).toBe(`sk-${KEY}`);
  await user.click(screen.getByRole("button", { name: "复制" }));
  expect(await navigator.clipboard.readText()).toContain(`Authorization: Bearer sk-${KEY}`);
});

test("the chosen model is in every configuration", async () => {
  const { user, container } = await openPage(
    <ConnectPanel tokenId={3} tokenKey={`sk-${KEY}`} models={["one", "two"]} />,
    "/token",
    {
      procedures: { "log.own": () => ({ items: [] }) },
    },
  );
  expect(container.querySelector("pre")?.textContent).toContain('"model":"one"');
  await user.click(screen.getByRole("combobox", { name: "模型" }));
  await user.click(await screen.findByRole("option", { name: "two" }));
  expect(container.querySelector("pre")?.textContent).toContain('"model":"two"');
  await user.click(screen.getByRole("tab", { name: "Python" }));
  expect(container.querySelector("[data-state=active] pre")?.textContent).toContain('model="two"');
});

test("without a list of models the gateway is asked with the token's own key", async () => {
  let authorization: string | null = null;
  await openPage(<ConnectPanel tokenId={3} tokenKey={KEY} />, "/token", {
    procedures: { "log.own": () => ({ items: [] }) },
    paths: {
      "/v1/models": (request) => {
        authorization = request.headers.get("authorization");
        return Response.json({ object: "list", data: [{ id: "demo-echo" }] });
      },
    },
  });
  await waitFor(() => expect(screen.getByRole("combobox", { name: "模型" }).textContent).toBe("demo-echo"));
  expect(String(authorization)).toBe(`Bearer sk-${KEY}`);
});

test("polls for the first call, shows it when it arrives, and then stops", async () => {
  let items: (typeof row)[] = [];
  const { calls } = await openPage(<ConnectPanel tokenId={3} tokenKey={KEY} models={["demo-echo"]} />, "/token", {
    procedures: { "log.own": () => ({ items }) },
  });
  expect(await screen.findByText("等待第一个请求…")).toBeDefined();
  await waitFor(() => expect(calls).toContainEqual({ path: "log.own", input: { token_id: 3, limit: 1 } }));
  items = [row];
  expect(
    await screen.findByText("成功 · 200 · demo-echo · 首字 48 ms · 52 tokens · $0.000052", {}, { timeout: 4000 }),
  ).toBeDefined();
  expect(screen.queryByText("等待第一个请求…")).toBeNull();
  const asked = calls.length;
  await Bun.sleep(2300);
  expect(calls.length).toBe(asked);
}, 10_000);

test("a failed call is shown with its reason while waiting goes on; an earlier call is named as such", async () => {
  let items: object[] = [row];
  await openPage(<ConnectPanel tokenId={3} tokenKey={KEY} models={["demo-echo"]} />, "/token", {
    procedures: { "log.own": () => ({ items }) },
  });
  expect(await screen.findByText("最近一次")).toBeDefined();
  expect(screen.getByText("等待下一个请求…")).toBeDefined();
  items = [{ ...row, id: 8, type: 5, content: "上游连接中断", end_reason: "upstream_cut" }];
  expect(await screen.findByText("失败 · demo-echo · 上游连接中断", {}, { timeout: 4000 })).toBeDefined();
  expect(screen.getByText("等待下一个请求…")).toBeDefined();
}, 10_000);

test("no client's tab says that it is not available: its endpoint is served", async () => {
  const { user } = await openPage(<ConnectPanel tokenId={3} tokenKey={KEY} models={["demo-echo"]} />, "/token", {
    procedures: { "log.own": () => ({ items: [] }) },
  });
  for (const name of ["Codex", "Claude Code"]) {
    await user.click(screen.getByRole("tab", { name }));
    expect(screen.queryByText(/还没有开放该接口/)).toBeNull();
  }
});

test("who can change the server's address is told when it is not this page's; others are not", async () => {
  const { loadStatus } = await import("../../lib/status");
  const { clearUser, storeUser } = await import("../../lib/session");
  let status: object = { server_address: "http://10.0.0.9:3000/" };
  const server = {
    procedures: { "log.own": () => ({ items: [] }) },
    paths: { "/api/status": () => Response.json({ success: true, message: "", data: status }) },
  };
  const warning = () => screen.queryByText(/与本页面的地址 .* 不同/)?.textContent ?? "";
  const panel = <ConnectPanel tokenId={3} tokenKey={KEY} models={["m"]} />;
  storeUser({ id: 1, username: "root", display_name: "", role: 100, status: 1, group: "default" });
  await openPage(panel, "/token", server);
  await loadStatus();
  await waitFor(() => expect(warning()).toContain("http://10.0.0.9:3000"));
  clearUser();
  closePage();
  await openPage(panel, "/token", server);
  await loadStatus();
  await screen.findByText("接口地址");
  expect(warning()).toBe("");
  status = {};
  await loadStatus();
});
