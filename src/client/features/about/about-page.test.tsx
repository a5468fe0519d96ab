import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: AboutPage } = await import("./about-page");

afterEach(() => {
  clearUser();
  closePage();
});

test("a visitor of the page without an operator's text is led on; where to write it is told to who can", async () => {
  const server = { procedures: { "option.about": () => "" } };
  await openPage(<AboutPage />, "/about", server);
  expect((await screen.findByRole("link", { name: "查看价格" })).getAttribute("href")).toBe("/pricing");
  expect(screen.queryByText(/系统设置的“站点内容”/)).toBeNull();
  closePage();
  storeUser({ id: 1, username: "root", display_name: "", role: 100, status: 1, group: "default" });
  await openPage(<AboutPage />, "/about", server);
  expect(await screen.findByText(/系统设置的“站点内容”/)).toBeDefined();
});
