import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { applied, isValid, lineBeforeAndAfter, mutantsOf, sampleOf } from "../../scripts/mutate/mutators";
import { pageWith, type Row } from "../../scripts/mutate/page";
import { TARGETS } from "../../scripts/mutate/targets";

const ROOT = join(import.meta.dir, "../..");
const sourceOf = (file: string): string => readFileSync(join(ROOT, file), "utf8");
/** Every program that one change makes of this one. */
const changes = (source: string): string[] => mutantsOf(source).map((mutant) => applied(source, mutant));

describe("the changes that are made", () => {
  test.each([
    ["a < b;", "a <= b;"],
    ["a >= b;", "a > b;"],
    ["a === b;", "a !== b;"],
    ["a && b;", "a || b;"],
    ["a ?? b;", "(a);"],
    ["a - b;", "a + b;"],
    ["a * b;", "a / b;"],
    ["a += b;", "a -= b;"],
    ["Math.ceil(a)", "Math.floor(a)"],
    ["Math.min(a, b)", "Math.max(a, b)"],
    ["x = true;", "x = false;"],
    ["x = 1n;", "x = 2n;"],
    ["const x = a ? b : c;", "const x = !(a) ? b : c;"],
    ["foo.bar(a);", ";"],
    ["async () => { await foo(a); };", "async () => { ; };"],
    ["function* f() { yield* foo(a); }", "function* f() { ; }"],
    ["x = a.catch(() => b);", "x = a;"],
    ["for (const a of b) { c = a; break; }", "for (const a of b) { c = a; ; }"],
    ["const x = /a|(?:b|[|)]c)/;", "const x = /a|(?:[|)]c)/;"],
    ["const x = /a|(?:b|[|)]c)/;", "const x = /a|(?:b)/;"],
    ["const x = /a|(?:b|[|)]c)/;", "const x = /a/;"],
    ["const x = new Set([a, b]);", "const x = new Set([b]);"],
    ["const x = new Set([a, b]);", "const x = new Set([a]);"],
    ["const { a, b: c, ...rest } = row;", "const { a, ...rest } = row;"],
    ["x = 'UPDATE t SET a = a + 1 WHERE b > 2 AND c';", "x = 'UPDATE t SET a = a - 1 WHERE b > 2 AND c';"],
    ["x = `UPDATE t SET a = 1 WHERE ${b} > 2 AND c`;", "x = `UPDATE t SET a = 1 WHERE ${b} > 2 OR c`;"],
  ])("%s becomes %s", (before, after) => {
    expect(changes(before)).toContain(after);
  });

  test("a number becomes its neighbour or nothing, a large one twice itself", () => {
    expect(changes("x = 0;")).toEqual(["x = 1;"]);
    expect(changes("x = 3;").sort()).toEqual(["x = 0;", "x = 4;"]);
    expect(changes("x = 60_000;").sort()).toEqual(["x = 0;", "x = 120000;"]);
  });

  test("a condition is turned round, and a guard that leaves goes", () => {
    expect(changes("function f() { if (!a) return 2; }").sort()).toEqual(
      [
        "function f() { ; }",
        "function f() { if (!a) return 0; }",
        "function f() { if (!a) return 3; }",
        "function f() { if (a) return 2; }",
      ].sort(),
    );
    expect(changes("for (;;) { if (a) { continue; } b = c; }")).toContain("for (;;) { ; b = c; }");
  });

  test("types, imports, logging, comments and texts stay as they are", () => {
    const untouched = [
      'import { a } from "b";',
      "type A = 1 | true;",
      "interface A { b: 2 }",
      "let x: A<1>;",
      'log.warn({ n: 1 }, "a" + b);',
      "call.log.warn({ n: 1 });",
      "// a < b && 1",
      'const x = "a < b AND c";',
      "const x = `a + b`;",
      'const x = "a" + b + "c";',
    ];
    for (const source of untouched) expect([source, changes(source)]).toEqual([source, []]);
  });
});

describe("the targets", () => {
  test("every change of every target is one place of its source, and the same in each run", () => {
    for (const { file } of TARGETS) {
      const source = sourceOf(file);
      const mutants = mutantsOf(source);
      expect(mutantsOf(source)).toEqual(mutants);
      for (const mutant of mutants) {
        expect(source.slice(mutant.start, mutant.end)).toBe(mutant.original);
        expect(applied(source, mutant)).not.toBe(source);
      }
      const lines = source.split("\n");
      for (const mutant of mutants) expect(lines[mutant.line - 1]?.trim()).toBe(lineBeforeAndAfter(source, mutant)[0]);
    }
  }, 30_000);

  test("nearly every change is a program", () => {
    const all = TARGETS.flatMap(({ file }) => {
      const source = sourceOf(file);
      return mutantsOf(source).map((mutant) => isValid(applied(source, mutant)));
    });
    expect(all.filter(Boolean).length / all.length).toBeGreaterThan(0.99);
  }, 30_000);

  test("each stands once, has tests that are there, and a lowest score of 85 at least", async () => {
    expect(new Set(TARGETS.map(({ file }) => file)).size).toBe(TARGETS.length);
    for (const { file, tests, least } of TARGETS) {
      for (const path of [file, ...tests])
        expect([path, await Bun.file(join(ROOT, path)).exists()]).toEqual([path, true]);
      expect([file, least >= 85]).toEqual([file, true]);
    }
  });
});

test("a text that is no program is told from one that is", () => {
  expect([isValid("const a: number = 1;"), isValid("const a = (;")]).toEqual([true, false]);
});

test("a sample is the same for the same seed, and keeps its lines when another line is added", () => {
  const source = Array.from({ length: 50 }, (_, i) => `a${i} = b${i} < c${i};`).join("\n");
  const drawn = (text: string, seed: number): string[] =>
    sampleOf(text, mutantsOf(text), 10, seed).map((mutant) => lineBeforeAndAfter(text, mutant)[1]);
  expect(drawn(source, 1)).toHaveLength(10);
  expect(drawn(source, 1)).toEqual(drawn(source, 1));
  expect(drawn(source, 1)).not.toEqual(drawn(source, 2));
  const kept = drawn(`x = y;\n${source}\nz < w;`, 1).filter((line) => drawn(source, 1).includes(line));
  expect(kept.length).toBeGreaterThanOrEqual(9);
});

test("a row takes the place of its file's older one and leaves the others", () => {
  const row = (file: string, killed: number): Row => ({
    ...{
      file,
      date: "2026-01-01",
      all: 9,
      tried: 9,
      seed: 1,
      killed,
      timed_out: 0,
      survived: 9 - killed,
      equivalent: 0,
    },
    score: (100 * killed) / 9,
  });
  const page = pageWith(pageWith(pageWith("", row("src/b.ts", 3)), row("src/a.ts", 4)), row("src/b.ts", 9));
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows).toHaveLength(2);
  expect(rows[0]).toStartWith("| `src/a.ts` | 2026-01-01 | 9 | all | 4 |");
  expect(rows[1]).toEndWith("| 100.0 % |");
  const drawn = { ...row("src/c.ts", 3), tried: 4, all: 9 };
  const twice = pageWith(pageWith(pageWith("", drawn), { ...drawn, seed: 2 }), { ...drawn, killed: 4 });
  expect(twice.split("\n").filter((line) => line.startsWith("| `"))).toHaveLength(2);
  expect(
    pageWith(twice, row("src/c.ts", 9))
      .split("\n")
      .filter((line) => line.startsWith("| `")),
  ).toHaveLength(1);
});
