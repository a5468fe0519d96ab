import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: ChatPage } = await import("./chat-page");

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
