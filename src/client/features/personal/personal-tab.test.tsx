import "../../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { ConfirmHost } = await import("../../components/confirm");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: SettingPage } = await import("../setting/setting-page");

setDefaultTimeout(60_000);
afterEach(() => {
  clearUser();
  closePage();
});

const person = (role: number) => ({ id: 7, username: "ann", display_name: "Ann", role, status: 1, group: "vip" });

function open(role: number, address: string, procedures: Procedures = {}) {
  storeUser(person(role));
  const base: Procedures = {
    "user.self": () => ({
      ...person(role), email: "ann@example.com", quota: 1_000_000, used_quota: 250_000, request_count: 12, setting: "",
      aff_quota: 0, aff_history_quota: 0, aff_count: 0,
    }),
    "group.models": () => Array.from({ length: 12 }, (_, at) => `model-${at + 1}`),
    "invite.code": () => "Ab3x",
    "option.settings": () => ({ values: {}, set: [] }),
  };
  const paths = { "/api/status": () => Response.json({ success: true, message: "", data: {} }) };
  return openPage(<><SettingPage /><ConfirmHost /><Toasts /></>, address, { procedures: { ...base, ...procedures }, paths });
}

test("what one has and has used is shown, with the role as a tag", async () => {
  await open(1, "/setting?tab=personal");
  expect(await screen.findByText("$2.00")).toBeDefined();
  expect(screen.getByText("$0.50")).toBeDefined();
  expect(screen.getByText("12")).toBeDefined();
  expect(screen.getByText("普通用户")).toBeDefined();
  expect(screen.queryByText("管理员")).toBeNull();
  expect(await screen.findByText("ann@example.com")).toBeDefined();
});

test("the administrator's badge of the specification is for super administrators alone", async () => {
  await open(100, "/setting?tab=personal");
  expect(await screen.findByText("管理员")).toBeDefined();
  expect(screen.queryByText("超级管理员")).toBeNull();
});

test("ten models are shown, the others on demand, and folded away again", async () => {
  const { user } = await open(1, "/setting?tab=personal");
  expect(await screen.findByText("model-10")).toBeDefined();
  expect(screen.queryByText("model-11")).toBeNull();
  await user.click(screen.getByRole("button", { name: "更多（2）" }));
  expect(screen.getByText("model-12")).toBeDefined();
  await user.click(screen.getByRole("button", { name: "收起" }));
  expect(screen.queryByText("model-11")).toBeNull();
});

test.each(["/setting", "/setting?tab=nonsense", "/setting?tab=system"])("%s leads an ordinary user to the personal tab without asking for options", async (address) => {
  const { calls } = await open(1, address);
  expect(await screen.findByText("$2.00")).toBeDefined();
  expect(location.search).toBe("?tab=personal");
  expect(screen.queryByRole("tab", { name: "系统设置" })).toBeNull();
  expect(calls.some(({ path }) => path.startsWith("option."))).toBe(false);
});

test("root goes from tab to tab, and what is not saved waits for him", async () => {
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
});
