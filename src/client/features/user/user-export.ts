/** An export arrives in parts, so that a long log is never in one answer. */
interface Part {
  lines: object[];
  next?: number;
}

/** All parts as lines of JSON. */
export async function exportLines(ask: (cursor: number | undefined) => Promise<Part>): Promise<string[]> {
  const lines: string[] = [];
  let cursor: number | undefined;
  do {
    const part = await ask(cursor);
    for (const line of part.lines) lines.push(JSON.stringify(line));
    cursor = part.next;
  } while (cursor !== undefined);
  return lines;
}

/** Hands a text file to the browser. */
export function saveFile(name: string, lines: readonly string[]): void {
  const url = URL.createObjectURL(
    new Blob(
      lines.map((line) => `${line}\n`),
      { type: "application/x-ndjson" },
    ),
  );
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
