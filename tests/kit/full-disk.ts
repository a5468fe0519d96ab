/**
 * Loaded before the server in tests of a full disk: while the file named by FULL_DISK_FILE exists, SQLite cannot grow a
 * file, as if its disk were full. Files that already have their full size can still be written, as on a real full disk.
 */
import { Database, SQLiteError, type Statement } from "bun:sqlite";
import { existsSync } from "node:fs";

const sign = process.env.FULL_DISK_FILE ?? "";
const WRITES = /^\s*(insert|update|delete|replace)/i;
const met = new WeakSet<object>();

function refuse(): void {
  if (!existsSync(sign)) return;
  throw Object.assign(new Error("database or disk is full"), {
    name: SQLiteError.name,
    code: "SQLITE_FULL",
    errno: 13,
  });
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
