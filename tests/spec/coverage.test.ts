import { describe, expect, test } from "bun:test";
import {
  cover,
  coverageFaults,
  coveragePage,
  idsOf,
  readMarks,
  readRequirements,
  specCoverage,
} from "../../scripts/spec-coverage";
import { ROOT } from "../kit/imports";

/** A file whose marks are read; `§` stands for the comment's sign, so that these are no marks of their own. */
const marksOf = (source: string) => readMarks("tests/x.test.ts", source.replaceAll("§", "// spec:"));
const testsOf = (source: string) => marksOf(source).proofs.map(({ id, test }) => `${id} ${test}`);

const REQUIREMENTS = readRequirements(
  "id\tarea\trequirement\n# Doors\nA-001\tdoor\tThe door opens\nA-002\tdoor\tThe door shuts | slowly\n" +
    "# Windows\nC-001\twindow\tThe window is clean\n",
);
const proof = (id: string) => ({ id, file: "tests/x.test.ts", test: "a door opens" });

describe("a list of ids", () => {
  test("names ids and ranges of one letter", () => {
    expect(idsOf("A-009, C-001..C-003")).toEqual({ ids: ["A-009", "C-001", "C-002", "C-003"], faults: [] });
    expect(idsOf("D-09..D-11").ids).toEqual(["D-09", "D-10", "D-11"]);
  });

  test.each(["A-003..A-001", "A-001..C-002", "A-1..A-002", "a-001", "A-001 A-002", ""])("refuses %p", (list) => {
    const { ids, faults } = idsOf(list);
    expect(ids).toEqual([]);
    expect(faults).toHaveLength(1);
  });
});

describe("a mark", () => {
  test("above an assertion, or behind it, counts for the test around it", () => {
    const source = `describe("doors", () => {
  test("a door opens", async () => {
    const door = await open();
    § A-001
    // and stays open
    expect(door).toMatchObject({
      open: true,
    });
    await becomes(() => door.open, true); § A-002
  });
});`;
    expect(testsOf(source)).toEqual(["A-001 a door opens", "A-002 a door opens"]);
    expect(marksOf(source).faults).toEqual([]);
  });

  test("in the body or above a row of a table counts for the table's test", () => {
    const source = `
  test.each([
    § A-001
    ["oak (old)", 1],
    ["iron", 2],
  ])("%s opens", (kind, weight) => {
    § C-001
    expect(open(kind)).toBe(weight);
  });`;
    expect(testsOf(source)).toEqual(["A-001 %s opens", "C-001 %s opens"]);
  });

  test("above a row of a named table counts for the test that uses the table", () => {
    const source = `const DOORS = [
  § A-001
  ["oak", 1],
];
const WINDOWS = { big: 1 };
test("windows are clean", () => {
  expect(WINDOWS).toBeTruthy();
});
test.each(DOORS)("%s opens", (kind) => {
  expect(open(kind)).toBe(true);
});`;
    expect(testsOf(source)).toEqual(["A-001 %s opens"]);
  });

  test("above a call of a function of the file that asserts counts", () => {
    const source = `const opens = (door: string): void => {
  expect(door).toBe("open");
};
test("all doors open", () => {
  § A-001
  opens("oak");
});`;
    expect(testsOf(source)).toEqual(["A-001 all doors open"]);
  });

  test.each([
    [
      "a statement that asserts nothing",
      `test("a door opens", () => {\n  § A-001\n  open();\n  expect(1).toBe(1);\n});`,
    ],
    ["a whole test", `§ A-001\ntest("a door opens", () => {\n  expect(1).toBe(1);\n});`],
    ["the end of the file", `test("a door opens", () => {\n  expect(1).toBe(1);\n});\n§ A-001\n`],
    ["a row of a table that no test uses", `const DOORS = [\n  § A-001\n  ["oak"],\n];\ntest("x", () => {});`],
  ])("above %s is a fault", (_, source) => {
    const { proofs, faults } = marksOf(source);
    expect(proofs).toEqual([]);
    expect(faults[0]).toContain('tests/x.test.ts: the mark "A-001" stands at nothing that asserts');
  });
});

describe("the coverage", () => {
  test("counts what is proven, names what is unproven with its reason, and is whole", () => {
    const marks = { proofs: [proof("A-001"), proof("C-001"), proof("C-001")], faults: [] };
    const coverage = cover(REQUIREMENTS, marks, { "one.tsv": "A-002\tthere is no slow door\n" });
    expect(coverageFaults(coverage)).toEqual([]);
    const page = coveragePage(coverage);
    expect(page).toContain("| Requirements | 3 |\n| Proven | 2 |\n| Unproven | 1 |\n");
    expect(page).toContain("| A-002 | The door shuts \\| slowly | there is no slow door |");
    expect(page).toContain("## Windows\n\n| Id | Requirement | Proven by |\n| --- | --- | --- |\n| C-001 | ");
    // Twice in one test is one proof.
    expect(page).toContain("| C-001 | The window is clean | tests/x.test.ts: “a door opens” |");
  });

  test("refuses unknown ids, ids both marked and unproven, reasons left out, and lists ids without either", () => {
    const marks = { proofs: [proof("A-001"), proof("A-999")], faults: [] };
    const lists = { "one.tsv": "A-001\tno door\nA-002\t\n", "two.tsv": "A-002\tagain\nD-01\tunknown\n" };
    expect(coverageFaults(cover(REQUIREMENTS, marks, lists))).toEqual([
      "tests/x.test.ts: A-999 is no requirement",
      "one.tsv: A-001 is unproven here and marked in tests/x.test.ts",
      "one.tsv: A-002 has no reason",
      "two.tsv: A-002 stands twice among the unproven",
      "two.tsv: D-01 is no requirement",
      "1 ids are neither marked in a test nor listed as unproven: C-001",
    ]);
  });

  test("reads the marks of the tests beside the code and of those below tests/", () => {
    const files = [...specCoverage(ROOT).proofs.values()].flat().map(({ file }) => file);
    for (const folder of ["src/client/", "src/server/", "src/shared/", "tests/"])
      expect(files.find((file) => file.startsWith(folder))).toBeDefined();
  });
});
