import { act } from "../../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";

// Slow while other test files run.
setDefaultTimeout(30_000);

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { clearUser, storeUser } = await import("../../lib/session");
const { Route, Router } = await import("wouter");
const { default: ChatPage } = await import("./chat-page");
const { default: ChatRedirectPage } = await import("./chat-redirect-page");
const { Toasts } = await import("../../components/toasts");
const { loadStatus } = await import("../../lib/status");

afterEach(() => {
  clearUser();
  localStorage.clear();
  closePage();
});

test.each([
  [100, "/setting?tab=operation"],
  [1, undefined],
])("without a chat link the specified words are shown, and root (%d) is led to the settings", async (role, href) => {
  localStorage.setItem("chats", "[]");
  storeUser({ id: 1, username: "x", display_name: "", role, status: 1, group: "default" });
  await openPage(<ChatPage />, "/chat", {
    paths: { "/api/status": () => Response.json({ success: true, message: "", data: { chats: [] } }) },
  });
  // spec: C-575
  expect(await screen.findByText("请联系管理员配置聊天链接")).toBeDefined();
  expect(screen.queryByRole("link", { name: "配置聊天链接" })?.getAttribute("href")).toBe(href);
});

test.each([
  ["聊天链接配置错误，请联系管理员", '[{"Bad":5}]'],
  ["聊天链接配置错误，请联系管理员", '[{"Bad":"javascript:alert(1)"}]'],
  ["聊天数据解析失败", "{"],
])("%s: of the chats %s", async (words, chats) => {
  localStorage.setItem("chats", chats);
  await openPage(<ChatPage />, "/chat");
  // spec: C-574, C-576
  expect(await screen.findByText(words)).toBeDefined();
});

test("without an enabled token among the first hundred the chat link says so, and the tokens open after a second and a half", async () => {
  const chats = [{ Web: "https://chat.example/?k={key}" }];
  const off = { id: 1, name: "off", status: 2 };
  let known = 0;
  const { calls } = await openPage(
    <>
      <ChatRedirectPage />
      <Toasts />
    </>,
    "/chat2link",
    {
      paths: { "/api/status": () => Response.json({ success: true, message: "", data: { chats } }) },
      procedures: {
        "token.list": () => {
          known = performance.now();
          return { items: [off], page: 1, page_size: 100, total: 1 };
        },
      },
    },
  );
  await loadStatus();
  // spec: C-580, C-582
  expect(await screen.findByText("当前没有可用的启用令牌，请先创建或启用一个令牌！")).toBeDefined();
  // spec: C-626
  expect(calls.find(({ path }) => path === "token.list")?.input).toEqual({ page_size: 100 });
  expect(location.pathname).toBe("/chat2link");
  await waitFor(() => expect(location.pathname).toBe("/token"));
  // spec: C-581
  expect(performance.now() - known).toBeGreaterThan(1490);
});

/** Opens /chat/{id} with what the operator configured. */
async function openChat(id: string, status: { chats: unknown; server_address?: string }) {
  const page = await openPage(
    <Router>
      <Route path="/chat/:id?">
        <ChatPage />
      </Route>
    </Router>,
    `/chat${id}`,
    {
      procedures: {
        "token.list": () => ({
          items: [
            { id: 1, status: 2 },
            { id: 2, status: 1 },
          ],
        }),
        "token.reveal": ({ id: token }: { id: number }) => ({ key: `sk-key-${token}` }),
      },
      paths: { "/api/status": () => Response.json({ success: true, message: "", data: status }) },
    },
  );
  await act(() => loadStatus());
  return page;
}

test.each([
  ["", "First", "https://first.example/?k=sk-key-2&a=https%3A%2F%2Fgw.example"],
  ["/0", "First", "https://first.example/?k=sk-key-2&a=https%3A%2F%2Fgw.example"],
  ["/1", "Second", "https://second.example/{other}"],
])("/chat%s frames %s with the first enabled token and the server's address", async (id, title, src) => {
  const chats = [{ First: "https://first.example/?k={key}&a={address}" }, { Second: "https://second.example/{other}" }];
  await openChat(id, { chats, server_address: "https://gw.example" });
  // spec: C-037, C-038, C-047, C-049
  expect((await screen.findByTitle(title)).getAttribute("src")).toBe(src);
});

test.each(["/1", "/99"])(
  "/chat%s, a link that is no text or is not there, is told in the specified words",
  async (id) => {
    await openChat(id, { chats: [{ First: "https://first.example" }, { Number: 5 }] });
    // spec: C-047
    expect(await screen.findByText("聊天链接配置错误，请联系管理员")).toBeDefined();
  },
);
