import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { wordList } from "./word-list";

describe("a list of words", () => {
  test("no word, no list: blank lines do not count", () => {
    expect(wordList([])).toBeUndefined();
    expect(wordList(["", "  ", "\t"])).toBeUndefined();
  });

  test("words are found anywhere, ignoring case, in every script, and only whole", () => {
    const many = Array.from({ length: 100 }, (_, i) => `filler${i}`);
    for (const list of [
      wordList([" Bad Word ", "敏感词", "x"]),
      wordList([...many, " Bad Word ", "敏感词", "x", "🎧🎧"]),
    ]) {
      for (const text of ["BAD WORD", "a bad word.", "这是敏感词吗", "boXer"])
        expect([text, list?.occursIn(text)]).toEqual([text, true]);
      for (const text of ["", "b", "bad", "bad wor", "敏感", "filler", "bad  word"])
        expect([text, list?.occursIn(text)]).toEqual([text, false]);
    }
  });

  test("a word is not a pattern", () => {
    const list = wordList(["a.c", "(x", "[", "c:\\d", "$1+"]);
    for (const text of ["A.C", "f(x)", "a[0]", "C:\\D", "get $1+2"])
      expect([text, list?.occursIn(text)]).toEqual([text, true]);
    for (const text of ["abc", "x", "c:d", "$1"]) expect([text, list?.occursIn(text)]).toEqual([text, false]);
  });

  test("it finds exactly what a search for each single word finds", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "A", "é", "中", "文"), minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        fc.array(letters, { minLength: 1, maxLength: 60 }),
        fc.string({ unit: fc.constantFrom("a", "B", "é", "中", "文", " "), maxLength: 40 }),
        (words, text) => {
          const list = wordList(words);
          expect(list?.occursIn(text) ?? false).toBe(
            words.some((word) => word.trim() !== "" && text.toLowerCase().includes(word.trim().toLowerCase())),
          );
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("a mask stands in the place of every word, whatever its case, and the rest stays as it was", () => {
    const few = ["Bad Word", "敏感词", "a.c", "#", "$&"];
    for (const list of [wordList(few), wordList([...few, ...Array.from({ length: 100 }, (_, i) => `filler${i}`)])]) {
      expect(list?.mask("A BAD WORD, 这是敏感词吗; A.C abc. 敏感词敏感词 # $&")).toBe(
        "A **###**, 这是**###**吗; **###** abc. **###****###** **###** **###**",
      );
      expect(list?.mask("Nothing Here")).toBe("Nothing Here");
      expect(list?.mask("")).toBe("");
      // Lower case of this letter is longer than itself.
      expect(list?.mask("İİ bad word İ")).toMatch(/^.+ \*\*###\*\* .+$/);
    }
  });

  test("what is masked contains no word any more", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "A", "é", "中", "文"), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(letters, { minLength: 1, maxLength: 60 }),
        fc.string({ unit: fc.constantFrom("a", "B", "é", "中", "文", " "), maxLength: 40 }),
        (words, text) => {
          const list = wordList(words);
          const masked = list?.mask(text) ?? "";
          expect([list?.occursIn(masked), masked === text]).toEqual([false, list?.occursIn(text) === false]);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("100,000 words, all beginning alike: the list is built and searched without a walk over it", () => {
    const list = wordList(
      Array.from({ length: 100_000 }, (_, i) => `https://site-${String(i).padStart(6, "0")}.example`),
    );
    expect(list?.occursIn(`${"https://site-".repeat(5_000)} https://site-09999`)).toBe(false);
    expect(list?.occursIn("see HTTPS://SITE-099999.EXAMPLE/page")).toBe(true);
  });
});
