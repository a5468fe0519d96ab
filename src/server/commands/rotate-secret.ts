/**
 * `weir secret rotate`: a new master secret. Everything that the old one protected is rewritten in one transaction.
 *
 * The new secret is WEIR_NEW_SECRET, or generated. What can be decrypted is encrypted and hashed under it (relay keys,
 * channel keys, redemption codes, one-time code secrets, secret options). What is stored as a hash alone cannot be:
 * sessions end, and system access tokens must be made again. Refuses while a server runs, because that one would go on
 * writing under the old secret.
 */
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eq, isNotNull, ne } from "drizzle-orm";
import { isOptionKey, option } from "../../shared/options";
import { inUse } from "../db/backup";
import { openDb } from "../db/client";
import type { Db } from "../db/types";
import { run } from "../db/transaction";
import type { Env } from "../env";
import { demoKey } from "../features/demo/key";
import { rotateColumns } from "../features/channel/sealed";
import { rotateSetting } from "../features/notice/setting";
import { rotateVapid, VAPID } from "../features/push/keys";
import { InstancesLive, SILENT_SECONDS, whileNoneLives } from "../features/wallet/instances";
import { CannotStart } from "../lib/cannot-start";
import type { Logger } from "../lib/log";
import { createSecrets, randomText, type Secrets } from "../lib/secrets";
import { CANARY, openSecrets } from "../wiring/secret-source";

export interface Rotated {
  tokens: number;
  channels: number;
  redemptions: number;
  options: number;
  /** System access tokens that no longer work. */
  access_tokens: number;
  /** Imported tokens that were never used: their keys no longer work. */
  unused_keys: number;
}

/** Rewrites everything under `next`. All or nothing. */
export function rotate(db: Db, old: Secrets, next: Secrets): Promise<Rotated> {
  const { t } = db;
  return db.tx(
    function* (q) {
      // A key that was imported and not used yet is known as a hash alone, which cannot be rewritten.
      const unused = yield* run(
        q
          .update(t.tokens)
          .set({ imported_hash: null })
          .where(eq(t.tokens.key_cipher, ""))
          .returning({ id: t.tokens.id }),
      );
      const tokens = yield* run(
        q.select({ id: t.tokens.id, cipher: t.tokens.key_cipher }).from(t.tokens).where(ne(t.tokens.key_cipher, "")),
      );
      for (const { id, cipher } of tokens) {
        const key = old.decrypt("relay-key", cipher);
        const anew = { key_cipher: next.encrypt("relay-key", key), key_hash: next.hash("relay-key", key) };
        yield* run(q.update(t.tokens).set(anew).where(eq(t.tokens.id, id)));
      }
      const channels = yield* run(
        q
          .select({
            id: t.channels.id,
            cipher: t.channels.key_cipher,
            setting: t.channels.setting,
            header_override: t.channels.header_override,
          })
          .from(t.channels),
      );
      for (const { id, cipher, ...settings } of channels) {
        const stored = old.decrypt("channel-key", cipher);
        // The demo channel's key is derived from the master secret.
        const key = stored === demoKey(old) ? demoKey(next) : stored;
        const anew = {
          key_cipher: next.encrypt("channel-key", key),
          key_hash: key ? next.hash("channel-key", key) : "",
          ...rotateColumns(settings, old, next),
        };
        yield* run(q.update(t.channels).set(anew).where(eq(t.channels.id, id)));
      }
      const keys = yield* run(
        q.select({ id: t.channel_keys.id, cipher: t.channel_keys.key_cipher }).from(t.channel_keys),
      );
      for (const { id, cipher } of keys) {
        const key = old.decrypt("channel-key", cipher);
        const anew = { key_cipher: next.encrypt("channel-key", key), key_hash: next.hash("channel-key", key) };
        yield* run(q.update(t.channel_keys).set(anew).where(eq(t.channel_keys.id, id)));
      }
      const redemptions = yield* run(
        q.select({ id: t.redemptions.id, cipher: t.redemptions.key_cipher }).from(t.redemptions),
      );
      for (const { id, cipher } of redemptions) {
        const code = old.decrypt("redemption-key", cipher);
        const anew = { key_cipher: next.encrypt("redemption-key", code), key_hash: next.hash("redemption-key", code) };
        yield* run(q.update(t.redemptions).set(anew).where(eq(t.redemptions.id, id)));
      }
      const users = yield* run(
        q.select({ id: t.users.id, setting: t.users.setting }).from(t.users).where(ne(t.users.setting, "")),
      );
      for (const { id, setting } of users) {
        const anew = rotateSetting(setting, old, next);
        if (anew !== undefined) yield* run(q.update(t.users).set({ setting: anew }).where(eq(t.users.id, id)));
      }
      const totps = yield* run(q.select({ user_id: t.totps.user_id, cipher: t.totps.secret_cipher }).from(t.totps));
      for (const { user_id, cipher } of totps) {
        yield* run(
          q
            .update(t.totps)
            .set({ secret_cipher: next.encrypt("totp", old.decrypt("totp", cipher)) })
            .where(eq(t.totps.user_id, user_id)),
        );
      }
      const options = (yield* run(q.select().from(t.options))).filter(
        ({ key }) => isOptionKey(key) && option(key).secret,
      );
      for (const { key, value } of options) {
        const anew = next.encrypt("option-secret", old.decrypt("option-secret", value));
        yield* run(q.update(t.options).set({ value: anew }).where(eq(t.options.key, key)));
      }
      const [vapid] = yield* run(q.select({ value: t.meta.value }).from(t.meta).where(eq(t.meta.name, VAPID)));
      if (vapid)
        yield* run(
          q
            .update(t.meta)
            .set({ value: rotateVapid(vapid.value, old, next) })
            .where(eq(t.meta.name, VAPID)),
        );
      const lost = yield* run(
        q
          .update(t.users)
          .set({ access_token_hash: null })
          .where(isNotNull(t.users.access_token_hash))
          .returning({ id: t.users.id }),
      );
      yield* run(q.delete(t.sessions));
      // Sealed under the old secret, and for a day at most.
      yield* run(q.delete(t.answered_requests));
      yield* run(
        q
          .update(t.meta)
          .set({ value: next.encrypt("canary", CANARY) })
          .where(eq(t.meta.name, "canary")),
      );
      return {
        tokens: tokens.length,
        channels: channels.length,
        redemptions: redemptions.length,
        options: options.length,
        access_tokens: lost.length,
        unused_keys: unused.length,
      };
    },
    { durable: true },
  );
}

