/** CPU and memory of a process, from /proc (Linux). */
import { readFileSync } from "node:fs";

/** USER_HZ of every Linux we run on. */
const TICKS_PER_SECOND = 100;

/** utime + stime of all threads, milliseconds; resolution 10 ms. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may contain blanks: fields are counted after it. utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

export interface Memory {
  /** Resident, bytes. */
  rss: number;
  /** The part that is not backed by files. */
  anonymous: number;
}

export function memory(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0) * 1024;
  return { rss: field("VmRSS"), anonymous: field("RssAnon") };
}
