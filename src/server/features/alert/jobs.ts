/** The timed work of alerts. */
import type { Services } from "../../contracts/context";
import { createAlertQueue } from "./deliver";
import { evaluate } from "./evaluate";
import { createFeed } from "./series";

export interface AlertJobs {
  /** Judges the rules, where this instance holds the lease. */
  judge(): Promise<unknown>;
  /** Begins to send what is due. */
  send(): Promise<unknown>;
}

export function createAlertJobs(services: Services): AlertJobs {
  const feed = createFeed(services);
  const queue = createAlertQueue(services);
  return {
    judge: () => services.cluster.lease.hold("alerts", (held) => evaluate(services, feed, held)),
    send: () => services.cluster.lease.hold("alert messages", () => queue.start()),
  };
}
