import { i18n, type Messages } from "@lingui/core";
import { writeStored } from "./storage";
import { applyLanguage, storedLanguage, type Language } from "./theme-choice";

export type { Language } from "./theme-choice";

/** What the console calls its languages, in the languages themselves. */
export const languageNames: Readonly<Record<Language, string>> = { zh: "中文", en: "English" };

const catalogues: Readonly<Record<Language, () => Promise<{ messages: Messages }>>> = {
  zh: () => import("../../../locales/zh.po"),
  en: () => import("../../../locales/en.po"),
};

/** Loads the catalogue of `language` and activates it; the page renders again by itself. */
export async function activateLanguage(language: Language): Promise<void> {
  const { messages } = await catalogues[language]();
  i18n.loadAndActivate({ locale: language, messages });
  applyLanguage(language);
}

/** Shows the stored language (Chinese by default); call once before the first render. */
export async function startLanguage(): Promise<void> {
  await activateLanguage(storedLanguage());
}

/** Changes the language for good. */
export async function setLanguage(language: Language): Promise<void> {
  await activateLanguage(language);
  writeStored("language", language);
}

/** The language in force; also the value of `Accept-Language` on each call. */
export function currentLanguage(): Language {
  return i18n.locale === "en" ? "en" : "zh";
}
