/** Theme and language before the first paint: no React, no catalogue, nothing large. */
import { readChoice } from "./storage";

export type ThemeChoice = "light" | "dark" | "system";
export type Language = "zh" | "en";

/** The stored theme; `system` when none was chosen. The older key `theme-mode` is read once. */
export function storedTheme(): ThemeChoice {
  const older = { key: "theme-mode", map: { light: "light", dark: "dark", auto: "system", system: "system" } } as const;
  return readChoice<ThemeChoice>("theme", ["light", "dark", "system"], older, "system");
}

/** The stored language; Chinese when none was chosen or the value is unknown, whatever the browser asks for. */
export function storedLanguage(): Language {
  const older = {
    key: "i18nextLng",
    map: { zh: "zh", "zh-CN": "zh", "zh-TW": "zh", en: "en", "en-US": "en", "en-GB": "en" },
  } as const;
  return readChoice<Language>("language", ["zh", "en"], older, "zh");
}

/** Shows `choice` on the document: `data-theme` is `light` or `dark`. */
export function applyTheme(choice: ThemeChoice): void {
  const dark = choice === "dark" || (choice === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
}

/** Sets the language of the page for assistive technology and the browser. */
export function applyLanguage(language: Language): void {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
}
