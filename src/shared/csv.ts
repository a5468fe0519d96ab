/** Tables as text for spreadsheets (RFC 4180). */

/**
 * One cell. A text that a spreadsheet would take for a formula begins with an apostrophe (OWASP, CSV injection);
 * numbers are written as they are.
 */
export function csvCell(value: string | number | boolean): string {
  if (typeof value !== "string") return String(value);
  const text = /^[\s\u0000]*[=+\-@\t\r\n＝＋－＠]/u.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One row, with its end. */
export const csvLine = (cells: readonly (string | number | boolean)[]): string => `${cells.map(csvCell).join(",")}\r\n`;

/** Stands before the first line: marks a file as UTF-8 for spreadsheets. */
export const CSV_MARK = "\uFEFF";
