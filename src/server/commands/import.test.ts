import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newApiTables, writeFile } from "../../../tests/kit/import-sources";
import { HOOK_MS } from "../../../tests/kit/harness";
import { openDb } from "../db/client";
import { readEnv } from "../env";
import { createLogger } from "../lib/log";
import { audit } from "../features/wallet/audit";
import { startInstance } from "../features/wallet/instances";
import { exportCommand } from "./export";
import { importCommand } from "./import";

const folder = mkdtempSync(join(tmpdir(), "weir-import-command-"));
const source = join(folder, "one-api.db");
writeFile(source, newApiTables());
const log = createLogger({ level: "error", format: "json" });
const envOf = (name: string) =>
  readEnv({ WEIR_DATA_DIR: join(folder, name), WEIR_SECRET: "a secret of sixteen" }, () => {});

// The language of the terminal decides that of the report.
process.env.LC_ALL = "C";
const out = spyOn(console, "log").mockImplementation(() => {});
const err = spyOn(console, "error").mockImplementation(() => {});
afterEach(() => {
  out.mockClear();
  err.mockClear();
});
afterAll(() => {
  out.mockRestore();
  err.mockRestore();
  rmSync(folder, { recursive: true, force: true });
});
const said = (): string => out.mock.calls.flat().join("\n");

test(
  "dry run with open decisions: 2; the file that it prints answers them; the run; the same from its export",
  async () => {
    const env = envOf("one");
    expect(await importCommand(env, log, [source, "--dry-run"])).toBe(2);
    expect(said()).toContain("OPEN");
    const decisions = join(folder, "decisions.json");
    writeFileSync(decisions, /\{[^{}]*\}\s*$/.exec(said())?.[0] ?? "");
    out.mockClear();
    expect(await importCommand(env, log, [source])).toBe(2);
    out.mockClear();
    expect(await importCommand(env, log, [source, "--dry-run", "--json", "--decisions", decisions])).toBe(0);
    expect(JSON.parse(said())).toMatchObject({ system: "new-api", balances: { users: 8 } });
    out.mockClear();
    expect(await importCommand(env, log, [source, "--decisions", decisions, "--logs", "all"])).toBe(0);
    expect(said()).toContain("Users: 8 new");
    expect(said()).toContain("The books balance.");
    const file = join(folder, "export.jsonl");
    expect(await exportCommand(env, log, [file])).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8").split("\n")[0]).toContain('"version":1');
    await expect(exportCommand(env, log, [file])).rejects.toThrow(/exists/);
    out.mockClear();
    expect(await importCommand(envOf("two"), log, [file])).toBe(0);
    expect(said()).toContain("Users: 8 new");
    expect(await exportCommand(env, log, ["--format", "new-api", join(folder, "back.db")])).toBe(0);
    expect(said()).toContain("Must set a new password: nopass.");
    const db = await openDb({ url: env.databaseUrl });
    const acts = await db.q.select().from(db.t.audit_log).orderBy(db.t.audit_log.id);
    expect(acts.map((one) => [one.action, one.actor_name])).toEqual([
      ["data.import", "system"],
      ["data.export", "system"],
      ["data.export", "system"],
    ]);
    await db.close();
  },
  HOOK_MS * 2,
);

