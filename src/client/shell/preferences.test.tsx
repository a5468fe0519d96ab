import "../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen } = await import("../../../tests/kit/client-page");
const { LanguageMenu, ThemeMenu } = await import("./preferences");

afterEach(closePage);

test("the menu of the top bar offers day, dark and the system's theme, and what is chosen holds and is kept", async () => {
  const { user } = await openPage(<ThemeMenu />, "/");
  for (const [id, name, stored, shown] of [
    ["A-049", "夜间模式", "dark", "dark"],
    ["A-048", "日间模式", "light", "light"],
    ["A-050", "跟随系统", "system", matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"],
  ] as const) {
    await user.click(screen.getByRole("button", { name: "主题" }));
    await user.click(await screen.findByRole("menuitemradio", { name }));
    // spec
    expect([id, localStorage.getItem("theme"), document.documentElement.dataset["theme"]]).toEqual([id, stored, shown]);
  }
});

test("the language that is chosen in the menu is kept in local storage", async () => {
  const { user } = await openPage(<LanguageMenu />, "/");
  await user.click(screen.getByRole("button", { name: "语言" }));
  await user.click(await screen.findByRole("menuitemradio", { name: "English" }));
  // spec: A-047
  expect(localStorage.getItem("language")).toBe("en");
  expect(await screen.findByRole("button", { name: "Language" })).toBeDefined();
});
