/**
 * The console's texts, by their Chinese source text, so that a test of the English console does not repeat
 * translations.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Language } from "./browser";

let english: Map<string, string> | undefined;

/** Lines of a quoted PO text, joined and unescaped. */
const unquote = (block: string): string =>
  [...block.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => JSON.parse(`"${text}"`) as string).join("");

function readEnglish(): Map<string, string> {
  const source = readFileSync(join(import.meta.dir, "../../locales/en.po"), "utf8");
  const entries = source.matchAll(
    /(?<!^msgctxt .*\n)^msgid ((?:"(?:[^"\\]|\\.)*"\s*)+)msgstr ((?:"(?:[^"\\]|\\.)*"\s*)+)/gm,
  );
  return new Map([...entries].map(([, id = "", text = ""]) => [unquote(id), unquote(text)]));
}

/** Every message without a context: its Chinese text and the English one, "" where there is none. */
export const consoleMessages = (): ReadonlyMap<string, string> => (english ??= readEnglish());

/**
 * The console's text in a language; the one without a context, where two have one text. Throws when
 * there is no such message, or no translation.
 */
export function consoleText(language: Language, zh: string): string {
  const text = consoleMessages().get(zh);
  if (text === undefined) throw new Error(`The console has no message "${zh}".`);
  if (language === "zh") return zh;
  if (text === "") throw new Error(`The message "${zh}" has no English text.`);
  return text;
}
