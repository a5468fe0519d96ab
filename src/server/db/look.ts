/** A SQLite database as it is: read only, nothing is migrated, beside any server. */
import { Database } from "bun:sqlite";

const BUSY_MS = 5000;

export interface Look {
  /** Rows of a statement without parameters. */
  ask(statement: string): Record<string, unknown>[];
  close(): void;
}

/** Throws when there is no database at the path. */
export function lookAt(path: string): Look {
  const db = new Database(path, { readonly: true });
  db.exec(`PRAGMA busy_timeout=${BUSY_MS}`);
  return {
    ask: (statement) => db.query<Record<string, unknown>, []>(statement).all(),
    close: () => db.close(),
  };
}
