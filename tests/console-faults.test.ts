/** docs/console-faults.md names every observed fault of the console once, each with a test that exists. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const DOCS = join(import.meta.dir, "../docs");

test("each of the forty faults has its row, and each row a test that exists", () => {
  const lines = readFileSync(join(DOCS, "console-faults.md"), "utf8").split("\n");
  const rows = lines.flatMap((line) => {
    const [, number, name, path] = /^\| (\d+) \|.*\| \[(.+)\]\((.+)\) \|$/.exec(line) ?? [];
    return number === undefined || name === undefined || path === undefined ? [] : [{ number, name, path }];
  });
  expect(rows.map(({ number }) => Number(number))).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
  const missing = rows.filter(({ name, path }) => {
    const file = join(DOCS, path);
    return !existsSync(file) || !readFileSync(file, "utf8").includes(name);
  });
  expect(missing).toEqual([]);
});
