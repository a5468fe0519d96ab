import { i18n, type Messages } from "@lingui/core";
import { writeStored } from "./storage";
import { applyLanguage, storedLanguage, type Language } from "./theme-choice";

export type { Language } from "./theme-choice";

/** What the console calls its languages, in the languages themselves. */
export const languageNames: Readonly<Record<Language, string>> = { zh: "中文", en: "English" };

/** Where texts come from, in each language. */
type Texts = Readonly<Record<Language, () => Promise<{ messages: Messages }>>>;

/** What has been fetched so far: the shell's texts, then those of each part that was shown. */
const fetched = new Set<Texts>([
  // Without a build (tests) these are all.
  { zh: () => import("../../../locales/zh.po"), en: () => import("../../../locales/en.po") },
]);

/** Loads the texts in use in `language` and activates it; the page renders again by itself. */
export async function activateLanguage(language: Language): Promise<void> {
  await Promise.all(Array.from(fetched, (texts) => texts[language]()));
  const messages: Messages = {};
  // Those of a part that arrived meanwhile too: the set grows, and nothing waits between its end and the activation.
  for (const texts of fetched) Object.assign(messages, (await texts[language]()).messages);
  i18n.loadAndActivate({ locale: language, messages });
  applyLanguage(language);
}

/**
 * What `load` fetches, together with its texts in the language in force. The build wraps each lazy import that has
 * texts of its own in it (scripts/plugins/console-texts.ts), so that nothing is shown before its texts are there.
 */
export async function withTexts<Part>(texts: Texts, load: () => Promise<Part>): Promise<Part> {
  const [part] = await Promise.all([load(), fetchTexts(texts)]);
  return part;
}

async function fetchTexts(texts: Texts): Promise<void> {
  const language = currentLanguage();
  const { messages } = await texts[language]();
  // The language changed meanwhile.
  if (language !== currentLanguage()) return fetchTexts(texts);
  // Not by `i18n.load`: that renders everything again, and nothing on the page needs what came.
  Object.assign(i18n.messages, messages);
  fetched.add(texts);
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
