/**
 * Which test proves which requirement. A mark in a test, on its own line above the assertion or behind it on the same
 * line, names what the assertion shows: `// spec: A-012, A-020..A-030`. From the marks, tests/spec/requirements.tsv and
 * tests/spec/unproven/*.tsv (id, reason) `bun run docs` writes docs/generated/spec-coverage.md.
 *
 * `bun scripts/spec-coverage.ts [A-001..A-330]` lists what is wrong with the marks, and the ids without any.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assertingFunctions, type Block, blockAt, enclosing, tableUsers } from "./spec-blocks";

export interface Requirement {
  id: string;
  area: string;
  text: string;
  section: string;
}

/** Where an id is proven: no line numbers, so that the page stays when the file is edited elsewhere. */
export interface Proof {
  id: string;
  file: string;
  test: string;
}

export interface Coverage {
  requirements: Requirement[];
  proofs: Map<string, Proof[]>;
  unproven: Map<string, string>;
  /** Neither marked nor listed as unproven. */
  missing: string[];
  faults: string[];
}

const MARK = /(?:^|\s)\/\/ spec: (.*)$/;
const NO_CODE = /^\s*(?:\/\/.*|\/?\*.*)?$/;
/** The row of a table: what a mark may also stand above when the test that takes the table asserts. */
const ROW = /^\s*(?:[[{"'`]|[\w$]+(?::|,$))/;

/** `A-012, A-020..A-022` as ids; what is not of that form is a fault. */
export function idsOf(list: string): { ids: string[]; faults: string[] } {
  const ids: string[] = [];
  const faults: string[] = [];
  for (const part of list.split(",").map((text) => text.trim())) {
    const [, letter = "", first = "", lastLetter = letter, last = first] =
      /^([A-Z])-(\d+)(?:\.\.([A-Z])-(\d+))?$/.exec(part) ?? [];
    if (letter === "" || lastLetter !== letter || Number(last) < Number(first) || last.length !== first.length) {
      faults.push(`"${part}" is neither an id nor a range of ids`);
      continue;
    }
    for (let number = Number(first); number <= Number(last); number++) {
      ids.push(`${letter}-${String(number).padStart(first.length, "0")}`);
    }
  }
  return { ids, faults };
}

/** The marks of one file, each with the test that it stands in. */
export function readMarks(file: string, text: string): { proofs: Proof[]; faults: string[] } {
  const proofs: Proof[] = [];
  const faults: string[] = [];
  if (!text.includes("// spec:")) return { proofs, faults };
  const lines = text.split("\n");
  const asserts = assertingFunctions(lines);
  for (const [index, line] of lines.entries()) {
    const list = MARK.exec(line)?.[1];
    if (list === undefined) continue;
    const read = idsOf(list);
    faults.push(...read.faults.map((fault) => `${file}: ${fault}`));
    const test = provenAt(lines, index, asserts);
    if (test === undefined) {
      faults.push(`${file}: the mark "${list}" stands at nothing that asserts (line ${index + 1})`);
      continue;
    }
    proofs.push(...read.ids.map((id) => ({ id, file, test })));
  }
  return { proofs, faults };
}

/** Name of the test in which the mark's statement, or the test of the table whose row it marks, asserts. */
function provenAt(lines: string[], mark: number, asserts: (text: string) => boolean): string | undefined {
  let index = mark;
  if (NO_CODE.test(lines[mark] ?? "")) while (NO_CODE.test(lines[index] ?? "") && index < lines.length) index++;
  const textOf = (block: Block): string => lines.slice(block.start, block.end + 1).join("\n");
  const around = enclosing(lines, index);
  // Above a whole test a mark would say nothing of which assertion it means.
  if (around?.start === index) return undefined;
  if (asserts(textOf(blockAt(lines, index)))) return around?.name;
  if (!ROW.test(lines[index] ?? "")) return undefined;
  if (around?.isTest && asserts(textOf(around))) return around.name;
  return tableUsers(lines, index).find((block) => asserts(textOf(block)))?.name;
}

/** `# heading` lines divide the table of requirements into sections. */
export function readRequirements(text: string): Requirement[] {
  let section = "";
  return text
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      if (line.startsWith("# ")) section = line.slice(2);
      const [id = "", area = "", requirement] = line.split("\t");
      return requirement === undefined ? [] : [{ id, area, text: requirement, section }];
    });
}

/** Puts marks, requirements and the lists of what is unproven (by their names) together. */
export function cover(
  requirements: Requirement[],
  marks: { proofs: Proof[]; faults: string[] },
  lists: Record<string, string>,
): Coverage {
  const known = new Set(requirements.map(({ id }) => id));
  const faults = [...marks.faults];
  if (known.size !== requirements.length) faults.push("an id stands twice among the requirements");
  const proofs = new Map<string, Proof[]>();
  for (const proof of marks.proofs) {
    const { id, file, test } = proof;
    if (!known.has(id)) faults.push(`${file}: ${id} is no requirement`);
    const there = proofs.get(id) ?? [];
    if (!there.some((other) => other.file === file && other.test === test)) proofs.set(id, [...there, proof]);
  }
  const unproven = new Map<string, string>();
  for (const [name, list] of Object.entries(lists)) {
    for (const line of list.split("\n").filter((text) => text.trim() !== "")) {
      const [id = "", reason = ""] = line.split("\t");
      if (!known.has(id)) faults.push(`${name}: ${id} is no requirement`);
      if (reason.trim() === "") faults.push(`${name}: ${id} has no reason`);
      if (unproven.has(id)) faults.push(`${name}: ${id} stands twice among the unproven`);
      if (proofs.has(id)) faults.push(`${name}: ${id} is unproven here and marked in ${proofs.get(id)?.[0]?.file}`);
      unproven.set(id, reason.trim());
    }
  }
  const missing = requirements.map(({ id }) => id).filter((id) => !proofs.has(id) && !unproven.has(id));
  return { requirements, proofs, unproven, missing, faults };
}

/** Reads the project. */
export function specCoverage(root: string): Coverage {
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const files = ["tests/**/*.{ts,tsx}", "src/**/*.test.{ts,tsx}"]
    .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: root })])
    // Its own test holds marks as data.
    .filter((file) => file !== "tests/spec/coverage.test.ts")
    .sort();
  const marks = files.map((file) => readMarks(file, read(file)));
  const folder = "tests/spec/unproven";
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith(".tsv"));
  return cover(
    readRequirements(read("tests/spec/requirements.tsv")),
    { proofs: marks.flatMap(({ proofs }) => proofs), faults: marks.flatMap(({ faults }) => faults) },
    Object.fromEntries(names.sort().map((name) => [`${folder}/${name}`, read(`${folder}/${name}`)])),
  );
}

