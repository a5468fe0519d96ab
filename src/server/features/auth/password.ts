/**
 * Password hashes: argon2id, off the main thread, two at a time (each takes 64 MB). bcrypt from imports verifies too.
 */

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
  limited(() => Bun.password.verify(password, hash).catch(() => false));

let decoy: Promise<string> | undefined;

/** Takes as long as a real check: the time must not separate an unknown name from a wrong password. */
export async function verifyDummy(password: string): Promise<false> {
  decoy ??= hashPassword("nobody has this password");
  await verifyPassword(password, await decoy);
  return false;
}
