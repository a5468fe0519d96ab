/**
 * Links into the code, as docs/tour.md has them: [`name`](../src/server/…/file.ts#L12). The number is found again from
 * the name, so that a page keeps leading to the right line.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const LINK = /\[`([^`\]]+)`\]\(([^)#\s]+\.tsx?)(?:#L\d+)?\)/g;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The line (from 1) that declares `name`, else the first that says it; 0 when there is none. */
export function lineOf(text: string, name: string): number {
  const word = escaped(name.replace(/\(\)$/, "").split(".").at(-1) ?? "");
  const lines = text.split("\n");
  const isComment = (line: string): boolean => /^\s*(\/\/|\/?\*)/.test(line);
  const declared = new RegExp(`\\b(function\\*?|class|interface|type|const)\\s+${word}\\b`);
  const member = new RegExp(`^\\s*(?:(?:public|static|async|readonly|\\*)\\s*)*#?${word}(<[^(]*>)?[(:=]`);
  const said = new RegExp(`(?<![\\w$])${word}(?![\\w$])`);
  for (const pattern of [declared, member, said]) {
    const found = lines.findIndex((line) => !isComment(line) && pattern.test(line));
    if (found >= 0) return found + 1;
  }
  return 0;
}

/** The page with every link's line found again. Throws for a file or a name that is not there. */
export function withLines(root: string, page: string, markdown: string): string {
  return markdown.replace(LINK, (_, name: string, path: string) => {
    const file = join(root, dirname(page), path);
    if (!existsSync(file)) throw new Error(`${page} links to ${relative(root, file)}, which does not exist`);
    const line = lineOf(readFileSync(file, "utf8"), name);
    if (line === 0) throw new Error(`${page} links to ${name} in ${relative(root, file)}, which does not say it`);
    return `[\`${name}\`](${path}#L${line})`;
  });
}
