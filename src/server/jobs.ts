/** Timers. Each job runs on one instance at a time (a lease), never overlaps itself, and logs its failures. */
import { lt } from "drizzle-orm";
import { type Services, seconds } from "./contracts/context";
import { forgetCodes } from "./features/auth/codes";
import { updateBalancesWhenDue } from "./features/channel/balance";
import { sealChannels } from "./features/channel/seal-stored";
import { testAllWhenDue } from "./features/channel/test-all";
import { forgetSpend } from "./features/limit/spend";
import { removeExpired } from "./features/log/clean";
import { fold } from "./features/log/fold";
import { sweepStored } from "./features/stored/sweep";
import { askAboutOrders, forgetCallbacks } from "./features/order/ask";
import { forgetInstances, type Instance, MOST_AHEAD } from "./features/wallet/instances";
import { sweep } from "./features/wallet/sweep";
import type { Relay } from "./relay/entry/handle";

interface Job {
  name: string;
  everySeconds: number;
  /** It runs whatever this process's clock says: it counts what was written, or asks the database for the time. */
  anyClock?: true;
  run(services: Services): Promise<unknown>;
}

const leased = (name: string, work: (services: Services) => Promise<unknown>) => (services: Services) =>
  services.cluster.lease.hold(name, async () => void (await work(services)));

const jobs: readonly Job[] = [
  { name: "fold", everySeconds: 1, anyClock: true, run: fold },
  {
    name: "sessions",
    everySeconds: 600,
    run: leased("sessions", (s) => s.db.bulk.delete(s.db.t.sessions).where(lt(s.db.t.sessions.expires_at, seconds(s)))),
  },
  { name: "codes", everySeconds: 600, run: leased("codes", forgetCodes) },
  { name: "stored objects", everySeconds: 60, run: leased("stored objects", sweepStored) },
  { name: "channel test", everySeconds: 30, run: testAllWhenDue },
  { name: "channel balances", everySeconds: 30, run: updateBalancesWhenDue },
  { name: "channel secrets", everySeconds: 300, run: leased("channel secrets", sealChannels) },
  { name: "log retention", everySeconds: 3600, run: removeExpired },
  { name: "budgets", everySeconds: 3600, run: leased("budgets", forgetSpend) },
  { name: "orders", everySeconds: 15, run: leased("orders", askAboutOrders) },
  { name: "payment callbacks", everySeconds: 3600, run: leased("payment callbacks", forgetCallbacks) },
  { name: "instances", everySeconds: 3600, run: leased("instances", (s) => forgetInstances(s.db)) },
];

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
  relay: Pick<Relay, "tasks">,
  instance: Pick<Instance, "steady" | "clockAhead">,
): Jobs {
  const running = new Map<string, Promise<unknown>>();
  const start = (job: Job) => {
    if (running.has(job.name)) return;
    if (!job.anyClock && Math.abs(instance.clockAhead()) > MOST_AHEAD) return;
    const done = job
      .run(services)
      .catch((err: unknown) => services.log.error({ job: job.name, err }, "a job failed"))
      .finally(() => running.delete(job.name));
    running.set(job.name, done);
  };
  const sweepWhenSteady = async (): Promise<unknown> => (instance.steady() ? sweep(services) : undefined);
  const all: readonly Job[] = [
    ...jobs,
    { name: "sweep", everySeconds: 10, anyClock: true, run: sweepWhenSteady },
    { name: "tasks", everySeconds: 5, run: leased("tasks", () => relay.tasks.poll()) },
  ];
  const timers = all.map((job) => setInterval(() => start(job), job.everySeconds * 1000));
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running.values());
    },
  };
}
