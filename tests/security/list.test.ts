/** docs/security.md and the tests in this folder agree. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Lines of docs/security.md: a new line changes this number. */
const FLAWS = 56;

const rows = readFileSync(join(import.meta.dir, "../../docs/security.md"), "utf8")
  .split("\n")
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, number = "", , , , file = "", mark = ""]) => ({
    number: Number(number),
    file: file.replaceAll("`", ""),
    mark,
  }));

test("every published flaw is one line of docs/security.md, in order", () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: FLAWS }, (_, i) => i + 1));
});

test("every line names a test that exists", () => {
  const missing = rows.filter(({ file, mark }) => {
    const path = join(import.meta.dir, `${file}.test.ts`);
    if (mark === "" || !existsSync(path)) return true;
    return !readFileSync(path, "utf8")
      .split("\n")
      .some((line) => /^\s*(test|describe)\(/.test(line) && line.includes(mark));
  });
  expect(missing).toEqual([]);
});
