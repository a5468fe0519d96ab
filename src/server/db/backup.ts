/** Copies of a SQLite database: made beside a running server, checked, and restored when none runs. */
import { Database } from "bun:sqlite";
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { CannotStart } from "../lib/cannot-start";
import { SCHEMA_RELEASE, SchemaTooNew } from "./migrate";

/** SQLite's companion files of a database. */
const COMPANIONS = ["-wal", "-shm", "-journal"];
const OWNER_ONLY = 0o600;

/** Row of `meta`: epoch seconds of the last copy made beside a server. */
export const LAST_BACKUP = "last_backup";

export interface CopyFacts {
  schema_release: number;
  /** The ciphertext that only the right master secret decrypts; "" when no server ever started on the database. */
  canary: string;
  users: number;
}

/** Writes a whole, compact copy of the database at `from` to `to`, online: writers continue. `to` must not exist. */
export function backUp(from: string, to: string): CopyFacts {
  if (existsSync(to)) throw new CannotStart(`${to} exists already; a backup never overwrites a file.`);
  const facts = finish(to, (part) => {
    writeFileSync(part, "", { mode: OWNER_ONLY, flag: "wx" });
    const source = new Database(from, { readonly: true });
    try {
      source.exec("PRAGMA busy_timeout=10000");
      source.query("VACUUM INTO ?").run(part);
    } finally {
      source.close();
    }
  });
  noteBackup(from);
  return facts;
}

/** For `weir doctor`. A database that cannot be written is saved all the same. */
function noteBackup(path: string): void {
  const source = new Database(path);
  try {
    source.exec("PRAGMA busy_timeout=1000");
    source
      .query(
        "INSERT INTO meta (name, value) VALUES (?, unixepoch()) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      )
      .run(LAST_BACKUP);
  } catch {
    // the copy is made
  } finally {
    source.close();
  }
}

/**
 * Calls `make` for a temporary file beside `to`, checks the result, and renames it only when it is whole and on disk.
 */
function finish(to: string, make: (part: string) => void): CopyFacts {
  // A unique name: two backups at a time each check their own file, and a file that a killed one left behind is never
  // reused.
  const part = `${to}.${process.pid}-${Date.now()}.part`;
  try {
    make(part);
    const facts = inspect(part);
    toDisk(part);
    renameSync(part, to);
    toDisk(dirname(to));
    return facts;
  } catch (error) {
    for (const name of [part, ...COMPANIONS.map((end) => part + end)]) rmSync(name, { force: true });
    if (error instanceof CannotStart) throw error;
    throw new CannotStart(`${to} could not be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Reads all of a copy. Throws CannotStart when it is damaged, no database of Weir, or of a later release. */
export function inspect(path: string): CopyFacts {
  let copy: Database | undefined;
  try {
    copy = new Database(path, { readonly: true });
    const broken = copy
      .query<{ integrity_check: string }, []>("PRAGMA integrity_check(3)")
      .all()
      .map((row) => row.integrity_check);
    if (broken.join() !== "ok") throw new CannotStart(`${path} is damaged: ${broken.join("; ")}`);
    if (!copy.query("SELECT 1 FROM sqlite_master WHERE name = 'meta'").get())
      throw new CannotStart(`${path} is not a database of Weir.`);
    const meta = copy.query<{ value: string }, [string]>("SELECT value FROM meta WHERE name = ?");
    const schema_release = Number(meta.get("schema_release")?.value ?? 0);
    if (schema_release > SCHEMA_RELEASE + 1) throw new SchemaTooNew(schema_release);
    const users = copy.query<{ n: number }, []>("SELECT count(*) AS n FROM users").get()?.n ?? 0;
    return { schema_release, canary: meta.get("canary")?.value ?? "", users };
  } catch (error) {
    if (error instanceof CannotStart) throw error;
    throw new CannotStart(
      `${path} cannot be read as a database of Weir: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    copy?.close();
  }
}

/**
 * Puts a copy of `backup` in the place of the database at `path`. Returns the path under which the previous one was
 * kept (undefined: there was none). Throws CannotStart, with nothing changed, while any process has that database open.
 * Sessions of the copy end: among them are some that were signed out since.
 */
export function restoreInto(path: string, backup: string, now: Date): string | undefined {
  if (COMPANIONS.some((end) => existsSync(backup + end))) {
    throw new CannotStart(
      `${backup} is in use (a file ${backup}-wal is beside it). Make a backup of it with \`weir backup\` first.`,
    );
  }
  // Before the copy, so that a refusal costs nothing; and again right before the files are exchanged.
  refuseWhileOpen(path);
  const stamp = now.toISOString().replace(/[:.]/g, "-");
  const restored = `${path}.restored-${stamp}`;
  finish(restored, (part) => {
    copyFileSync(backup, part);
    const copy = new Database(part, { readwrite: true });
    try {
      copy.exec("DELETE FROM sessions");
    } finally {
      copy.close();
    }
  });
  try {
    refuseWhileOpen(path);
    const kept = existsSync(path) ? setAside(path, stamp) : undefined;
    renameSync(restored, path);
    toDisk(dirname(path));
    return kept;
  } catch (error) {
    rmSync(restored, { force: true });
    throw error;
  }
}

function setAside(path: string, stamp: string): string {
  const folder = join(dirname(path), "backups");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kept = join(folder, `before-restore-${stamp}.db`);
  // A database that was closed well has no companion files; those of a damaged one stay with it.
  for (const end of ["", ...COMPANIONS]) if (existsSync(path + end)) renameSync(path + end, kept + end);
  return kept;
}

/** The error of a command that needs the database alone, while a server has it open. */
export const inUse = (what: string): CannotStart =>
  new CannotStart(`${what} is in use. Stop Weir first; nothing was changed.`);

/**
 * Leaving WAL mode needs exclusive access: any other process that has the database open, busy or not, holds a lock
 * against it. The write-ahead log is then part of the file, so the file alone is the whole database.
 */
function refuseWhileOpen(path: string): void {
  if (!existsSync(path)) return;
  let database: Database | undefined;
  try {
    database = new Database(path, { readwrite: true });
    database.exec("PRAGMA busy_timeout=1000; PRAGMA journal_mode=DELETE");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code.startsWith("SQLITE_BUSY")) throw inUse(path);
    // Damaged, or no database at all: a reason to restore, not to refuse.
  } finally {
    database?.close();
  }
}

function toDisk(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
