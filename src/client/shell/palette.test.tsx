/** What Ctrl K finds: objects that the role may see, by what they are known by. */
import "../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Procedures } from "../../../tests/kit/client-page";

const { closePage, openPage, screen, waitFor } = await import("../../../tests/kit/client-page");
const { clearUser, storeUser } = await import("../lib/session");
const { default: Palette } = await import("./palette");
const { useOfferActions, WORDS_OF_ADD } = await import("../lib/palette-actions");

setDefaultTimeout(30_000);
afterEach(() => {
  clearUser();
  closePage();
});

const page = (items: object[]) => ({ items, page: 1, page_size: 5, total: items.length });
const procedures: Procedures = {
  "user.find": ({ words }: { words: string }) => (words === "carol" ? [carol] : []),
  "channel.list": ({ keyword }: { keyword: string }) =>
    page(keyword.startsWith("prod") ? [{ id: 3, name: "prod-1", type: 1, status: 1, key: "" }] : []),
  "channel.update": () => ({}),
  "token.list": ({ keyword = "", token = "" }: { keyword?: string; token?: string }) =>
    page(
      keyword === "app" || token === "sk-AbCdEfGh"
        ? [{ id: 9, name: "carol-app", key_hint: "AbCdEfGh…wxyz", status: 1 }]
        : [],
    ),
  "order.find": ({ words }: { words: string }) =>
    words === "USR1NO" ? [{ id: 4, trade_no: "USR1NOxyz", username: "carol", money: "73.00", currency: "cny" }] : [],
  "redemption.find": ({ words }: { words: string }) => (words === "gift" ? [gift] : []),
  "group.models": () => ["op-model"],
  "log.page": ({ request_id }: { request_id: string }) => page([{ id: 5, request_id, model_name: "op-model" }]),
  "log.ownPage": () => page([]),
};
const gift = { id: 6, name: "gift-6", status: 1, key: "0".repeat(32) };
const carol = { id: 7, username: "carol", display_name: "Carol Danvers", role: 1, status: 1, DeletedAt: null };
const REQUEST = "20261122abcdef012345";

const open = (role: number, more: Procedures = {}) => {
  storeUser({ id: 1, username: "me", display_name: "", role, status: 1, group: "default" });
  const all = { ...procedures, ...more };
  return openPage(<Palette open onOpenChange={() => {}} onShortcuts={() => {}} />, "/", { procedures: all });
};
const selected = () => document.querySelector("[role=option][aria-selected=true]");
const address = () => `${location.pathname}${location.search}`;

test.each([
  ["carol", "carol", "/user?edit=7"],
  ["prod", "prod-1", "/channel?open=3"],
  ["app", "carol-app", "/token?open=9"],
  ["sk-AbCdEfGh", "carol-app", "/token?open=9"],
  ["USR1NO", "USR1NOxyz", "/topup?orders=all&order=USR1NOxyz"],
  ["gift", "gift-6", "/redemption?open=6"],
  ["op-m", "op-model", "/pricing?q=op-model"],
  [REQUEST, REQUEST, `/log?request_id=${REQUEST}&open=5`],
  ["RetryTimes", "失败重试次数", "/setting?tab=operation"],
])("a super administrator finds by %p what is called %p", async (typed, title, leadsTo) => {
  const { user } = await open(100);
  await user.type(screen.getByRole("combobox"), typed);
  await user.click(await screen.findByRole("option", { name: new RegExp(`^${title}`) }));
  expect(address()).toBe(leadsTo);
});

test("who is no administrator is not asked about others, and finds own tokens and orders", async () => {
  const { user, calls } = await open(1);
  await user.type(screen.getByRole("combobox"), "app");
  await screen.findByRole("option", { name: /^carol-app/ });
  const asked = new Set(calls.map(({ path }) => path));
  expect([asked.has("user.find"), asked.has("channel.list"), asked.has("log.page")]).toEqual([false, false, false]);
  await user.clear(screen.getByRole("combobox"));
  await user.type(screen.getByRole("combobox"), "USR1NO");
  const order = await screen.findByRole("option", { name: /^USR1NOxyz/ });
  expect(order.textContent).not.toContain("carol");
  await user.click(order);
  expect(address()).toBe("/topup?order=USR1NOxyz");
});

