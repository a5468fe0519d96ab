/**
 * How instances agree: in-process on SQLite, Postgres where there may be several, Redis for counters where it is set.
 */
import type { Db } from "../db/types";
import type { Env } from "../env";
import type { Logger } from "../lib/log";
import { localBus, localCounter, localLease } from "./local";
import { createListeners, type ListenersOptions } from "./listeners";
import { postgresBus, postgresLease } from "./postgres";
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
  const counter = openCounter(env.REDIS_URL, log, now);
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
  return { instanceId, bus, lease: postgresLease(postgres, instanceId), counter };
}

function openCounter(url: string, log: ClusterOptions["log"], now: () => number): Counter {
  const local = localCounter(now);
  if (!url) return local;
  return redisCounter({
    url,
    fallback: local,
    changed: (up, error) => {
      if (up) log.info("Redis is back: limits are shared again");
      else log.warn({ err: error }, "Redis is out of reach: limits count per instance");
    },
  });
}
