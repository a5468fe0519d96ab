/** Where another gateway's data is: a file, a database server, or a variable that holds one of these. */
import { existsSync } from "node:fs";
import { CannotStart } from "../../lib/cannot-start";
import type { Source } from "./source";
import { openServerSource } from "./server";
import { openSqliteSource } from "./sqlite";

/**
 * Opens what a text names: a SQLite file, `postgres://…`, `mysql://…`, the Go form `user:pass@tcp(host:port)/name` that
 * the family's SQL_DSN has, or `env:NAME` for a variable that holds one of these. Throws CannotStart.
 */
export async function openSource(given: string, env: Readonly<Record<string, string | undefined>>): Promise<Source> {
  const text = given.startsWith("env:") ? (env[given.slice(4)] ?? "") : given;
  if (text === "") throw new CannotStart(`${given} holds no address of a source.`);
  const url = serverUrl(text);
  if (url) return openServerSource(url);
  if (!existsSync(text)) throw new CannotStart(`there is no file ${text}.`);
  return openSqliteSource(text);
}

/** The URL of a database server; undefined for a file. */
function serverUrl(text: string): string | undefined {
  if (/^(postgres(ql)?|mysql|mariadb):\/\//i.test(text)) return text.replace(/^mariadb:/i, "mysql:");
  const go = /^([^:@]+)(?::(.*))?@tcp\(([^)]+)\)\/([^?]+)/s.exec(text);
  if (!go) return undefined;
  const [, user = "", password = "", host = "", name = ""] = go;
  return `mysql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}/${encodeURIComponent(name)}`;
}
