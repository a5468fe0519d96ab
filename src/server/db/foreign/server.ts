/** Postgres and MySQL (or MariaDB) of another gateway, through Bun's own client, in a session that cannot write. */
import { SQL } from "bun";
import { CannotStart } from "../../lib/cannot-start";
import type { Row, Source } from "./source";
import { queriesOf } from "./source";

/** Throws CannotStart where the server cannot be reached. `url`: postgres://… or mysql://… */
export async function openServerSource(url: string): Promise<Source> {
  const mysql = /^mysql:/i.test(url);
  const { hostname, pathname } = new URL(url);
  // One connection: the session's settings hold for all queries.
  const client = new SQL(url, { max: 1, connectionTimeout: 15, bigint: false });
  const query = async (text: string, values: readonly (string | number)[]): Promise<Row[]> =>
    (await client.unsafe(text, [...values])) as Row[];
  try {
    if (mysql) await query("SET SESSION TRANSACTION READ ONLY", []);
    else await query("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", []);
  } catch (error) {
    await client.close({ timeout: 0 });
    throw new CannotStart(`the source at ${hostname}${pathname} cannot be opened: ${String(error)}`);
  }
  const schema = mysql ? "database()" : "current_schema()";
  return {
    engine: mysql ? "mysql" : "postgres",
    ...queriesOf(
      mysql
        ? {
            quote: (name) => `\`${name.replaceAll("`", "``")}\``,
            parameter: () => "?",
            asText: (one) => `cast(${one} AS char)`,
          }
        : {
            quote: (name) => `"${name.replaceAll('"', '""')}"`,
            parameter: (place) => `$${place}`,
            asText: (one) => `cast(${one} AS text)`,
          },
      query,
    ),
    catalogue: async () => {
      const rows = await query(
        `SELECT table_name AS t, column_name AS c FROM information_schema.columns WHERE table_schema = ${schema} ORDER BY table_name, ordinal_position`,
        [],
      );
      const tables = new Map<string, string[]>();
      for (const { t, c } of rows) {
        const columns = tables.get(String(t));
        if (columns) columns.push(String(c));
        else tables.set(String(t), [String(c)]);
      }
      return tables;
    },
    close: () => client.close({ timeout: 1 }),
  };
}
