/** Values of foreign rows, whatever their column's type is on the source's engine. */
import type { Row } from "../../db/foreign/source";

/** The text without trailing blanks: `char(n)` of Postgres is padded. "" for null. */
export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8").replaceAll("\u0000", "").trimEnd();
  if (typeof value === "object") return JSON.stringify(value);
  // A text that Postgres cannot hold.
  return String(value).replaceAll("\u0000", "").trimEnd();
}

/** The number; 0 for null and for what is none. */
export function numberOf(row: Row, column: string): number {
  const value = row[column];
  const number = typeof value === "boolean" ? Number(value) : Number(value ?? 0);
  return Number.isFinite(number) ? number : 0;
}

export const wholeOf = (row: Row, column: string): number => Math.round(numberOf(row, column));

/** SQLite has 0 and 1, MySQL tinyint or bit, Postgres a boolean. */
export function flagOf(row: Row, column: string): boolean {
  const value = row[column];
  if (value instanceof Uint8Array) return value[0] === 1;
  return value === true || value === "true" || value === "t" || Number(value ?? 0) > 0;
}

/** Epoch seconds of a timestamp in any engine's form; undefined for null and for the zero dates of MySQL. */
export function timeOf(row: Row, column: string): number | undefined {
  const value = row[column];
  if (value === null || value === undefined || value === "" || value === 0) return undefined;
  if (typeof value === "number") return value > 1e11 ? Math.floor(value / 1000) : Math.floor(value);
  const text = value instanceof Date ? value.getTime() : Date.parse(zoned(String(value)));
  return Number.isFinite(text) && text > 0 ? Math.floor(text / 1000) : undefined;
}

/** SQLite keeps Go's times as "2025-01-02 03:04:05.678+08:00"; without a zone it is UTC. */
function zoned(text: string): string {
  const iso = text.trim().replace(" ", "T");
  return /(Z|[+-]\d\d:?\d\d)$/i.test(iso) ? iso : `${iso}Z`;
}

/** The object in a JSON text or column; {} for anything else. */
export function objectOf(row: Row, column: string): Record<string, unknown> {
  const value = row[column];
  if (typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array))
    return value as Record<string, unknown>;
  try {
    const parsed: unknown = JSON.parse(textOf(row, column));
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}

/** A comma list with blanks, line breaks and doubles removed. */
export const listOf = (text: string): string =>
  [
    ...new Set(
      text
        .split(/[,\n\r]/)
        .map((one) => one.trim())
        .filter(Boolean),
    ),
  ].join(",");
