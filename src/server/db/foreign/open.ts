/** Where another gateway's data is: a file, a database server, or a variable that holds one of these. */
import { existsSync, readFileSync } from "node:fs";
import { CannotStart } from "../../lib/cannot-start";
import { parseYaml } from "../../lib/yaml";
import type { Row, Source } from "./source";
import { memorySource } from "./memory";
import { openServerSource } from "./server";
import { openSqliteSource } from "./sqlite";

/**
 * Opens what a text names: a file (SQLite, YAML, JSON lines), `postgres://…`, `mysql://…`, the Go form
 * `user:pass@tcp(host:port)/name` that the family's SQL_DSN has, or `env:NAME` for a variable that holds one of these.
 * Throws CannotStart.
 */
export async function openSource(given: string, env: Readonly<Record<string, string | undefined>>): Promise<Source> {
  const text = given.startsWith("env:") ? (env[given.slice(4)] ?? "") : given;
  if (text === "") throw new CannotStart(`${given} holds no address of a source.`);
  const url = serverUrl(text);
  if (url) return openServerSource(url);
  if (!existsSync(text)) throw new CannotStart(`there is no file ${text}.`);
  if (/\.jsonl$/i.test(text)) return openLines(text);
  return /\.ya?ml$/i.test(text) ? openYaml(text) : openSqliteSource(text);
}

/** JSON lines with a `kind`: each kind is a table. */
async function openLines(path: string): Promise<Source> {
  const tables = new Map<string, Row[]>();
  let place = 0;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    place++;
    if (line === "") continue;
    let row: unknown;
    try {
      row = JSON.parse(line);
    } catch {
      throw new CannotStart(`${path}, line ${place}: not JSON. The file is not whole.`);
    }
    if (typeof row !== "object" || row === null || !("kind" in row))
      throw new CannotStart(`${path}, line ${place}: no kind.`);
    const { kind, ...rest } = row;
    const rows = tables.get(String(kind));
    if (rows) rows.push(rest);
    else tables.set(String(kind), [rest]);
  }
  return memorySource(tables, "sqlite");
}

/** A configuration file of LiteLLM: each list in it is a table, whose key is the place in the list. */
function openYaml(path: string): Source {
  const content = parseYaml(readFileSync(path, "utf8"), path);
  const members = typeof content === "object" && content !== null ? Object.entries(content) : [];
  const tables = members.map(([name, value]): [string, Row[]] => {
    const list: unknown[] = Array.isArray(value) ? value : [value];
    return [name, list.map((one, place) => ({ place, ...(typeof one === "object" ? one : { value: one }) }))];
  });
  return memorySource(new Map(tables), "sqlite");
}

/** The URL of a database server; undefined for a file. */
function serverUrl(text: string): string | undefined {
  if (/^(postgres(ql)?|mysql|mariadb):\/\//i.test(text)) return text.replace(/^mariadb:/i, "mysql:");
  const go = /^([^:@]+)(?::(.*))?@tcp\(([^)]+)\)\/([^?]+)/s.exec(text);
  if (!go) return undefined;
  const [, user = "", password = "", host = "", name = ""] = go;
  return `mysql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}/${encodeURIComponent(name)}`;
}
