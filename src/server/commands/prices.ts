/** `weir prices sign KEY FILE`: this installation's prices as a signed file, for the price feeds of others. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { inArray } from "drizzle-orm";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { defaultValue, parseOption } from "../../shared/options";
import { priceKeys, type RatioTables } from "../../shared/price-rows";
import { openDb } from "../db/client";
import type { Env } from "../env";
import { signPrices } from "../features/pricing/feed-file";
import { CannotStart } from "../lib/cannot-start";

/** Reads the Ed25519 key, a JWK; makes it where there is no such file. */
async function keyAt(path: string): Promise<JWK & { x: string }> {
  if (!existsSync(path)) {
    const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
    writeFileSync(path, `${JSON.stringify(await exportJWK(privateKey))}\n`, { mode: 0o600, flag: "wx" });
  }
  let key: JWK | undefined;
  try {
    key = JSON.parse(readFileSync(path, "utf8")) as JWK;
  } catch {
    key = undefined;
  }
  if (key?.kty !== "OKP" || key.crv !== "Ed25519" || !key.x || !key.d)
    throw new CannotStart(`${path} holds no private Ed25519 key (JWK)`);
  return { ...key, x: key.x };
}

/** Writes the file and prints the public key, which a feed's `key` takes. May run beside a server. */
export async function signPricesCommand(env: Env, keyFile: string, file: string): Promise<number> {
  // A mistyped folder must not create an empty database, whose prices are the built-in ones.
  if (!env.DATABASE_URL && !existsSync(env.databaseUrl))
    throw new CannotStart(`there is no database at ${env.databaseUrl}. Set WEIR_DATA_DIR or DATABASE_URL.`);
  const key = await keyAt(keyFile);
  const db = await openDb({ url: env.databaseUrl, pool: 2, commandLimits: true });
  const rows = await db.q
    .select()
    .from(db.t.options)
    .where(inArray(db.t.options.key, [...priceKeys]));
  await db.close();
  const tables = Object.fromEntries(
    priceKeys.map((name) => {
      const stored = rows.find((row) => row.key === name);
      const parsed = stored && parseOption(name, stored.value);
      return [name, parsed?.ok ? parsed.value : defaultValue(name)];
    }),
  ) as unknown as RatioTables; // one entry per price key, by the map above
  // A server that reads the file sees the old one or the new one, never a part.
  writeFileSync(`${file}.new`, `${await signPrices(tables, key, Math.floor(Date.now() / 1000))}\n`);
  renameSync(`${file}.new`, file);
  console.log(`Wrote ${file}. The feed's key: ${key.x}`);
  return 0;
}
