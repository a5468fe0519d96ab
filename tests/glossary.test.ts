/** The console's texts use the words of docs/glossary.md. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { consoleMessages } from "./kit/texts";

const ROOT = join(import.meta.dir, "..");
/** Messages that the specification quotes. */
const QUOTED = new Set(["已删除 {count} 个通道！"]);

const isChinese = (text: string): boolean => /[一-鿿]/.test(text);
const words = (cell: string): string[] =>
  cell
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);
const rows = readFileSync(join(ROOT, "docs/glossary.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| ---"))
  .slice(1)
  .map((line) => {
    const [, english = "", chinese = "", , not = ""] = line.split("|");
    return { english: words(english), chinese: words(chinese), not: words(not) };
  });

/** Whether an English text has a word, also in the plural; names of values and parts of other words do not count. */
const has = (text: string, word: string): boolean =>
  new RegExp(`(?<![-\\w{])${word}s?\\b`, "i").test(text.replaceAll(/\{\w+/g, "{"));

test("the glossary has one row for a word", () => {
  const all = rows.flatMap(({ english, chinese }) => [...english, ...chinese.filter(isChinese)]);
  expect(rows.length).toBeGreaterThan(30);
  expect(all.filter((word, i) => all.indexOf(word) !== i)).toEqual([]);
});

test("no text of the console has another word for a thing of the glossary", () => {
  const messages = [...consoleMessages()].filter(([zh]) => !QUOTED.has(zh));
  expect(messages.length).toBeGreaterThan(1500);
  const faults = rows.flatMap(({ chinese, not }) =>
    not.flatMap((word) =>
      messages
        .filter(([zh, en]) =>
          isChinese(word) ? zh.includes(word) : chinese.some((thing) => zh.includes(thing)) && has(en, word),
        )
        .map(([zh, en]) => `${word}: ${zh} | ${en}`),
    ),
  );
  expect(faults).toEqual([]);
});

test("no English text has Chinese in it but names of products and messages to type", () => {
  const faults = [...consoleMessages()].filter(([, en]) => isChinese(en.replaceAll(/「[^」]*」/g, "")));
  expect(faults).toEqual([]);
});
