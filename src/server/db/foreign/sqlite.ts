/** A SQLite file of another gateway: opened read-only, and its schema (views, triggers, functions) is not trusted. */
import { Database } from "bun:sqlite";
import { CannotStart } from "../../lib/cannot-start";
import type { Row, Source } from "./source";
import { queriesOf } from "./source";

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Throws CannotStart for a file that is no database or is damaged. */
export function openSqliteSource(path: string): Source {
  let file: Database;
  try {
    file = new Database(path, { readonly: true });
    file.exec("PRAGMA trusted_schema=OFF; PRAGMA query_only=ON; PRAGMA busy_timeout=5000; PRAGMA cache_size=-32768");
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
