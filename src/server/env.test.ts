import { describe, expect, test } from "bun:test";
import { BadEnvironment, readEnv, variables } from "./env";

describe("the environment", () => {
  test("an empty environment gives every default", () => {
    const env = readEnv({});
    for (const [name, { fallback }] of Object.entries(variables))
      expect([name, env[name as keyof typeof env]]).toEqual([name, fallback]);
    expect(env.databaseUrl.endsWith("/data/weir.db")).toBe(true);
  });

  test("bad values refuse to start, all of them named at once, secrets not repeated", () => {
    const bad = () =>
      readEnv({
        PORT: "eighty",
        WEIR_LOG_LEVEL: "loud",
        WEIR_SECRET: "short-secret",
        DATABASE_URL: "mysql://u:planted@h/d",
      });
    expect(bad).toThrow(BadEnvironment);
    try {
      bad();
    } catch (error) {
      const text = String(error);
      expect(text).toContain('PORT must be a whole number from 0 to 65535, not "eighty"');
      expect(text).toContain("WEIR_LOG_LEVEL must be");
      expect(text).toContain("WEIR_SECRET must have at least 16 characters");
      expect(text).toContain("DATABASE_URL must begin with postgres://");
      expect(text).not.toContain("short-secret");
      expect(text).not.toContain("planted");
    }
  });

  test("a trusted proxy that is no address refuses to start, instead of failing at the first call", () => {
    expect(() => readEnv({ WEIR_TRUSTED_PROXIES: "nginx" })).toThrow("list of addresses and networks");
    expect(() => readEnv({ WEIR_TRUSTED_PROXIES: "10.0.0.0/40" })).toThrow(BadEnvironment);
    expect(readEnv({ WEIR_TRUSTED_PROXIES: "127.0.0.1, ::1 10.0.0.0/8" }).WEIR_TRUSTED_PROXIES).toEqual([
      "127.0.0.1",
      "::1",
      "10.0.0.0/8",
    ]);
  });

  test("an unknown WEIR_ name warns and does not stop", () => {
    const warnings: string[] = [];
    readEnv({ WEIR_PROT: "3000", OTHER: "x" }, (message) => warnings.push(message));
    expect(warnings).toEqual(["Unknown environment variable WEIR_PROT (see docs/generated/env.md)"]);
  });

  test("the root account's two variables belong together, and several workers need Postgres", () => {
    expect(() => readEnv({ WEIR_ROOT_USERNAME: "root" })).toThrow("must be set together");
    expect(() => readEnv({ WEIR_ROOT_USERNAME: "root", WEIR_ROOT_PASSWORD: "short" })).toThrow("8 to 72");
    expect(() => readEnv({ WEIR_WORKERS: "2" })).toThrow("needs DATABASE_URL");
    expect(readEnv({ WEIR_WORKERS: "2", DATABASE_URL: "postgres://h/d" }).WEIR_WORKERS).toBe(2);
  });
});
