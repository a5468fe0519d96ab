import { CSV_MARK, csvLine } from "../../shared/csv";
import { callHeaders, refusalOf } from "./http";

/**
 * Saves what a route of `/api` answers as a file; returns its name. By a call and not by a link, because a link cannot
 * send the header that names the user. `onBytes` hears how many have come. Throws CallError when the server refuses.
 */
export async function downloadAnswer(
  path: string,
  fallback: string,
  { signal, onBytes }: { signal?: AbortSignal; onBytes?: (bytes: number) => void } = {},
): Promise<string> {
  const response = await fetch(path, { headers: callHeaders(), signal: signal ?? null });
  const disposition = response.headers.get("content-disposition");
  if (!disposition) throw await refusalOf(response);
  const name = /filename="([\w.-]+)"/.exec(disposition)?.[1] ?? fallback;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
    parts.push(read.value);
    bytes += read.value.length;
    onBytes?.(bytes);
  }
  save(name, new Blob(parts, { type: response.headers.get("content-type") ?? "" }));
  return name;
}

/** Hands a text, in parts, to the browser as a file. Characters that a file name cannot have are replaced. */
export function downloadText(name: string, text: string | readonly string[], type = "text/plain"): void {
  save(fileName(name), new Blob([text].flat(), { type: `${type};charset=utf-8` }));
}

function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\\/:*?"<>|\u0000-\u001f]/g;

/** `a/b:c` -> `a_b_c`; never empty, never hidden. */
export const fileName = (name: string): string =>
  name.replace(FORBIDDEN, "_").replace(/^\.+/, "_").trim() || "download";

/** Rows as a table for spreadsheets. */
export const csvText = (rows: readonly (readonly (string | number)[])[]): string =>
  CSV_MARK + rows.map(csvLine).join("");
