/** A damaged SQLite file at the start: one line says what it is, and how to get back; following it brings Weir back. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { startWeir, type Weir } from "../kit/weir";

const MAIN = join(import.meta.dir, "../../src/server/main.ts");

/** Runs `weir` with these arguments on the same data; returns its exit code and output. */
function command(weir: Weir, ...args: string[]): { code: number; output: string } {
  const { PATH = "", HOME = "" } = process.env;
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, MAIN, ...args], {
    env: { PATH, HOME, WEIR_DATA_DIR: weir.dataDir, WEIR_LOG_LEVEL: "silent" },
  });
  return { code: exitCode, output: stdout.toString() + stderr.toString() };
}

/** Ways in which a file is found damaged. */
const damages: readonly [what: string, damage: (path: string) => void][] = [
  ["is no database any more", (path) => writeFileSync(path, "x".repeat(100_000))],
  [
    "has pages of noise",
    (path) => {
      const file = openSync(path, "r+");
      const noise = Buffer.alloc(statSync(path).size - 4096, 0xa5);
      writeSync(file, noise, 0, noise.length, 4096);
    },
  ],
  ["is cut off", (path) => writeFileSync(path, readFileSync(path).subarray(0, 20_000))],
];

test("a database that is damaged in any way stops the start with advice, and the copy it names brings Weir back", async () => {
  await using weir = await startWeir({ child: true });
  const { id } = await weir.newToken({ name: "kept" });
  const database = join(weir.dataDir, "weir.db");
  const backups = join(weir.dataDir, "backups");
  mkdirSync(backups, { recursive: true });
  expect(command(weir, "backup", join(backups, "nightly.db"))).toMatchObject({ code: 0 });
  await weir.process?.stop();
  await weir.closeDb();
  for (const [what, damage] of damages) {
    for (const end of ["-wal", "-shm"]) rmSync(database + end, { force: true });
    damage(database);

    for (const args of [[], ["audit"]]) {
      const { code, output } = command(weir, ...args);
      expect([what, code]).toEqual([what, 1]);
      expect(output).toStartWith(`weir cannot start: the database ${database} is damaged (SQLITE_`);
      expect(output.trim().split("\n")).toHaveLength(1);
      expect(output).toContain("`weir restore FILE`");
      expect(output).toMatch(/The newest copies in .*: .*nightly\.db/);
    }

    expect([what, command(weir, "restore", join(backups, "nightly.db"))]).toMatchObject([what, { code: 0 }]);
    expect([what, command(weir, "audit")]).toMatchObject([what, { code: 0 }]);
  }
  await weir.restart();
  expect(await weir.root.ok("GET", `/api/token/${id}`)).toMatchObject({ name: "kept" });
}, 120_000);

test("without a copy the advice is SQLite's own recovery", async () => {
  await using weir = await startWeir({ child: true });
  await weir.process?.stop();
  await weir.closeDb();
  const database = join(weir.dataDir, "weir.db");
  for (const end of ["-wal", "-shm"]) rmSync(database + end, { force: true });
  writeFileSync(database, "x".repeat(100_000));
  expect(existsSync(join(weir.dataDir, "backups"))).toBe(false);
  const { code, output } = command(weir);
  expect(code).toBe(1);
  expect(output).toContain(`sqlite3 ${database} .recover`);
}, 60_000);
