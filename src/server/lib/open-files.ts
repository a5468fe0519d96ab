/** How many files and connections the process may open at once (RLIMIT_NOFILE). */
import { readFileSync } from "node:fs";
import { CannotStart } from "./cannot-start";

/** Databases, journal, listener and threads take about 50; a call takes two, its caller's and its channel's. */
const LEAST = 256;
/** What a busy server needs: about 2,000 calls at once. */
const ADVISED = 4096;

/** The limit of this process; Infinity where it is not known or there is none. */
export function openFilesLimit(limits: string = ownLimits()): number {
  const soft = /^Max open files +(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? Infinity : Number(soft);
}

/** Linux, proc(5): /proc/pid/limits. */
function ownLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}

/**
 * Throws CannotStart for a limit with which a few callers would use up every descriptor; returns a warning for one that
 * is low.
 */
export function checkOpenFiles(limit: number = openFilesLimit()): string | undefined {
  const advice = `Raise the limit to ${ADVISED} or more (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of Docker).`;
  if (limit < LEAST) throw new CannotStart(`this process may open only ${limit} files and connections. ${advice}`);
  return limit < ADVISED
    ? `this process may open only ${limit} files and connections: about ${Math.floor((limit - 50) / 2)} calls at once. ${advice}`
    : undefined;
}
