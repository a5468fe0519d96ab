/** The machine as `weir doctor` sees it: data folder, disk, files, port. */
import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Env } from "../env";
import { checkOpenFiles, openFilesLimit } from "../lib/open-files";
import { checked, type Found, problemText } from "./found";

/** The journal takes 16 MB, the log about 1 KB a call. */
const LEAST_FREE = 200 * 2 ** 20;
const LOW_FREE = 2 * 2 ** 30;
/** File systems over a network, by the magic numbers of statfs(2): NFS, SMB, SMB 2, 9P. */
const REMOTE: ReadonlySet<number> = new Set([0x6969, 0xff534d42, 0xfe534d42, 0x01021997]);
/** Read or written by others than their owner. */
const OTHERS = 0o077;
const ANSWER_MS = 3000;

export const machineChecks = async (env: Env): Promise<Found[]> => [
  ...(await checked("data folder", () => dataFolder(env))),
  ...(await checked("disk", () => disk(env))),
  ...(await checked("open files", openFiles)),
  ...(await checked("port", () => port(env))),
];

/** The folder, or the nearest one above it that exists. */
function nearest(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

function dataFolder({ dataDir }: Env): Found[] {
  const check = "data folder";
  const there = nearest(dataDir);
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
  } catch (error) {
    const advice = "Let the user that runs Weir write in it, mount it for writing, or set WEIR_DATA_DIR.";
    return [{ check, state: "wrong", found: `${there} cannot be written: ${problemText(error)}`, advice }];
  }
  if (there !== dataDir) return [{ check, state: "ok", found: `${dataDir} is made at the first start` }];
  const found: Found[] = [{ check, state: "ok", found: dataDir }];
  // Keys and password hashes lie in these; in the folder itself others may at most see names.
  for (const name of ["secret", "weir.db"]) {
    const path = join(dataDir, name);
    const folderIsClosed = (statSync(dataDir).mode & OTHERS) === 0;
    if (!existsSync(path) || folderIsClosed || (statSync(path).mode & OTHERS) === 0) continue;
    const mode = (statSync(path).mode & 0o777).toString(8);
    found.push({
      check: "file permissions",
      state: name === "secret" ? "wrong" : "note",
      found: `${path} is open to other users of this machine (mode ${mode})`,
      advice: `chmod 700 ${dataDir}`,
    });
  }
  return found;
}

function disk({ dataDir, DATABASE_URL }: Env): Found[] {
  const check = "disk";
  const { bavail, bsize, blocks, type } = statfsSync(nearest(dataDir));
  const free = bavail * bsize;
  const size = `${(free / 2 ** 30).toFixed(1)} GB free of ${((blocks * bsize) / 2 ** 30).toFixed(1)} GB`;
  const found: Found[] = [
    free >= LOW_FREE
      ? { check, state: "ok", found: size }
      : {
          check,
          state: free < LEAST_FREE ? "wrong" : "note",
          found: size,
          advice: "Make room, or keep the log for fewer days (LogRetentionDays). A full disk refuses calls with 503.",
        },
  ];
  if (REMOTE.has(type) && !DATABASE_URL)
    found.push({
      check,
      state: "wrong",
      found: "the data folder lies on a network file system, whose locks SQLite cannot trust",
      advice: "Use a local disk, or Postgres (DATABASE_URL).",
    });
  return found;
}

function openFiles(): Found[] {
  const check = "open files";
  const warning = checkOpenFiles();
  if (warning !== undefined) return [{ check, state: "note", found: warning }];
  const limit = openFilesLimit();
  return [{ check, state: "ok", found: limit === Infinity ? "no limit is known" : `${limit} at once` }];
}

/** A server of Weir may have it, which says how it is. */
async function port({ PORT, WEIR_HOST }: Env): Promise<Found[]> {
  const check = "port";
  try {
    const probe = Bun.listen({ hostname: WEIR_HOST, port: PORT, socket: { data: () => {} } });
    probe.stop(true);
    return [{ check, state: "ok", found: `${PORT} is free: no server runs there` }];
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code !== "EADDRINUSE") {
      const advice = "Set PORT and WEIR_HOST to what this user may listen on.";
      return [{ check, state: "wrong", found: `${WEIR_HOST}:${PORT}: ${problemText(error)}`, advice }];
    }
  }
  const host = ["0.0.0.0", "::"].includes(WEIR_HOST) ? "127.0.0.1" : WEIR_HOST;
  const name = host.includes(":") ? `[${host}]` : host;
  const answer = await fetch(`http://${name}:${PORT}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) })
    .then((response) => response.json() as Promise<unknown>)
    .catch(() => undefined);
  if (typeof answer !== "object" || answer === null || !("checks" in answer))
    return [
      {
        check,
        state: "wrong",
        found: `${PORT} is taken by another program`,
        advice: "Set PORT to another one, or end that program.",
      },
    ];
  const checks = Object.entries(answer.checks as Record<string, string>);
  const bad = checks.filter(([, said]) => !["ok", "serving"].includes(said)).map(([what, said]) => `${what}: ${said}`);
  if (bad.length === 0) return [{ check, state: "ok", found: `a Weir serves on ${PORT}, and is ready` }];
  return [{ check, state: "wrong", found: `the Weir on ${PORT} is not ready: ${bad.join("; ")}` }];
}
