/** `weir export FILE`: this installation in a portable form, which `weir import FILE` reads. Servers may run. */
import { closeSync, existsSync, openSync, writeSync } from "node:fs";
import type { Services } from "../contracts/context";
import type { Env } from "../env";
import { exportHead, exportRecords } from "../features/import/export";
import { writeNewApi } from "../features/import/export-new-api";
import { recordExport } from "../features/import/reports";
import { CannotStart } from "../lib/cannot-start";
import type { Logger } from "../lib/log";
import { openServices } from "../wiring/services";

const HELP = `weir export FILE.jsonl
weir export --format new-api FILE.db
  Users with balances, tokens, channels, unused codes and options, one JSON object a line, SECRETS IN CLEAR; the file
  is readable for its owner alone. \`weir import FILE.jsonl\` reads it, on this or another engine.
  --format new-api writes a SQLite database that new-api opens; users whose password it cannot read are listed.`;

/** Exit code 0 when written, 2 for bad arguments. Throws CannotStart for a file that exists. */
export async function exportCommand(env: Env, log: Logger, args: readonly string[]): Promise<number> {
  const asNewApi = args[0] === "--format" && args[1] === "new-api";
  const [path, ...more] = asNewApi ? args.slice(2) : args;
  if (!path || more.length > 0 || path.startsWith("-")) {
    console.error(`weir export takes one file\n\n${HELP}`);
    return 2;
  }
  if (!env.DATABASE_URL && !existsSync(env.databaseUrl))
    throw new CannotStart(`there is no database at ${env.databaseUrl}. Set WEIR_DATA_DIR or DATABASE_URL.`);
  if (existsSync(path)) throw new CannotStart(`${path} exists.`);
  const { services, close } = await openServices(env, log, Date.now, { commandLimits: true });
  if (asNewApi) return exportNewApi(services, close, path);
  const file = openSync(path, "wx", 0o600);
  const left = new Set<string>();
  const counts: Record<string, number> = {};
  try {
    const line = (value: object): number => writeSync(file, `${JSON.stringify(value)}\n`);
    line(exportHead(services));
    for await (const one of exportRecords(services, (what) => left.add(what))) {
      counts[one.kind] = (counts[one.kind] ?? 0) + 1;
      line(one);
    }
    await recordExport(services, counts);
  } finally {
    closeSync(file);
    await close();
  }
  console.log(
    `Written to ${path}: ${
      Object.entries(counts)
        .map(([kind, n]) => `${n} ${kind}s`)
        .join(", ") || "nothing"
    }. It has secrets in clear.`,
  );
  for (const what of left) console.log(`Not part of it: ${what}.`);
  return 0;
}

async function exportNewApi(services: Services, close: () => Promise<void>, path: string): Promise<number> {
  const left = new Set<string>();
  try {
    const { mustReset } = await writeNewApi(
      path,
      exportRecords(services, (what) => left.add(what)),
    );
    await recordExport(services, { must_reset: mustReset.length });
    console.log(`Written to ${path}. It has secrets in clear.`);
    for (const what of left) console.log(`Not part of it: ${what}.`);
    if (mustReset.length > 0) console.log(`Must set a new password: ${mustReset.join(", ")}.`);
  } finally {
    await close();
  }
  return 0;
}
