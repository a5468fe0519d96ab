/** Kills of a trial: when, which process, and how; planned from the seed, then carried out. */
import type { Random } from "./random";
import type { Testbed } from "./testbed";

export interface Kill {
  node: number;
  /** Since the kill before it, or the beginning of the round. */
  afterMs: number;
  /** From then on it waits for the moment in which a caller has an answer's last byte. */
  atDelivery: boolean;
  /** Ends by SIGTERM, and what runs is cut off after two seconds. */
  softly: boolean;
  /** Stands still for so long before. */
  suspendedMs: number;
  downMs: number;
}

export const killOf = (random: Random): Kill => ({
  node: random.whole(0, 5),
  afterMs: random.whole(50, 800),
  atDelivery: random.chance(0.5),
  softly: random.chance(0.1),
  suspendedMs: random.chance(0.2) ? random.whole(50, 1500) : 0,
  downMs: random.whole(0, 300),
});

export async function carryOut(bed: Testbed, kill: Kill): Promise<void> {
  const { softly, suspendedMs } = kill;
  const node = bed.nodes.node(kill.node % bed.nodes.all.length);
  await Bun.sleep(kill.afterMs);
  if (!node.isRunning) return;
  if (suspendedMs > 0) {
    node.suspend();
    bed.note("nodes", "suspended");
    await Bun.sleep(suspendedMs);
    node.resume();
  }
  if (kill.atDelivery) await bed.nextDelivery(node);
  bed.note("nodes", softly ? "SIGTERM" : "SIGKILL");
  await (softly ? node.stop() : node.kill());
  await Bun.sleep(kill.downMs);
  if (!node.isRunning) await node.restart();
}
