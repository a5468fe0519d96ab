/**
 * /readyz: the database answers, the schema is ours, the fetch limit is raised, and we are not draining. It also says how old the
 * oldest reading of options and channels is. That decides nothing: what keeps one instance from reading keeps most likely
 * all of them, and a balancer that turned away from all would end the service over an old price.
 */
import { eq } from "drizzle-orm";
import type { Bus } from "./cluster/types";
import type { Services } from "./context";
import { SCHEMA_RELEASE } from "./db/migrate";

export interface Ready {
  ready: boolean;
  checks: Record<string, string>;
  /** 60 at most while changes can be read. */
  cache_age_seconds: number;
}

export interface Readiness {
  check(): Promise<Ready>;
  /** From now on 503: a balancer sends new calls elsewhere while running ones finish. */
  drain(): void;
  readonly draining: boolean;
}

/** Bun shares 256 fetches per process unless told otherwise before start (facts/stack.md 3). */
const LEAST_FETCHES = 1024;

export function createReadiness({ db, cluster }: Pick<Services, "db"> & { cluster: { bus: Pick<Bus, "age"> } }): Readiness {
  let draining = false;

  /** A later release may migrate the database under a running process, by one release and no further. */
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
        schema().then((found) => ((checks.migrations = found), "ok"), () => "unreachable"),
        Bun.sleep(2000).then(() => "no answer in 2 s"),
      ]);
      const limit = Number(process.env.BUN_CONFIG_MAX_HTTP_REQUESTS ?? 256);
      checks.fetch_limit = limit >= LEAST_FETCHES ? "ok" : `only ${limit}: set BUN_CONFIG_MAX_HTTP_REQUESTS=65535`;
      checks.state = draining ? "draining" : "serving";
      const sound = [checks.database, checks.migrations, checks.fetch_limit].every((found) => found === "ok");
      return { ready: sound && !draining, checks, cache_age_seconds: Math.floor(cluster.bus.age() / 1000) };
    },
    drain: () => {
      draining = true;
    },
    get draining() {
      return draining;
    },
  };
}
