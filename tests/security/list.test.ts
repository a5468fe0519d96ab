/** docs/security.md and the tests beside this one say the same, in both directions. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Flaw {
  number: number;
  /** Its ids, and the words of its test's name. */
  known: string;
  file: string;
  mark: string;
}

const flaws: Flaw[] = readFileSync(join(import.meta.dir, "../../docs/security.md"), "utf8")
  .split("\n")
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, number = "", , , known = "", file = "", mark = ""]) => ({
    number: Number(number),
    known,
    file: file.replaceAll("`", ""),
    mark,
  }));

/** The names of a file's tests and groups, without those that are left out (`test.skip`, `test.todo`). */
const namesIn = (text: string): string[] =>
  [...text.matchAll(/^\s*(?:test|describe)(?:\.each\([^)]*\))?\(\s*(["'`])(.*?)\1,/gms)].map(([, , name = ""]) => name);

const names = new Map(
  [...new Bun.Glob("**/*.test.ts").scanSync({ cwd: import.meta.dir })].map((file) => [
    file.replace(/\.test\.ts$/, ""),
    namesIn(readFileSync(join(import.meta.dir, file), "utf8")),
  ]),
);

/** How advisories are called. */
const ADVISORY = /\b(?:CVE-\d{4}-\d+|GHSA(?:-\w{4}){3}|PYSEC-\d{4}-\d+|GO-\d{4}-\d+)\b/g;

test("the flaws are numbered in order, and none is there twice", () => {
  expect(flaws.map(({ number }) => number)).toEqual(Array.from({ length: flaws.length }, (_, i) => i + 1));
  expect(new Set(flaws.map(({ file, mark }) => `${file} ${mark}`)).size).toBe(flaws.length);
});

test("every line names a test that exists and is not left out", () => {
  const missing = flaws.filter(
    ({ file, mark }) => mark === "" || !names.get(file)?.some((name) => name.includes(mark)),
  );
  expect(missing).toEqual([]);
  expect(flaws).not.toEqual([]);
});

test("every advisory that a test is named for is a line", () => {
  const told = flaws.flatMap(({ known, mark }) => `${known} ${mark}`.match(ADVISORY) ?? []);
  const tested = [...names.values()].flat().flatMap((name) => name.match(ADVISORY) ?? []);
  expect(tested.filter((id) => !told.includes(id))).toEqual([]);
  expect(tested.length).toBeGreaterThan(flaws.length / 2);
});

test("every test that an attack's line names exists, and every file of this folder is in a line", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/security.md"), "utf8");
  const table = page.split("\n## ").find((section) => section.startsWith("Attacks that were tried")) ?? "";
  const told = [...table.matchAll(/`((?:src|tests)\/[\w./-]+\.test\.tsx?)`/g)].map(([, file = ""]) => file);
  expect(told.filter((file) => !existsSync(join(import.meta.dir, "../..", file)))).toEqual([]);
  const here = [...names.keys()].map((file) => `tests/security/${file}.test.ts`);
  expect(here.filter((file) => !told.includes(file))).toEqual([]);
});

test("a test that is left out, or only written about, is none", () => {
  expect(
    namesIn(
      [
        'test("one", () => {});',
        'test.skip("two", () => {});',
        '// test("three", () => {});',
        "  test.each([1, 2])(",
        '    "four %p",',
        "    () => {},",
        "  );",
        'describe("five", () => {',
      ].join("\n"),
    ),
  ).toEqual(["one", "four %p", "five"]);
});
