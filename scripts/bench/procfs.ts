/** CPU and memory of a process, from /proc (Linux). */
import { readdirSync, readFileSync } from "node:fs";

/** USER_HZ of every Linux we run on. */
const TICKS_PER_SECOND = 100;

/** The fields of /proc/<pid>/stat after the name; field n of its manual page has the index n - 3. */
function statOf(pid: number | string): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may contain blanks: fields are counted after it.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** utime + stime of all threads, milliseconds; resolution 10 ms. */
export function cpuMs(pid: number): number {
  const fields = statOf(pid);
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** The same of a process and all its children, ended ones included (cutime, cstime). */
export function familyCpuMs(pid: number): number {
  const fields = statOf(pid);
  let ms = cpuMs(pid) + ((Number(fields[13]) + Number(fields[14])) * 1000) / TICKS_PER_SECOND;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (Number(statOf(name)[1]) === pid) ms += cpuMs(Number(name));
    } catch {
      // It ended meanwhile: its parent has its time.
    }
  }
  return ms;
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