test("the selection is the first that the words find, or what the reader moved to; a screen reader is told", async () => {
  const { user } = await open(100, { "redemption.find": () => [gift] });
  const input = screen.getByRole("combobox");
  await user.type(input, "theme");
  expect(selected()?.textContent).toContain("日间模式");
  await user.clear(input);
  await user.type(input, "prod");
  const channel = await screen.findByRole("option", { name: /^prod-1/ });
  await waitFor(() => expect(selected()).toBe(channel));
  expect(input.getAttribute("aria-activedescendant")).toBe(channel.id);
  await user.keyboard("{ArrowDown}");
  const code = screen.getByRole("option", { name: /^gift-6/ });
  expect(selected()).toBe(code);
  await waitFor(() => expect(input.getAttribute("aria-activedescendant")).toBe(code.id));
  await user.type(input, "-");
  await waitFor(() => expect(selected()?.textContent).toContain("prod-1"));
});

test("Enter before the answers have come opens the first that the words find, not what was found before", async () => {
  const later = Promise.withResolvers<void>();
  const users = async ({ words }: { words: string }) => {
    if (words === "carol") await later.promise;
    return words === "carol" ? [carol] : [];
  };
  const { user } = await open(100, { "user.find": users });
  const input = screen.getByRole("combobox");
  await user.type(input, "prod");
  await screen.findByRole("option", { name: /^prod-1/ });
  await user.clear(input);
  await user.type(input, "carol{Enter}");
  expect(address()).toBe("/");
  expect(screen.queryByRole("option", { name: /^prod-1/ })).toBeNull();
  later.resolve();
  await waitFor(() => expect(address()).toBe("/user?edit=7"));
});

test("Tab on a found object offers its verbs, Escape leads back", async () => {
  const { user, calls } = await open(100);
  const input = screen.getByRole("combobox");
  await user.type(input, "prod");
  await screen.findByRole("option", { name: /^prod-1/ });
  await user.keyboard("{Tab}");
  const verbs = await screen.findAllByRole("option");
  expect(verbs.map((verb) => verb.textContent)).toEqual(["打开", "编辑", "测试", "禁用", "查看日志"]);
  await user.keyboard("{Escape}");
  await user.click((await screen.findByRole("option", { name: /^prod-1/ })).querySelector("[data-acts]") as Element);
  await user.keyboard("禁用");
  await user.click(await screen.findByRole("option", { name: "禁用" }));
  await waitFor(() => expect(calls.find(({ path }) => path === "channel.update")?.input).toEqual({ id: 3, status: 2 }));
});

test.each([
  ["carol", ["打开", "禁用", "查看日志", "失败的调用"]],
  ["app", ["打开", "编辑", "复制密钥", "禁用", "查看日志"]],
  ["op-m", ["打开", "编辑价格", "查看日志"]],
  ["gift", ["打开", "编辑", "复制", "禁用"]],
])("the verbs of what %p finds are %p", async (typed, verbs) => {
  const { user } = await open(100);
  await user.type(screen.getByRole("combobox"), typed);
  await waitFor(() => expect(selected()?.querySelector("[data-acts]")).toBeTruthy());
  await user.keyboard("{Tab}");
  await waitFor(() => expect(screen.getAllByRole("option").map((verb) => verb.textContent)).toEqual(verbs));
});

test.each([
  ["日间模式 夜间模式 跟随系统", "theme 主题 切换主题 appearance 外观 mode 模式"],
  ["夜间模式", "dark night 夜间 深色 暗色 深色模式 暗黑模式"],
  ["日间模式", "light day 日间 浅色 亮色"],
  ["跟随系统", "system auto 系统 自动"],
  ["English", "language 语言 切换语言 translate 中文 英文"],
  ["快捷键", "shortcuts keyboard hotkeys 快捷键 键盘 help 帮助"],
  ["退出登录", "logout sign-out signout exit quit 退出 登出 注销"],
])("%p is found by the words that people type for it, in both languages", async (titles, typed) => {
  const { user } = await open(1);
  for (const words of typed.split(" ")) {
    await user.clear(screen.getByRole("combobox"));
    await user.type(screen.getByRole("combobox"), words.replace("-", " "));
    for (const title of titles.split(" ")) await screen.findByRole("option", { name: title });
  }
});

test("what a page offers to add is found by new and by 新建", async () => {
  const { user } = await openPage(
    <>
      <Adds />
      <Palette open onOpenChange={() => {}} onShortcuts={() => {}} />
    </>,
    "/token",
    { procedures },
  );
  for (const words of ["new", "create", "新建"]) {
    await user.clear(screen.getByRole("combobox"));
    await user.type(screen.getByRole("combobox"), words);
    await screen.findByRole("option", { name: "添加令牌" });
  }
});

const ADDS = [{ id: "token-add", title: "添加令牌", words: WORDS_OF_ADD, run: () => undefined }];
function Adds() {
  useOfferActions(ADDS);
  return null;
}
