/** A SQLite file that is damaged: what an operator is told at the start, in place of the driver's error. */
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { CannotStart } from "../lib/cannot-start";
import { causes } from "../lib/unavailable";

/** Copies that the advice names. */
const MOST_NAMED = 3;
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;

/** The advice for `error` when it says that the database at `path` is damaged; undefined for any other error. */
export function adviceOnDamage(error: unknown, path: string): CannotStart | undefined {
  const cause = [...causes(error)].find(({ code }) => DAMAGED.test(String(code)));
  if (!cause) return undefined;
  const folder = join(dirname(path), "backups");
  const copies = newestIn(folder);
  const found =
    copies.length > 0
      ? `The newest copies in ${folder}: ${copies.join(", ")}.`
      : `There is no copy in ${folder}; without one of your own, save what can be read: sqlite3 ${path} .recover`;
  return new CannotStart(
    `the database ${path} is damaged (${String(cause.code)}: ${String(cause.message)}). ` +
      "Stop every server, then put a copy in its place with `weir restore FILE`, which keeps the damaged one, " +
      `and check it with \`weir audit\`. ${found}`,
  );
}

/** The database files of a folder, newest first. */
function newestIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".db"))
      .map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs }))
      .toSorted((a, b) => b.at - a.at)
      .slice(0, MOST_NAMED)
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
