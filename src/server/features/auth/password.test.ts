import { afterEach, expect, test } from "bun:test";
import { quickHash, realHash } from "../../../../tests/kit/quick-hashes";
import { hashPassword, verifyPassword } from "./password";

afterEach(() => {
  Bun.password.hash = quickHash;
});

test("A password is hashed by argon2id with 64 MB and two passes", async () => {
  Bun.password.hash = realHash;
  const hash = await hashPassword("correct-horse-9");
  expect(hash).toStartWith("$argon2id$v=19$m=65536,t=2,p=1$");
  expect(await verifyPassword("correct-horse-9", hash)).toBe(true);
  expect(await verifyPassword("correct-horse-8", hash)).toBe(false);
});

test("The other tests hash by the same algorithm at a low cost", async () => {
  const hash = await hashPassword("correct-horse-9");
  expect(hash).toStartWith("$argon2id$v=19$m=8,t=1,p=1$");
  expect(await verifyPassword("correct-horse-9", hash)).toBe(true);
  expect(await verifyPassword("correct-horse-8", hash)).toBe(false);
});