/**
 * A running server would keep the old secret: its keys would be refused, and what it writes could never be decrypted.
 */
async function openExclusive(env: Env): Promise<Db> {
  try {
    return await openDb({ url: env.databaseUrl, pool: 3, exclusive: true, commandLimits: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY"))
      throw inUse(env.databaseUrl);
    throw error;
  }
}

export async function rotateSecret(env: Env, log: Logger, given: string): Promise<number> {
  if (!env.DATABASE_URL && !existsSync(env.databaseUrl)) {
    throw new CannotStart(`there is no database at ${env.databaseUrl}. Set WEIR_DATA_DIR or DATABASE_URL.`);
  }
  if (given && given.length < 16) throw new CannotStart("WEIR_NEW_SECRET must have at least 16 characters");
  const master = given || randomText(48);
  const db = await openExclusive(env);
  const old = await openSecrets(env, db, log);
  // The new secret file is written before the database changes and renamed after: at any failure one of the two files
  // fits.
  const path = join(env.dataDir, "secret");
  const inFile = !env.WEIR_SECRET && db.engine === "sqlite";
  if (inFile) writeFileSync(`${path}.new`, `${master}\n`, { mode: 0o600 });
  const done = await whileNoneLives(db, async () => {
    const rotated = await rotate(db, old, createSecrets(master));
    if (inFile) renameSync(`${path}.new`, path);
    else if (!env.WEIR_SECRET)
      await db.q.update(db.t.meta).set({ value: master }).where(eq(db.t.meta.name, "master_secret"));
    return rotated;
  }).catch((error: unknown) => {
    if (error instanceof InstancesLive) {
      const who = error.count === 1 ? "a running instance" : `${error.count} running instances`;
      throw new CannotStart(
        `the database is in use by ${who}. Stop every Weir first (one that was killed counts for ${SILENT_SECONDS} seconds); nothing was changed.`,
      );
    }
    throw error;
  });
  await db.close();
  console.log(
    `Written anew: ${done.tokens} API tokens, ${done.channels} channels, ${done.redemptions} redemption codes, ${done.options} secret options.`,
  );
  console.log(`All sessions have ended; ${done.access_tokens} system access tokens must be made again.`);
  if (done.unused_keys > 0)
    console.log(`${done.unused_keys} imported tokens were never used: their keys no longer work.`);
  if (env.WEIR_SECRET) console.log(given ? "Set WEIR_SECRET to the new secret." : `Set WEIR_SECRET=${master}`);
  return 0;
}
