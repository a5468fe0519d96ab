import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { default: HomePage } = await import("./home-page");
const { default: AboutPage } = await import("../about/about-page");

afterEach(closePage);

const open = (page: "home" | "about", text: string, notice = "") =>
  openPage(page === "home" ? <HomePage /> : <AboutPage />, page === "home" ? "/" : "/about", {
    procedures: {
      "option.homePage": () => text,
      "option.about": () => text,
      "option.notice": () => notice,
    },
  });

test("the home page is the built-in one while the operator wrote none", async () => {
  await open("home", "");
  // spec
  expect((await screen.findByRole("heading", { level: 1 })).textContent).toBe("Weir");
  // spec: A-052
  expect(screen.getByText("一个接口，所有模型")).toBeDefined();
});

test.each([
  ["home", "# Hi\n\nwe *run* it", "Hi"],
  ["home", "<h2>Welcome</h2><p>to <b>us</b></p>", "Welcome"],
  ["about", "# About us\n\nwe *run* it", "About us"],
  ["about", "<h2>Who</h2><p>we <b>are</b></p>", "Who"],
] as const)("on the %s page %j of the operator stands as a heading instead of our own", async (page, text, heading) => {
  await open(page, text);
  // spec
  expect((await screen.findByRole("heading")).textContent).toBe(heading);
  expect(screen.queryByText("一个接口，所有模型")).toBeNull();
});

test("the operator's notice is shown on the home page", async () => {
  await open("home", "", "**Maintenance** on Sunday");
  // spec
  await waitFor(() => expect(screen.getByText("Maintenance").tagName).toBe("STRONG"));
});
