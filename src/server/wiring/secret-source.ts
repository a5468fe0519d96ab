/**
 * Where the master secret comes from: WEIR_SECRET, else a 0600 file in the data folder (SQLite), else a row in the
 * database with a warning (Postgres). A canary makes a wrong secret a refusal to start instead of a slow disaster.
 */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import type { Db } from "../db/types";
import type { Env } from "../env";
import type { Logger } from "../lib/log";
import { createSecrets, randomText, type Secrets, WrongSecret } from "../lib/secrets";

/** The canary's plain text: decrypted, it proves that the secret fits the database. */
export const CANARY = "weir";

export async function openSecrets(env: Env, db: Db, log: Logger): Promise<Secrets> {
  const secrets = createSecrets(await master(env, db, log));
  await checkCanary(db, secrets);
  return secrets;
}

async function master(env: Env, db: Db, log: Logger): Promise<string> {
  if (env.WEIR_SECRET) return env.WEIR_SECRET;
  if (db.engine === "sqlite") {
    const path = join(env.dataDir, "secret");
    if (existsSync(path)) return readFileSync(path, "utf8").trim();
    // Only a new database gets a new secret: beside an old one a missing file is a mistake, which the canary reports.
    const made = randomText(48);
    writeFileSync(path, `${made}\n`, { mode: 0o600 });
    chmodSync(path, 0o600);
    return made;
  }
  log.warn("WEIR_SECRET is not set: the master secret is kept in the database, beside what it protects");
  await db.q
    .insert(db.t.meta)
    .values({ name: "master_secret", value: randomText(48) })
    .onConflictDoNothing();
  const [row] = await db.q.select().from(db.t.meta).where(eq(db.t.meta.name, "master_secret"));
  if (!row) throw new Error("The master secret could not be stored");
  return row.value;
}

/**
 * Throws WrongSecret when the secret does not fit the database, or no longer fits: it may be rotated while a server
 * starts.
 */
export async function checkCanary(db: Db, secrets: Secrets): Promise<void> {
  const { meta } = db.t;
  await db.q
    .insert(meta)
    .values({ name: "canary", value: secrets.encrypt("canary", CANARY) })
    .onConflictDoNothing();
  const [row] = await db.q.select().from(meta).where(eq(meta.name, "canary"));
  try {
    if (row && secrets.decrypt("canary", row.value) === CANARY) return;
  } catch (error) {
    if (!(error instanceof WrongSecret)) throw error;
  }
  throw new WrongSecret(
    "The secret does not fit this database: keys stored in it could not be read. Set WEIR_SECRET to the value used " +
      "before, or put back the file `secret` of the data folder.",
  );
}
