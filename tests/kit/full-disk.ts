/**
 * Loaded before the server in tests of a full disk: while the file named by FULL_DISK_FILE exists, SQLite cannot grow a
 * file, as if its disk were full. Files that already have their full size can still be written, as on a real full disk.
 * With the words of READ_ONLY in that file SQLite fails as on a disk that was remounted without writing.
 */
import { Database, SQLiteError, type Statement } from "bun:sqlite";
import { readFileSync } from "node:fs";

const READ_ONLY = "read-only";

const sign = process.env.FULL_DISK_FILE ?? "";
const WRITES = /^\s*(insert|update|delete|replace)/i;
const met = new WeakSet<object>();

/** What the file says; undefined while there is none. */
function state(): string | undefined {
  try {
    return readFileSync(sign, "utf8");
  } catch {
    return undefined;
  }
}

function refuse(): void {
  const found = state();
  if (found === undefined) return;
  const [message, code, errno] =
    found === READ_ONLY
      ? ["attempt to write a readonly database", "SQLITE_READONLY", 8]
      : ["database or disk is full", "SQLITE_FULL", 13];
  throw Object.assign(new Error(message), { name: SQLiteError.name, code, errno });
}

function guarded(statement: Statement, sql: string): Statement {
  if (!WRITES.test(sql) || met.has(statement)) return statement;
  met.add(statement);
  for (const verb of ["run", "get", "all", "values"] as const) {
    const real = statement[verb].bind(statement) as (...args: unknown[]) => unknown;
    Object.assign(statement, { [verb]: (...args: unknown[]) => (refuse(), real(...args)) });
  }
  return statement;
}

for (const verb of ["query", "prepare"] as const) {
  const real = Database.prototype[verb] as (sql: string, ...more: unknown[]) => Statement;
  Object.assign(Database.prototype, {
    [verb](this: Database, sql: string, ...more: unknown[]) {
      return guarded(real.call(this, sql, ...more), sql);
    },
  });
}
