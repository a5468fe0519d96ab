/**
 * The data folder of a serving process: it can be written, and on SQLite no other process serves from it. SQLite means
 * one process: its caches, limits and sweeps know of no other. Operators' commands may run beside it.
 */
import { accessSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type FileLock, lockFile } from "../db/lock";
import type { Env } from "../env";
import { CannotStart } from "../lib/cannot-start";

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Makes the folder where it is missing. Throws CannotStart when it cannot be made or written. */
export function makeDataFolder({ dataDir }: Pick<Env, "dataDir">): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CannotStart(`the data folder cannot be made: ${reasonOf(error)}. Set WEIR_DATA_DIR.`);
  }
  try {
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    throw notWritable(dataDir, error);
  }
}

/**
 * Takes the folder for this process, until the lock is released or the process ends. Throws CannotStart when another
 * process serves from it. With Postgres any number of processes may share a folder: undefined.
 */
export function lockDataFolder(env: Pick<Env, "dataDir" | "DATABASE_URL">): FileLock | undefined {
  makeDataFolder(env);
  if (env.DATABASE_URL) return undefined;
  let lock: FileLock | undefined;
  try {
    lock = lockFile(join(env.dataDir, "weir.lock"));
  } catch (error) {
    throw notWritable(env.dataDir, error);
  }
  if (!lock)
    throw new CannotStart(
      `another Weir serves from the data folder ${env.dataDir}, and SQLite means one process. ` +
        "Stop that one first, give this one a folder of its own (WEIR_DATA_DIR), or use Postgres (DATABASE_URL).",
    );
  return lock;
}

const notWritable = (dataDir: string, error: unknown): CannotStart =>
  new CannotStart(
    `the data folder ${dataDir} cannot be written: ${reasonOf(error)}. ` +
      "Let the user that runs Weir write in it, mount it for writing, or set WEIR_DATA_DIR to another one.",
  );
