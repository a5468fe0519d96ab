import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { auditCommand } from "./commands/audit";
import { readEnv } from "./env";
import { CannotStart } from "./lib/cannot-start";
import { createLogger } from "./lib/log";
import { openServices } from "./services";

const folder = mkdtempSync(join(tmpdir(), "weir-services-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const why = async (settings: Record<string, string>): Promise<unknown> =>
  openServices(readEnv(settings), createLogger({ level: "silent", format: "json" })).catch((error: unknown) => error);

test("a data folder, a database file and a Postgres that cannot be opened are told in one line", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  mkdirSync(join(folder, "broken"));
  writeFileSync(join(folder, "broken/weir.db"), "this is no database, whatever it is called");
  for (const [settings, words] of [
    [{ WEIR_DATA_DIR: join(file, "data") }, "the data folder cannot be made"],
    [{ WEIR_DATA_DIR: join(folder, "broken") }, "cannot be opened"],
    [{ WEIR_DATA_DIR: folder, DATABASE_URL: "postgres://someone:planted@127.0.0.1:1/x" }, "Postgres"],
  ] as const) {
    const error = await why(settings);
    expect(error).toBeInstanceOf(CannotStart);
    expect(String(error)).toContain(words);
    expect(String(error)).not.toContain("planted");
  }
});

test("weir audit does not make an empty database where there is none, and call its books balanced", async () => {
  const env = readEnv({ WEIR_DATA_DIR: join(folder, "mistyped") });
  await expect(auditCommand(env)).rejects.toThrow("there is no database");
});
