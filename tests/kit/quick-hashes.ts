/**
 * Loaded before every test file and every server of a test: argon2id takes 64 MB and a fifth of a second of a core by
 * default, and a test hashes and checks passwords by the dozen. The algorithm stays, at its lowest cost; only
 * password.test.ts takes the real cost back.
 */
type Hash = typeof Bun.password.hash;

export const realHash: Hash = Bun.password.hash.bind(Bun.password);
export const quickHash: Hash = (password, algorithm) =>
  realHash(
    password,
    algorithm === undefined || algorithm === "argon2id"
      ? { algorithm: "argon2id", memoryCost: 8, timeCost: 1 }
      : algorithm,
  );

Bun.password.hash = quickHash;
