/** A lock between processes: a folder that only one can create, with its owner's pid inside. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Runs `work` alone among all processes that use `folder`; a dead owner's lock is taken over. */
export async function withLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      mkdirSync(folder);
      break;
    } catch {
      removeIfOrphaned(folder);
      await Bun.sleep(20 + Math.random() * 30);
    }
  }
  try {
    writeFileSync(join(folder, "pid"), String(process.pid));
    return await work();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function removeIfOrphaned(folder: string): void {
  try {
    const age = Date.now() - statSync(folder).mtimeMs;
    if (age > 2000 && !isAlive(Number(readFileSync(join(folder, "pid"), "utf8"))))
      rmSync(folder, { recursive: true, force: true });
  } catch {
    // It has just been removed, or its owner has not written its pid yet.
  }
}
