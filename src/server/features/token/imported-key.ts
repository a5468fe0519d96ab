/**
 * Keys of LiteLLM, of which only a SHA-256 was known when they were imported. The first call shows the key itself: its
 * token then becomes like every other one.
 */
import { and, eq, isNotNull } from "drizzle-orm";
import { KEY_PREFIX, keyHint } from "../../../shared/token";
import type { Services } from "../../contracts/context";
import { sha256 } from "../../lib/secrets";

/** For `tokens.imported_hash`. `digest`: hex SHA-256 of the whole key with its "sk-", as LiteLLM stores it. */
export const importedHash = ({ hash }: Services["secrets"], digest: string): string =>
  hash("imported-key", digest.toLowerCase());

/**
 * Looks for an imported token of this key (without "sk-") and makes the key its own; false when there is none. Of two
 * at once one writes, and both find it afterwards.
 */
export async function adoptKey({ db, secrets }: Pick<Services, "db" | "secrets">, key: string): Promise<boolean> {
  const { tokens } = db.t;
  const imported_hash = importedHash(secrets, sha256(KEY_PREFIX + key));
  const [found] = await db.q.select({ id: tokens.id }).from(tokens).where(eq(tokens.imported_hash, imported_hash));
  if (!found) return false;
  await db.q
    .update(tokens)
    .set({
      key_hash: secrets.hash("relay-key", key),
      key_cipher: secrets.encrypt("relay-key", key),
      key_hint: keyHint(key),
      imported_hash: null,
    })
    .where(and(eq(tokens.id, found.id), eq(tokens.imported_hash, imported_hash)))
    .returning({ id: tokens.id });
  return true;
}

/** Whether there are imported tokens that were not used yet: mostly none, and then unknown keys cost no second read. */
export async function hasImportedKeys({ db }: Pick<Services, "db">): Promise<boolean> {
  const { tokens } = db.t;
  const [one] = await db.q.select({ id: tokens.id }).from(tokens).where(isNotNull(tokens.imported_hash)).limit(1);
  return one !== undefined;
}
