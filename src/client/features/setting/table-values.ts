/** JSON options as rows of a table and back. A text that is not of the option's shape has no rows. */
import { parseOption } from "../../../shared/options";
import type { Row } from "../../components/rows-table";

const laidOut = (value: unknown): string => JSON.stringify(value, null, 2);

/** A number as it was typed becomes a number; what is none stays text, which the option's own check refuses. */
const numberOr = (text: string): number | string =>
  text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;

/** Groups: name, ratio, whether users may choose it, and what it is called then. */
export function groupRows(ratioText: string, usableText: string): Row[] | null {
  const ratios = parseOption("GroupRatio", ratioText);
  const usable = parseOption("UserUsableGroups", usableText);
  if (!ratios.ok || !usable.ok) return null;
  const names = [...new Set([...Object.keys(ratios.value), ...Object.keys(usable.value)])];
  return names.map((name) => ({
    name,
    ratio: String(Object.hasOwn(ratios.value, name) ? ratios.value[name] : ""),
    usable: Object.hasOwn(usable.value, name),
    description: Object.hasOwn(usable.value, name) ? (usable.value[name] ?? "") : "",
  }));
}

/**
 * The texts of both options. A row without a ratio is offered but has none; one of a repeated name would be lost, so
 * there is none.
 */
export function groupTexts(rows: readonly Row[]): { ratio: string; usable: string } {
  const ratio = rows
    .filter((row) => row["ratio"] !== "")
    .map((row) => [String(row["name"]), numberOr(String(row["ratio"]))]);
  const usable = rows
    .filter((row) => row["usable"] === true)
    .map((row) => [String(row["name"]), String(row["description"] ?? "")]);
  return { ratio: laidOut(Object.fromEntries(ratio)), usable: laidOut(Object.fromEntries(usable)) };
}

/** A name that two rows have: a map cannot hold both. */
export function repeatedName(rows: readonly Row[]): string | undefined {
  const names = rows.map((row) => String(row["name"]));
  return names.find((name, index) => names.indexOf(name) !== index);
}

/** Chat links: one object of one member each. */
export function chatRows(text: string): Row[] | null {
  const parsed = parseOption("Chats", text);
  if (!parsed.ok) return null;
  return parsed.value.flatMap((entry) => Object.entries(entry).map(([name, url]) => ({ name, url })));
}

export const chatText = (rows: readonly Row[]): string =>
  laidOut(rows.map((row) => ({ [String(row["name"])]: String(row["url"]) })));

/** Payment methods: name, type, colour and, where there is one, the least amount. */
export function payMethodRows(text: string): Row[] | null {
  const parsed = parseOption("PayMethods", text);
  if (!parsed.ok) return null;
  return parsed.value.map(({ name, type, color, min_topup }) => ({
    name,
    type,
    color,
    min_topup: min_topup === undefined ? "" : String(min_topup),
  }));
}

export const payMethodText = (rows: readonly Row[]): string =>
  laidOut(
    rows.map(({ name, type, color, min_topup }) => {
      const least = String(min_topup ?? "").trim();
      return {
        name: String(name).trim(),
        type: String(type).trim(),
        color: String(color).trim(),
        ...(least !== "" && { min_topup: numberOr(least) }),
      };
    }),
  );
