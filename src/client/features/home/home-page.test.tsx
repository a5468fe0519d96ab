import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { within } = await import("@testing-library/react");
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

test("a visitor reads how many models there are from which price, three lines of code, and an example bill that sums up", async () => {
  const factor = (value: number) => ({ value, source: "ModelRatio" });
  const ratio = (model_ratio: number) => ({
    model_ratio: factor(model_ratio),
    completion_ratio: factor(4),
    cache_ratio: factor(0.5),
  });
  const model = (name: string, factors: object, enable_groups = ["default"]) => ({
    model: name,
    vendor: "openai",
    enable_groups,
    factors,
  });
  await openPage(<HomePage />, "/", {
    procedures: {
      "option.homePage": () => "",
      "option.notice": () => "",
      "pricing.catalogue": () => ({
        models: [
          model("gpt-4o", ratio(1.25)),
          model("gpt-4o-mini", ratio(0.075)),
          model("drawing", { model_price: factor(0.04) }),
          model("elsewhere", ratio(0.01), ["vip"]),
        ],
        groups: { default: { desc: "", ratio: 1 } },
        user_group: "default",
        quota_per_unit: 500_000,
        batch_ratio: 0.5,
      }),
    },
  });
  const offer = await screen.findByRole("link", { name: "3 个模型，每百万输入 Token $0.15 起" });
  expect(offer.getAttribute("href")).toBe("/pricing");
  const code = screen.getByLabelText("curl").textContent ?? "";
  expect(code.split("\n")).toHaveLength(3);
  expect(code).toContain("/v1/chat/completions");
  expect(code).toContain('"model":"gpt-4o-mini"');
  const bill = within(screen.getByRole("region", { name: "示例：一次 gpt-4o-mini 调用的账单" }));
  // Nothing was charged, so nothing is said to agree.
  expect(bill.queryByText("与账单一致")).toBeNull();
  const units = [...document.querySelectorAll("[data-units]")].map((cell) => Number(cell.getAttribute("data-units")));
  expect(units).toHaveLength(3);
  const sum = units.reduce((total, one) => total + one, 0);
  expect(sum).toBeCloseTo(Number(bill.getByTestId("bill-exact").textContent), 6);
});

test("without prices the code alone is shown", async () => {
  await open("home", "");
  expect(await screen.findByLabelText("curl")).toBeDefined();
  expect(screen.queryByRole("table")).toBeNull();
});

test("the operator's notice is shown on the home page", async () => {
  await open("home", "", "**Maintenance** on Sunday");
  // spec
  await waitFor(() => expect(screen.getByText("Maintenance").tagName).toBe("STRONG"));
});
