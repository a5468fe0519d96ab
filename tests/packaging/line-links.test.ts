import { expect, test } from "bun:test";
import { lineOf, withLines } from "../../scripts/line-links";
import { ROOT } from "../kit/imports";

const FILE = [
  "/** other() is said in a comment first. */",
  "import { other } from './elsewhere';",
  "export class Thing {",
  "  async other(): Promise<void> {}",
  "}",
  "export const after = () => other();",
].join("\n");

test("a link leads to the line that declares the name, not to one that uses it or speaks of it", () => {
  expect(lineOf(FILE, "other()")).toBe(4);
  expect(lineOf(FILE, "Thing.other")).toBe(4);
  expect(lineOf(FILE, "Thing")).toBe(3);
  expect(lineOf(FILE, "after")).toBe(6);
  expect(lineOf(FILE, "missing")).toBe(0);
});

test("a page gets the numbers of today; a name that has gone is an error and not a wrong line", () => {
  const page = "[`lineOf`](../scripts/line-links.ts#L1) and [a page](other.md)";
  const line = Number(/#L(\d+)/.exec(withLines(ROOT, "docs/tour.md", page))?.[1]);
  expect(line).toBeGreaterThan(1);
  expect(withLines(ROOT, "docs/tour.md", page)).toContain("[a page](other.md)");
  expect(() => withLines(ROOT, "docs/tour.md", "[`goneByNow`](../scripts/line-links.ts)")).toThrow("does not say it");
  expect(() => withLines(ROOT, "docs/tour.md", "[`lineOf`](../scripts/gone.ts)")).toThrow("does not exist");
});