/** What a check refuses, one line each. */
export const coverageFaults = ({ faults, missing }: Coverage): string[] => [
  ...faults,
  ...(missing.length > 0
    ? [`${missing.length} ids are neither marked in a test nor listed as unproven: ${missing.join(", ")}`]
    : []),
];

const cell = (text: string): string => text.replaceAll("|", "\\|");
const table = (rows: string[][]): string => rows.map((row) => `| ${row.map(cell).join(" | ")} |\n`).join("");

/** The page below its heading. */
export function coveragePage({ requirements, proofs, unproven, missing }: Coverage): string {
  const proven = (id: string): string =>
    (proofs.get(id) ?? []).map(({ file, test }) => `${file}: “${test}”`).join("<br>") ||
    (unproven.has(id) ? "unproven" : "missing");
  const counts = [
    ["Requirements", String(requirements.length)],
    ["Proven", String(requirements.filter(({ id }) => proofs.has(id)).length)],
    ["Unproven", String(unproven.size)],
    ...(missing.length > 0 ? [["Missing", String(missing.length)]] : []),
  ];
  const textOf = new Map(requirements.map(({ id, text }) => [id, text]));
  const open = [...unproven].sort(([one], [other]) => one.localeCompare(other));
  const sections = [...new Set(requirements.map(({ section }) => section))].map((section) => {
    const rows = requirements.filter((one) => one.section === section).map(({ id, text }) => [id, text, proven(id)]);
    return `\n## ${section}\n\n${table([["Id", "Requirement", "Proven by"], ["---", "---", "---"], ...rows])}`;
  });
  const unprovenTable =
    open.length === 0
      ? "None.\n"
      : table([
          ["Id", "Requirement", "Why"],
          ["---", "---", "---"],
          ...open.map(([id, reason]) => [id, textOf.get(id) ?? "", reason]),
        ]);
  return `${table([["", "Ids"], ["---", "---"], ...counts])}\n## Unproven\n\n${unprovenTable}` + sections.join("");
}

if (import.meta.main) {
  const range = process.argv[2];
  const asked = range === undefined ? undefined : new Set(idsOf(range).ids);
  const { faults, missing } = specCoverage(join(import.meta.dir, ".."));
  const ids = missing.filter((id) => asked === undefined || asked.has(id));
  for (const fault of faults) console.error(fault);
  console.log(`${ids.length} ids without mark or reason${ids.length > 0 ? `: ${ids.join(", ")}` : ""}`);
  process.exit(faults.length + ids.length > 0 ? 1 : 0);
}
