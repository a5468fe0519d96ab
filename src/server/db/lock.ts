/**
 * A lock between processes that ends with its process, even a killed one: SQLite's own, on a file to which nothing is
 * written.
 */
import { Database } from "bun:sqlite";

export interface FileLock {
  release(): void;
}

/** Takes the lock of the file, which is created where it is missing; undefined while another process has it. */
export function lockFile(path: string): FileLock | undefined {
  const lock = new Database(path, { create: true });
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return { release: () => lock.close() };
  } catch (error) {
    lock.close();
    if (error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
}
