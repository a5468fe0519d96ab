/** YAML files that operators write (YAML 1.2; JSON is YAML too). */
import { LineCounter, parseDocument } from "yaml";
import { CannotStart } from "./cannot-start";

/** Most aliases of one file, each counted with what it repeats: a small file must not become a large one. */
const MOST_ALIASES = 1000;

/**
 * The content of a file called `name`, with merge keys (`<<`) joined. Throws CannotStart with each problem and its
 * line, but never with the text there: it may be a secret. A key that stands twice in one place is a problem, because
 * one of its values would be lost.
 */
export function parseYaml(text: string, name: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const problems = document.errors.map(({ code, message, pos: [at] }) => {
    const key = code === "DUPLICATE_KEY" ? /^["']?([^"':\s]+)/.exec(text.slice(at, at + 200))?.[1] : undefined;
    return `line ${lines.linePos(at).line}: ${key === undefined ? message : `the key ${key} stands twice`}`;
  });
  if (problems.length > 0)
    throw new CannotStart(`${name} cannot be read as YAML:\n${problems.map((one) => `  ${one}`).join("\n")}`);
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch {
    throw new CannotStart(`${name} cannot be read as YAML: too many aliases`);
  }
}
