import { describe, expect, test } from "bun:test";
import { createSecrets, randomText, sameText, WrongSecret } from "./secrets";

const secrets = createSecrets("master secret number one");

describe("secrets", () => {
  test("an encrypted text decrypts to itself, differs each time, and '' stays ''", () => {
    const first = secrets.encrypt("channel-key", "sk-上游");
    expect(secrets.decrypt("channel-key", first)).toBe("sk-上游");
    expect(secrets.encrypt("channel-key", "sk-上游")).not.toBe(first);
    expect(first).not.toContain("sk-");
    expect(secrets.encrypt("channel-key", "")).toBe("");
    expect(secrets.decrypt("channel-key", "")).toBe("");
  });

  test("a text encrypted for one purpose cannot be read for another, nor under another master secret", () => {
    const cipher = secrets.encrypt("channel-key", "x");
    expect(() => secrets.decrypt("relay-key", cipher)).toThrow(WrongSecret);
    expect(() => createSecrets("master secret number two").decrypt("channel-key", cipher)).toThrow(WrongSecret);
    expect(secrets.hash("session", "t")).not.toBe(secrets.hash("access-token", "t"));
  });

  test("a changed or foreign text is refused", () => {
    const cipher = secrets.encrypt("channel-key", "x");
    for (const bad of [
      `${cipher}A`,
      cipher.slice(0, -2),
      cipher.replace("k1.", "k9."),
      "k1..",
      "plain",
      "k1.AAAA.AAAA",
    ]) {
      expect(() => secrets.decrypt("channel-key", bad)).toThrow(WrongSecret);
    }
  });

  test("random texts use the whole alphabet, evenly, and do not repeat", () => {
    const text = randomText(62_000);
    const counts = Map.groupBy(text, (c) => c);
    expect(counts.size).toBe(62);
    for (const [, found] of counts) expect(Math.abs(found.length - 1000)).toBeLessThan(250);
    expect(new Set(Array.from({ length: 1000 }, () => randomText(12))).size).toBe(1000);
  });

  test("texts are compared as a whole", () => {
    expect(sameText("abc", "abc")).toBe(true);
    expect(sameText("abc", "abcd")).toBe(false);
    expect(sameText("", "")).toBe(true);
  });
});
