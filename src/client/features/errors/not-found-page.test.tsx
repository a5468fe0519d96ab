import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { default: NotFoundPage } = await import("./not-found-page");
afterEach(closePage);

test("an unknown address shows the not-found page with a link home", async () => {
  await openPage(<NotFoundPage />, "/no-such-page");
  // spec: D-07
  expect(screen.getByText("页面不存在，请检查浏览器地址是否正确")).toBeDefined();
  // spec: D-07
  expect(screen.getByRole("link", { name: "返回首页" }).getAttribute("href")).toBe("/");
});
