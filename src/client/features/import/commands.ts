/** The commands of `weir import` for a source, as its operator types them. */

/** Where a source's data is. */
export const SOURCE_KINDS = ["sqlite", "mysql", "postgres", "config", "export"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];
/** What is kept of the source's log. */
export const KEPT_LOGS = ["none", "90d", "all"] as const;
export type KeptLogs = (typeof KEPT_LOGS)[number];

/** An address stands in a variable: a password on the command line is in every list of processes. */
const SOURCES: Readonly<Record<SourceKind, { source: string; address?: string }>> = {
  sqlite: { source: "./one-api.db" },
  mysql: { source: "env:SOURCE", address: "mysql://user:password@host:3306/oneapi" },
  postgres: { source: "env:SOURCE", address: "postgres://user:password@host:5432/oneapi" },
  config: { source: "./config.yaml" },
  export: { source: "./weir.jsonl" },
};

/** Lines of a shell, by step. */
export function importCommands(kind: SourceKind, logs: KeptLogs): Record<"look" | "run" | "check", string> {
  const { source, address } = SOURCES[kind];
  const set = address === undefined ? "" : `export SOURCE='${address}'\n`;
  const kept = logs === "none" ? "" : ` --logs ${logs}`;
  return {
    look: `${set}weir import ${source} --dry-run`,
    run: `weir import ${source} --decisions decisions.json${kept}`,
    check: "weir audit",
  };
}
