import "../../../tests/dom";
import { beforeEach, describe, expect, test } from "bun:test";
import { applyLanguage, applyTheme, storedLanguage, storedTheme } from "./theme-choice";

beforeEach(() => localStorage.clear());

describe("language", () => {
  test("a fresh visitor gets Chinese, whatever the browser asks for", () => {
    // spec: A-045, C-177, C-180, D-01
    expect(storedLanguage()).toBe("zh");
  });

  test("a stored choice is kept and an unknown value means Chinese", () => {
    localStorage.setItem("language", "en");
    // spec: C-179
    expect(storedLanguage()).toBe("en");
    localStorage.setItem("language", "xx");
    // spec: C-178
    // spec: A-045
    expect(storedLanguage()).toBe("zh");
  });

  test("the older key is read once and then its value is our own", () => {
    localStorage.setItem("i18nextLng", "en");
    // spec: C-180, D-02
    expect(storedLanguage()).toBe("en");
    localStorage.setItem("i18nextLng", "zh");
    expect(storedLanguage()).toBe("en");
    // spec: C-180, D-02
    expect(localStorage.getItem("language")).toBe("en");
  });

  test("the document says which language it is in", () => {
    applyLanguage("en");
    expect(document.documentElement.lang).toBe("en");
    applyLanguage("zh");
    expect(document.documentElement.lang).toBe("zh-CN");
  });
});

describe("theme", () => {
  test("nothing stored follows the system, an unknown value too", () => {
    // spec: C-175
    expect(storedTheme()).toBe("system");
    localStorage.setItem("theme", "purple");
    expect(storedTheme()).toBe("system");
  });

  test("the older key theme-mode is taken over, auto as system", () => {
    localStorage.setItem("theme-mode", "auto");
    expect(storedTheme()).toBe("system");
    // spec: C-180, D-02
    expect(localStorage.getItem("theme")).toBe("system");
    localStorage.clear();
    localStorage.setItem("theme-mode", "dark");
    expect(storedTheme()).toBe("dark");
  });

  test("the choice is on the document as data-theme", () => {
    applyTheme("dark");
    // spec: A-049
    expect(document.documentElement.dataset["theme"]).toBe("dark");
    applyTheme("light");
    // spec: A-048
    expect(document.documentElement.dataset["theme"]).toBe("light");
  });
});
