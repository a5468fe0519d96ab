import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { activateLanguage, currentLanguage } = await import("../../lib/i18n");
const { guessLanguage } = await import("./guess-language");
afterEach(() => localStorage.clear());

test.each([
  ["en-GB", {}, "en"],
  ["zh-TW", {}, "zh"],
  ["fr", {}, "en"],
  ["en-GB", { language: "zh" }, "zh"],
  ["en-GB", { i18nextLng: "zh" }, "zh"],
] as const)("a browser that asks for %s, with %j stored, begins the wizard in %s", async (asked, stored, language) => {
  await activateLanguage("zh");
  localStorage.clear();
  for (const [key, value] of Object.entries(stored)) localStorage.setItem(key, value);
  Object.defineProperty(navigator, "language", { configurable: true, value: asked });
  await guessLanguage();
  Reflect.deleteProperty(navigator, "language");
  // spec: D-01
  expect(currentLanguage()).toBe(language);
  // A guess is no choice: nothing is stored.
  expect(Object.entries(localStorage)).toEqual(Object.entries(stored));
});
