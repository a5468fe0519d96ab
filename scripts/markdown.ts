/** Tables of generated pages. */

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

export const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n") + "\n";

export const code = (text: string): string => (text === "" ? "" : `\`${text}\``);
