/**
 * `weir backup FILE` and `weir restore FILE`: the SQLite database as one checked file. It does not contain the master
 * secret, on purpose: a backup alone must not give access to the channels. Postgres has better tools for this.
 */
import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { backUp, inspect, restoreInto } from "../db/backup";
import type { Env } from "../env";
import { CannotStart } from "../lib/cannot-start";
import { createSecrets } from "../lib/secrets";
import { CANARY } from "../wiring/secret-source";

export function backupCommand(env: Env, file: string): number {
  if (env.DATABASE_URL) {
    throw new CannotStart(
      `the data is in Postgres. Use: pg_dump -Fc --no-owner "$DATABASE_URL" -f ${file} (docs/deploy.md)`,
    );
  }
  if (!existsSync(env.databaseUrl))
    throw new CannotStart(`there is no database at ${env.databaseUrl}. Set WEIR_DATA_DIR.`);
  const path = resolve(file);
  const { users } = backUp(env.databaseUrl, path);
  console.log(`Written and checked: ${path} (${users} account${users === 1 ? "" : "s"}).`);
  console.log(
    env.WEIR_SECRET
      ? "The master secret is not in it: keep your WEIR_SECRET, without it the stored keys cannot be read."
      : `The master secret is not in it: keep ${join(env.dataDir, "secret")} too, apart from the backup; without it the stored keys cannot be read.`,
  );
  return 0;
}

export function restoreCommand(env: Env, file: string): number {
  if (env.DATABASE_URL) {
    throw new CannotStart(
      `the data is in Postgres. Use, into an empty database: pg_restore --no-owner -d "$DATABASE_URL" ${file} (docs/deploy.md)`,
    );
  }
  const path = resolve(file);
  if (!existsSync(path)) throw new CannotStart(`there is no file ${path}`);
  if (existsSync(env.databaseUrl) && realpathSync(path) === realpathSync(env.databaseUrl)) {
    throw new CannotStart(`${path} is the database itself`);
  }
  const { canary } = inspect(path);
  checkSecret(env, canary);
  mkdirSync(env.dataDir, { recursive: true, mode: 0o700 });
  const kept = restoreInto(env.databaseUrl, path, new Date());
  console.log(`Restored to ${env.databaseUrl}. All sessions have ended.`);
  if (kept) console.log(`The database that was there is kept: ${kept}`);
  console.log("Run `weir audit`, then start Weir.");
  return 0;
}

/** Refuses a backup that this server's secret cannot decrypt, before anything changes. */
function checkSecret(env: Env, canary: string): void {
  if (canary === "") return;
  const secretPath = join(env.dataDir, "secret");
  const secret = env.WEIR_SECRET || (existsSync(secretPath) ? readFileSync(secretPath, "utf8").trim() : "");
  if (secret !== "") {
    try {
      if (createSecrets(secret).decrypt("canary", canary) === CANARY) return;
    } catch {
      // the error below says it
    }
  }
  const how = `Set WEIR_SECRET to the one used when the backup was made, or put its file \`secret\` at ${secretPath}.`;
  throw new CannotStart(
    `the master secret ${secret === "" ? "of this backup is not here" : "here does not fit this backup"}. ${how} Nothing was changed.`,
  );
}
