import { callHeaders, refusalOf } from "./http";

/**
 * Saves what a route of `/api` answers as a file; returns its name. By a call and not by a link, because a link cannot
 * send the header that names the user. Throws CallError when the server refuses.
 */
export async function downloadAnswer(path: string, fallback: string): Promise<string> {
  const response = await fetch(path, { headers: callHeaders() });
  const disposition = response.headers.get("content-disposition");
  if (!disposition) throw await refusalOf(response);
  const name = /filename="([\w.-]+)"/.exec(disposition)?.[1] ?? fallback;
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  return name;
}

/** Hands a text to the browser as a file. Characters that a file name cannot have are replaced. */
export function downloadText(name: string, text: string, type = "text/plain"): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName(name);
  document.body.append(link);
  link.click();
  link.remove();
  URL.revokeObjectURL(url);
}

// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\\/:*?"<>|\u0000-\u001f]/g;

/** `a/b:c` -> `a_b_c`; never empty, never hidden. */
export const fileName = (name: string): string =>
  name.replace(FORBIDDEN, "_").replace(/^\.+/, "_").trim() || "download";

/**
 * Rows as CSV (RFC 4180), with a byte-order mark so that spreadsheets read it as UTF-8. A text that a spreadsheet would
 * take for a formula gets an apostrophe.
 */
export function csvText(rows: readonly (readonly (string | number)[])[]): string {
  return `\ufeff${rows.map((row) => row.map(csvField).join(",")).join("\r\n")}\r\n`;
}

function csvField(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
