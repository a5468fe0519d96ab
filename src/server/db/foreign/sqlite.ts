/**
 * A SQLite file of another gateway: opened read-only, and its schema (views, triggers, functions) is not trusted. And a
 * file that is written for another gateway.
 */
import { Database } from "bun:sqlite";
import { closeSync, existsSync, openSync } from "node:fs";
import { CannotStart } from "../../lib/cannot-start";
import type { Row, Source } from "./source";
import { queriesOf } from "./source";

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Throws CannotStart for a file that is no database or is damaged. */
export function openSqliteSource(path: string): Source {
  let file: Database;
  try {
    file = new Database(path, { readonly: true });
    file.exec("PRAGMA trusted_schema=OFF; PRAGMA query_only=ON; PRAGMA busy_timeout=5000; PRAGMA cache_size=-8192");
    file.query("SELECT count(*) FROM sqlite_schema").get();
  } catch (error) {
    throw new CannotStart(`${path} cannot be read as a SQLite database: ${String(error)}`);
  }
  const query = async (text: string, values: readonly (string | number)[]): Promise<Row[]> => {
    // Not kept: the texts differ by the number of their values.
    const statement = file.prepare<Row, (string | number)[]>(text);
    try {
      return statement.all(...values);
    } finally {
      statement.finalize();
    }
  };
  return {
    engine: "sqlite",
    ...queriesOf({ quote, parameter: () => "?", asText: (one) => `cast(${one} AS text)` }, query),
    catalogue: async () => {
      const tables = await query(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        [],
      );
      const columns = tables.map(async ({ name }) => {
        const table = String(name);
        const rows = await query(`SELECT name FROM pragma_table_info(${parameterText(table)})`, []);
        return [table, rows.map((row) => String(row.name))] as const;
      });
      return new Map(await Promise.all(columns));
    },
    close: async () => file.close(),
  };
}

const parameterText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A new SQLite file that is written once; `insert` leaves out columns that the table does not have. */
export interface NewFile {
  create(table: string, columns: string): void;
  insert(table: string, row: Readonly<Record<string, string | number | boolean | null | undefined>>): void;
  close(): void;
}

/** Readable for its owner alone. Throws CannotStart for a file that exists. */
export function createSqliteFile(path: string): NewFile {
  if (existsSync(path)) throw new CannotStart(`${path} exists.`);
  closeSync(openSync(path, "wx", 0o600));
  const file = new Database(path);
  file.exec("PRAGMA journal_mode=DELETE; BEGIN");
  const known = new Map<string, Set<string>>();
  return {
    create: (table, columns) => {
      file.exec(`CREATE TABLE ${quote(table)} (${columns})`);
      const rows = file
        .query<{ name: string }, []>(`SELECT name FROM pragma_table_info(${parameterText(table)})`)
        .all();
      known.set(table, new Set(rows.map(({ name }) => name)));
    },
    insert: (table, row) => {
      const entries = Object.entries(row).filter(([name, value]) => value !== undefined && known.get(table)?.has(name));
      const names = entries.map(([name]) => quote(name)).join(", ");
      const places = entries.map(() => "?").join(", ");
      file
        .query(`INSERT INTO ${quote(table)} (${names}) VALUES (${places})`)
        .run(...entries.map(([, value]) => value ?? null));
    },
    close: () => {
      file.exec("COMMIT");
      file.close();
    },
  };
}
