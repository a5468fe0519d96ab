/**
 * Password hashes: argon2id, off the main thread, two at a time (each takes 64 MB). bcrypt and LiteLLM's scrypt from
 * imports verify too; a right password of the latter is hashed again.
 */
import { scrypt, timingSafeEqual } from "node:crypto";
import { and, eq } from "drizzle-orm";
import type { Services } from "../../contracts/context";

/** `password_hash` of an account without a password: made by a provider's sign-in, or erased. */
export const NO_PASSWORD = "-";
export const hasPassword = (user: { password_hash: string }): boolean => user.password_hash !== NO_PASSWORD;

let running = 0;
const waiting: (() => void)[] = [];

async function limited<T>(work: () => Promise<T>): Promise<T> {
  if (running >= 2) await new Promise<void>((go) => waiting.push(go));
  running++;
  try {
    return await work();
  } finally {
    running--;
    waiting.shift()?.();
  }
}

export const hashPassword = (password: string): Promise<string> =>
  limited(() => Bun.password.hash(password, "argon2id"));

export const verifyPassword = (password: string, hash: string): Promise<boolean> =>
  limited(() =>
    hash.startsWith(SCRYPT) ? verifyScrypt(password, hash) : Bun.password.verify(password, hash).catch(() => false),
  );

/**
 * "scrypt:" and base64 of 16 bytes of salt with 32 of key; N 16384, r 8, p 1 (litellm 1.109.1, litellm/proxy).
 */
const SCRYPT = "scrypt:";

function verifyScrypt(password: string, hash: string): Promise<boolean> {
  const bytes = Buffer.from(hash.slice(SCRYPT.length), "base64");
  if (bytes.length !== 48) return Promise.resolve(false);
  return new Promise((resolve) => {
    scrypt(password, bytes.subarray(0, 16), 32, { N: 16_384, r: 8, p: 1 }, (error, key) =>
      resolve(!error && timingSafeEqual(key, bytes.subarray(16))),
    );
  });
}

/** After a right password: a hash of another system's kind becomes one of ours. */
export async function renewHash(
  { db }: Pick<Services, "db">,
  user: { id: number; password_hash: string },
  password: string,
): Promise<void> {
  if (!user.password_hash.startsWith(SCRYPT)) return;
  const { users } = db.t;
  await db.q
    .update(users)
    .set({ password_hash: await hashPassword(password) })
    .where(and(eq(users.id, user.id), eq(users.password_hash, user.password_hash)))
    .returning({ id: users.id });
}

let decoy: Promise<string> | undefined;

/** Takes as long as a real check: the time must not separate an unknown name from a wrong password. */
export async function verifyDummy(password: string): Promise<false> {
  decoy ??= hashPassword("nobody has this password");
  await verifyPassword(password, await decoy);
  return false;
}
