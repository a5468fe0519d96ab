/**
 * How instances agree: in-process on SQLite, on Postgres where there may be several; Redis counts where it is set.
 */
import type { Db } from "../db/types";
import type { Env } from "../env";
import type { Logger } from "../lib/log";
import { localBus, localCounter, localLease } from "./local";
import { createListeners, type ListenersOptions } from "./listeners";
import { postgresBus, postgresLease } from "./postgres";
import { postgresCounter } from "./postgres-counter";
import { redisCounter } from "./redis";
import type { Cluster, Counter } from "./types";

export interface ClusterOptions {
  db: Pick<Db, "driver" | "t">;
  env: Pick<Env, "REDIS_URL">;
  log: Pick<Logger, "info" | "warn" | "error">;
  /** Milliseconds; never set back. */
  now(): number;
}

/** Close in reverse: counter, lease (frees its leases), bus; before the database. */
export async function openCluster({ db, env, log, now }: ClusterOptions): Promise<Cluster> {
  const instanceId = crypto.randomUUID();
  const { postgres } = db.driver;
  const local = localCounter(now);
  const shared = postgres ? postgresCounter({ client: postgres, instanceId, local }) : local;
  const counter = openCounter(env.REDIS_URL, log, shared);
  const options: ListenersOptions = {
    now,
    failed: (topic, err) => log.error({ topic, err }, "a change could not be read; it is tried again every second"),
    recovered: (topic) => log.info({ topic }, "the change was read"),
  };
  if (!postgres) return { instanceId, bus: localBus(options), lease: localLease(), counter };
  let reachable = true;
  const listeners = createListeners(options);
  const bus = await postgresBus({
    client: postgres,
    versions: db.t.versions,
    listeners,
    instanceId,
    now,
    failed: (error) => {
      if (reachable) log.warn({ err: error }, "the database did not answer; caches are trusted for 5 s");
      reachable = false;
    },
    answered: () => {
      if (!reachable) log.info("the database answers again");
      reachable = true;
    },
  });
  const lease = postgresLease(postgres, instanceId, {
    now,
    lost: (name) => log.warn({ lease: name }, "work goes on whose lease another instance may have by now"),
  });
  return { instanceId, bus, lease, counter };
}

/** `fallback` counts where there is no Redis, and while it is out of reach. */
function openCounter(url: string, log: ClusterOptions["log"], fallback: Counter): Counter {
  if (!url) return fallback;
  return redisCounter({
    url,
    fallback,
    changed: (up, error) => {
      if (up) log.info("Redis is back: it counts the limits again");
      else log.warn({ err: error }, "Redis is out of reach: limits are counted without it");
    },
  });
}