test(
  "killed by SIGKILL in the middle of the log, the books balance; the same command goes on and makes it whole",
  async () => {
    const tables = newApiTables();
    const [call] = tables.logs?.rows ?? [];
    for (let id = 100; id < 8100; id++) tables.logs?.rows.push({ ...call, id, quota: 0, content: "x".repeat(200) });
    const large = join(folder, "large.db");
    writeFile(large, tables);
    const env = envOf("killed");
    const decisions = join(folder, "killed.json");
    const answers = { "name:bob:4": "rename", "mail:alice@x.example": "last", debts: "zero", "type:type 58": "leave" };
    writeFileSync(decisions, JSON.stringify(answers));
    const command = [large, "--decisions", decisions, "--logs", "all"];
    mkdirSync(join(folder, "killed"));
    const db = await openDb({ url: env.databaseUrl });
    const child = Bun.spawn([process.execPath, "src/server/main.ts", "import", ...command], {
      cwd: join(import.meta.dir, "../../.."),
      env: { ...process.env, WEIR_DATA_DIR: join(folder, "killed"), WEIR_SECRET: "a secret of sixteen" },
      stdout: "ignore",
      stderr: "ignore",
    });
    while (child.exitCode === null && (await db.q.$count(db.t.logs)) < 2000) await Bun.sleep(20);
    child.kill("SIGKILL");
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    expect(await db.q.$count(db.t.logs)).toBeLessThan(8010);
    const findings: unknown[] = [];
    for await (const one of audit(db)) findings.push(one);
    expect(findings).toEqual([]);
    expect(await importCommand(env, log, command)).toBe(0);
    expect(said()).toContain("Users: 0 new");
    expect(said()).toContain("The books balance.");
    expect(await db.q.$count(db.t.logs)).toBe(8010);
    await db.close();
  },
  HOOK_MS * 3,
);

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends the run with its report, books that balance and exit code 1; the same command goes on",
  async (signal) => {
    const env = envOf(signal);
    const decisions = join(folder, `${signal}.json`);
    const answers = { "name:bob:4": "rename", "mail:alice@x.example": "last", debts: "zero", "type:type 58": "leave" };
    writeFileSync(decisions, JSON.stringify(answers));
    const command = [source, "--decisions", decisions, "--logs", "all"];
    const before = process.listenerCount(signal);
    const interrupt = (name: string | symbol): void => {
      if (name === signal) queueMicrotask(() => process.emit(signal));
    };
    process.on("newListener", interrupt);
    expect(await importCommand(env, log, command)).toBe(1);
    process.off("newListener", interrupt);
    expect(process.listenerCount(signal)).toBe(before);
    for (const line of ["Users: 8 new", "Log: 0 rows read", "Interrupted: the same command", "The books balance."])
      expect(said()).toContain(line);
    out.mockClear();
    expect(await importCommand(env, log, command)).toBe(0);
    expect(said()).toContain("Users: 0 new");
    expect(said()).toContain("10 kept");
  },
  HOOK_MS,
);

test(
  "a run beside a Weir that lives is refused and writes nothing",
  async () => {
    const env = envOf("three");
    const decisions = join(folder, "all.json");
    const answers = { "name:bob:4": "rename", "mail:alice@x.example": "last", debts: "zero", "type:type 58": "leave" };
    writeFileSync(decisions, JSON.stringify(answers));
    expect(await importCommand(env, log, [source, "--dry-run", "--decisions", decisions])).toBe(0);
    const db = await openDb({ url: env.databaseUrl });
    const instance = await startInstance(db, "alive", "0", { failed: () => {} });
    await expect(importCommand(env, log, [source, "--decisions", decisions])).rejects.toThrow(/stop every Weir first/);
    expect(await db.q.$count(db.t.users)).toBe(0);
    await instance.stop();
    await db.close();
  },
  HOOK_MS,
);

test("bad arguments, a missing file, a file that is no database and a broken decisions file are told in one line", async () => {
  const env = envOf("four");
  expect(await importCommand(env, log, [])).toBe(2);
  expect(await importCommand(env, log, [source, "--logs", "some"])).toBe(2);
  expect(await importCommand(env, log, [source, "--unknown"])).toBe(2);
  expect(await exportCommand(env, log, [])).toBe(2);
  const broken = join(folder, "broken.db");
  writeFileSync(broken, "not a database, but long enough to be read as one ".repeat(100));
  await expect(importCommand(env, log, [join(folder, "none.db")])).rejects.toThrow(/there is no file/);
  await expect(importCommand(env, log, [broken])).rejects.toThrow(/cannot be read as a SQLite database/);
  await expect(importCommand(env, log, ["env:NOTHING_IS_CALLED_SO"])).rejects.toThrow(/holds no address/);
  await expect(importCommand(env, log, [source, "--decisions", broken])).rejects.toThrow(/must be a JSON object/);
});
