import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOOK_MS } from "../../../tests/kit/harness";
import { openDb } from "../db/client";
import { readEnv } from "../env";
import { createLogger } from "../lib/log";
import { configCommand } from "./config";

const folder = mkdtempSync(join(tmpdir(), "weir-config-command-"));
const env = readEnv({ WEIR_DATA_DIR: folder, WEIR_SECRET: "a secret of sixteen" }, () => {});
const log = createLogger({ level: "error", format: "json" });
const out = spyOn(console, "log").mockImplementation(() => {});
const err = spyOn(console, "error").mockImplementation(() => {});
afterAll(() => {
  out.mockRestore();
  err.mockRestore();
  rmSync(folder, { recursive: true, force: true });
});
const config = (...args: string[]) => configCommand(env, log, args);

test(
  "diff ends with 2 where there is a difference, and with 0 after an apply; a dry run changes nothing",
  async () => {
    await expect(config("export")).rejects.toThrow(/there is no database/);
    await (await openDb({ url: env.databaseUrl })).close();
    const secret = join(folder, "key");
    writeFileSync(secret, "sk-planted-key-of-a-file\n");
    const file = join(folder, "weir.yaml");
    const text = `version: 1\nchannels: [{name: a, type: openai, models: [m], key: {file: ${secret}}}]\n`;
    writeFileSync(file, text);
    expect(await config("diff", file)).toBe(2);
    expect(await config("apply", file, "--dry-run")).toBe(2);
    expect(await config("diff", file)).toBe(2);
    expect(await config("apply", file)).toBe(0);
    expect(await config("diff", file)).toBe(0);
    expect(await config("apply", file, "--json")).toBe(0);
    const written = join(folder, "out.yaml");
    expect(await config("export", written)).toBe(0);
    expect(statSync(written).mode & 0o777).toBe(0o600);
    expect(readFileSync(written, "utf8")).toContain("name: a");
    await expect(config("export", written)).rejects.toThrow(/exists/);
    writeFileSync(file, text.replace("openai", "nothing"));
    await expect(config("apply", file)).rejects.toThrow(/channels\[0\]\.type/);
    for (const args of [[], ["diff"], ["apply"], ["other", file], ["diff", file, file], ["export", "--nope"]])
      expect(await config(...args)).toBe(1);
    expect(JSON.stringify([...out.mock.calls, ...err.mock.calls])).not.toContain("sk-planted");
  },
  HOOK_MS,
);
