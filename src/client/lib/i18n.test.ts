import "../../../tests/dom";
import { afterEach, expect, test } from "bun:test";
import { i18n } from "@lingui/core";
import { activateLanguage, type Language, withTexts } from "./i18n";

afterEach(() => activateLanguage("zh"));

/** The texts of a part; `wait` holds those of a language back. */
const textsOf = (id: string, wait: Partial<Record<Language, Promise<unknown>>> = {}) => {
  const load = (language: Language) => async () => {
    await wait[language];
    return { messages: { [id]: [`${id} in ${language}`] } };
  };
  return { zh: load("zh"), en: load("en") };
};

test("a part is there only with its texts", async () => {
  await activateLanguage("zh");
  const texts = Promise.withResolvers<void>();
  let shown: string | undefined;
  const part = withTexts(textsOf("part1", { zh: texts.promise }), async () => "the part").then((it) => (shown = it));
  await Bun.sleep(1);
  expect(shown).toBeUndefined();
  texts.resolve();
  await part;
  expect([shown, i18n._("part1")]).toEqual(["the part", "part1 in zh"]);
});

test("another language brings the texts of all parts that were shown, at once", async () => {
  await activateLanguage("zh");
  await withTexts(textsOf("part2"), async () => "");
  await withTexts(textsOf("part3"), async () => "");
  await activateLanguage("en");
  expect([i18n._("part2"), i18n._("part3")]).toEqual(["part2 in en", "part3 in en"]);
});

test("a part that arrives while the language changes has its texts in the new one", async () => {
  await activateLanguage("zh");
  const [slowPart, slowTexts] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const part = withTexts(textsOf("part4", { zh: slowPart.promise }), async () => "");
  await activateLanguage("en");
  slowPart.resolve();
  await part;
  expect(i18n._("part4")).toBe("part4 in en");

  const change = activateLanguage("zh");
  const late = withTexts(textsOf("part5", { zh: slowTexts.promise }), async () => "");
  await Bun.sleep(1);
  slowTexts.resolve();
  await Promise.all([change, late]);
  expect(i18n._("part5")).toBe("part5 in zh");
});

test("a part whose texts cannot be fetched fails like one that cannot", async () => {
  const gone = async () => Promise.reject(new Error("gone"));
  await expect(withTexts({ zh: gone, en: gone }, async () => "")).rejects.toThrow("gone");
});
