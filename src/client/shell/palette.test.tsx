/** What Ctrl K finds: objects that the role may see, by what they are known by. */
import "../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Procedures } from "../../../tests/kit/client-page";

const { closePage, openPage, screen } = await import("../../../tests/kit/client-page");
const { clearUser, storeUser } = await import("../lib/session");
const { default: Palette } = await import("./palette");

setDefaultTimeout(30_000);
afterEach(() => {
  clearUser();
  closePage();
});

const page = (items: object[]) => ({ items, page: 1, page_size: 5, total: items.length });
const procedures: Procedures = {
  "user.list": ({ keyword }: { keyword: string }) =>
    page(keyword === "carol" ? [{ id: 7, username: "carol", display_name: "Carol Danvers" }] : []),
  "channel.list": ({ keyword }: { keyword: string }) => page(keyword === "prod" ? [{ id: 3, name: "prod-1" }] : []),
  "token.list": ({ keyword }: { keyword: string }) => page(keyword === "app" ? [{ id: 9, name: "carol-app" }] : []),
  "group.models": () => ["op-model"],
  "log.page": ({ request_id }: { request_id: string }) => page([{ id: 5, request_id, model_name: "op-model" }]),
  "log.ownPage": () => page([]),
};
const REQUEST = "20261122abcdef012345";

const open = (role: number) => {
  storeUser({ id: 1, username: "me", display_name: "", role, status: 1, group: "default" });
  return openPage(<Palette open onOpenChange={() => {}} onShortcuts={() => {}} />, "/", { procedures });
};

test.each([
  ["carol", "carol", "/user?edit=7"],
  ["prod", "prod-1", "/channel?open=3"],
  ["app", "carol-app", "/token?open=9"],
  ["op-m", "op-model", "/pricing?q=op-model"],
  [REQUEST, REQUEST, `/log?request_id=${REQUEST}&open=5`],
  ["RetryTimes", "失败重试次数", "/setting?tab=operation"],
])("a super administrator finds by %p what is called %p", async (typed, title, address) => {
  const { user } = await open(100);
  await user.type(screen.getByRole("combobox"), typed);
  await user.click(await screen.findByRole("option", { name: new RegExp(`^${title}`) }));
  expect(`${location.pathname}${location.search}`).toBe(address);
});

test("who is no administrator is not asked about others, and finds own tokens", async () => {
  const { user, calls } = await open(1);
  await user.type(screen.getByRole("combobox"), "app");
  await screen.findByRole("option", { name: /^carol-app/ });
  const asked = new Set(calls.map(({ path }) => path));
  expect([asked.has("user.list"), asked.has("channel.list"), asked.has("log.page")]).toEqual([false, false, false]);
});
