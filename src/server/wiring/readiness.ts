/**
 * /readyz: the database answers, the schema fits, the data folder can be written, the journal has room, the fetch limit
 * is raised, and the server is not draining. It also reports the age of the oldest reading of options and channels.
 * That decides nothing: what keeps one instance from reading most likely keeps all of them, and a balancer that turned
 * away from all would end the service over an old price.
 */
import { open, rm } from "node:fs/promises";
import { eq } from "drizzle-orm";
import type { Bus } from "../cluster/types";
import type { Services } from "../contracts/context";
import { SCHEMA_RELEASE } from "../db/migrate";
import type { Instance } from "../features/wallet/instances";
import type { SettleQueue } from "../contracts/settle-queue";

export interface Ready {
  ready: boolean;
  checks: Record<string, string>;
  /** 60 at most while changes can be read. */
  cache_age_seconds: number;
  /** Of this process before the database's; beyond MOST_AHEAD its timers are stopped. */
  clock_ahead_seconds: number;
}

export interface Readiness {
  check(): Promise<Ready>;
  /** From now on 503: a balancer sends new calls elsewhere while running ones finish. */
  drain(): void;
  readonly draining: boolean;
  /** The operator drains this instance: 503 while `on`. */
  pause(on: boolean): void;
}

/** Bun shares 256 fetches per process unless its environment says otherwise before the start (lib/reexec.ts). */
const LEAST_FETCHES = 1024;

/** The disk is probed at most this often, and a check waits for it no longer than PROBE_MS. */
const PROBE_EVERY_MS = 3_000;
const PROBE_MS = 2_000;
/** More than a full file system may still have free for a single block. */
const PROBE_BYTES = 64 * 1024;
const NO_ROOM = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/**
 * Whether the folder of `path` can be written: writes the file, waits for the disk, removes it. The result is kept for
 * PROBE_EVERY_MS.
 */
function createDiskProbe(path: string): () => Promise<string> {
  let last: { at: number; found: Promise<string> } | undefined;
  const attempt = async (): Promise<string> => {
    try {
      const file = await open(path, "w", 0o600);
      try {
        await file.write(Buffer.alloc(PROBE_BYTES));
        await file.sync();
      } finally {
        await file.close();
      }
      return "ok";
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
      return NO_ROOM.has(code) ? `disk full (${code})` : `the data folder cannot be written (${code})`;
    } finally {
      await rm(path, { force: true }).catch(() => undefined);
    }
  };
  return () => {
    const now = performance.now();
    if (!last || now - last.at > PROBE_EVERY_MS) last = { at: now, found: attempt() };
    return Promise.race([last.found, Bun.sleep(PROBE_MS).then(() => "the data folder takes no write in 2 s")]);
  };
}

interface ReadinessParts {
  db: Services["db"];
  cluster: { bus: Pick<Bus, "age"> };
  settles: Pick<SettleQueue, "full" | "path">;
  instance: Pick<Instance, "clockAhead">;
}

export function createReadiness({ db, cluster, settles, instance }: ReadinessParts): Readiness {
  let draining = false;
  let paused = false;
  const probe = createDiskProbe(settles.path.replace(/\.journal$/, ".probe"));

  /** A later release may migrate the database of a running process, by one release and no further. */
  async function schema(): Promise<string> {
    const { meta } = db.t;
    const [row] = await db.q.select({ value: meta.value }).from(meta).where(eq(meta.name, "schema_release"));
    const found = Number(row?.value ?? 0);
    const serves = found === SCHEMA_RELEASE || found === SCHEMA_RELEASE + 1;
    return serves ? "ok" : `schema ${found}, this program serves ${SCHEMA_RELEASE} and ${SCHEMA_RELEASE + 1}`;
  }

  return {
    check: async () => {
      const checks: Record<string, string> = {};
      checks.migrations = "unknown";
      checks.database = await Promise.race([
        schema().then(
          (found) => ((checks.migrations = found), "ok"),
          () => "unreachable",
        ),
        Bun.sleep(2000).then(() => "no answer in 2 s"),
      ]);
      checks.disk = await probe();
      checks.journal = settles.full() ? "full: too many calls wait for their settlement" : "ok";
      const limit = Number(process.env.BUN_CONFIG_MAX_HTTP_REQUESTS ?? 256);
      checks.fetch_limit = limit >= LEAST_FETCHES ? "ok" : `only ${limit}: set BUN_CONFIG_MAX_HTTP_REQUESTS=65535`;
      checks.state = draining || paused ? "draining" : "serving";
      const sound = [checks.database, checks.migrations, checks.disk, checks.journal, checks.fetch_limit].every(
        (found) => found === "ok",
      );
      return {
        ready: sound && !draining && !paused,
        checks,
        cache_age_seconds: Math.floor(cluster.bus.age() / 1000),
        clock_ahead_seconds: instance.clockAhead(),
      };
    },
    drain: () => {
      draining = true;
    },
    pause: (on) => {
      paused = on;
    },
    get draining() {
      return draining;
    },
  };
}
