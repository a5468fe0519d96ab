/** Timers. Each job runs on one instance at a time (a lease), never overlaps itself, and logs its failures. */
import { lt } from "drizzle-orm";
import { forgetWindows } from "./cluster/postgres-counter";
import type { Held } from "./cluster/types";
import { type Services, seconds } from "./contracts/context";
import { forgetIncidents } from "./features/alert/incidents";
import { createAlertJobs } from "./features/alert/jobs";
import { watchUpstreams } from "./features/alert/watch";
import { forgetCodes } from "./features/auth/codes";
import { updateBalancesWhenDue } from "./features/channel/balance";
import { retireKeys } from "./features/channel/rotate";
import { renewCodexTokens } from "./features/channel/codex-tokens";
import { sealChannels } from "./features/channel/seal-stored";
import { testAllWhenDue } from "./features/channel/test-all";
import { createRunningReport, type DrainingRelay } from "./features/instance/running";
import { forgetSpend } from "./features/limit/spend";
import { readFeedsWhenDue } from "./features/pricing/feed";
import { removeExpired } from "./features/log/clean";
import { fold } from "./features/log/fold";
import { keepPartitions } from "./features/log/partitions";
import { sweepStored } from "./features/stored/sweep";
import { askAboutOrders, forgetCallbacks } from "./features/order/ask";
import { forgetInstances, type Instance, MOST_AHEAD } from "./features/wallet/instances";
import { sweep } from "./features/wallet/sweep";
import { forgetAnswers } from "./http/answered";
import type { Relay } from "./relay/entry/handle";

interface Job {
  name: string;
  /** Another instance can do it as well: one that drains leaves it to them. */
  leased?: boolean;
  everySeconds: number;
  /** It runs whatever this process's clock says: it counts what was written, or asks the database for the time. */
  anyClock?: true;
  run(services: Services): Promise<unknown>;
}

const leased = (
  name: string,
  everySeconds: number,
  work: (services: Services, held: Held) => Promise<unknown>,
): Job => ({
  name,
  everySeconds,
  leased: true,
  run: (services) => services.cluster.lease.hold(name, async (held) => void (await work(services, held))),
});

const jobs: readonly Job[] = [
  { name: "fold", everySeconds: 1, anyClock: true, run: fold },
  leased("sessions", 600, (s) => s.db.bulk.delete(s.db.t.sessions).where(lt(s.db.t.sessions.expires_at, seconds(s)))),
  leased("answered requests", 3600, forgetAnswers),
  leased("codes", 600, forgetCodes),
  leased("stored objects", 60, sweepStored),
  { name: "channel test", everySeconds: 30, run: testAllWhenDue },
  { name: "channel balances", everySeconds: 30, run: updateBalancesWhenDue },
  leased("channel secrets", 300, sealChannels),
  leased("key rotation", 15, retireKeys),
  leased("price feeds", 60, readFeedsWhenDue),
  leased("log partitions", 600, keepPartitions),
  { name: "log retention", everySeconds: 3600, run: removeExpired },
  leased("codex tokens", 60, renewCodexTokens),
  leased("budgets", 3600, forgetSpend),
  leased("limits", 60, async ({ db }) => db.driver.postgres && forgetWindows(db.driver.postgres)),
  leased("orders", 15, askAboutOrders),
  leased("payment callbacks", 3600, forgetCallbacks),
  leased("upstream watch", 60, watchUpstreams),
  leased("incidents", 3600, forgetIncidents),
  leased("instances", 3600, (s) => forgetInstances(s.db)),
];

/** The first run comes no later: a process that lives for less than an hour removes old rows as well. */
const MOST_FIRST_MS = 60_000;

/**
 * Runs `work` every `ms` until the returned function is called: first after half of it to all of it, at random, so that
 * processes started together do not ask in the same moment.
 */
function runEvery(ms: number, work: () => void): () => void {
  let timer: ReturnType<typeof setInterval> | undefined;
  const first = setTimeout(
    () => {
      work();
      timer = setInterval(work, ms);
    },
    (Math.min(ms, MOST_FIRST_MS) * (1 + Math.random())) / 2,
  );
  return () => {
    clearTimeout(first);
    clearInterval(timer);
  };
}

export interface Jobs {
  /** Stops the timers and waits for running jobs. */
  stop(): Promise<void>;
}

/**
 * `relay`: polls the tasks of callers. `instance`: this process, which sweeps only while its heartbeat is steady. While
 * its clock is far from the database's it leaves deadlines and retention to the others: a clock that is a day ahead
 * would end every running job and refund what the vendor is going to be paid for.
 */
export function startJobs(
  services: Services,
  relay: Pick<Relay, "tasks"> & DrainingRelay,
  instance: Pick<Instance, "steady" | "clockAhead">,
): Jobs {
  const running = new Map<string, Promise<unknown>>();
  const start = (job: Job) => {
    if (running.has(job.name) || (job.leased && relay.draining)) return;
    if (!job.anyClock && Math.abs(instance.clockAhead()) > MOST_AHEAD) return;
    const done = job
      .run(services)
      .catch((err: unknown) => services.log.error({ job: job.name, err }, "a job failed"))
      .finally(() => running.delete(job.name));
    running.set(job.name, done);
  };
  const sweepWhenSteady = async (): Promise<unknown> => (instance.steady() ? sweep(services) : undefined);
  const alerts = createAlertJobs(services);
  const all: readonly Job[] = [
    ...jobs,
    { name: "alerts", everySeconds: 15, run: alerts.judge },
    { name: "alert messages", everySeconds: 5, run: alerts.send },
    { name: "sweep", everySeconds: 10, anyClock: true, run: sweepWhenSteady },
    leased("tasks", 5, () => relay.tasks.poll()),
    { name: "drains", everySeconds: 1, anyClock: true, run: createRunningReport(services, relay) },
  ];
  const timers = all.map((job) => runEvery(job.everySeconds * 1000, () => start(job)));
  return {
    stop: async () => {
      for (const stop of timers) stop();
      await Promise.all(running.values());
    },
  };
}
