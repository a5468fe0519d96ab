/**
 * The database goes away for some or all processes (refused, silent, a full disk), or Redis is killed; sometimes a
 * process is killed meanwhile.
 */
import { randomCall } from "../kit/trial/calls";
import type { Random } from "../kit/trial/random";
import type { Testbed } from "../kit/trial/testbed";
import type { Trial } from "../kit/trial/trial";

const AT_ONCE = 12;
const CALLS = 120;

interface Outage {
  /** One node in so many is cut off: 1 is all of them. */
  every: number;
  silent: boolean;
  atMs: number;
  forMs: number;
  /** Which node is killed before it is over, if any. */
  killed: number | undefined;
  redis: boolean;
}

const outageOf = (random: Random): Outage => ({
  every: random.pick([1, 1, 2]),
  silent: random.chance(0.3),
  atMs: random.whole(100, 1500),
  forMs: random.whole(200, 5000),
  killed: random.chance(0.5) ? random.whole(0, 5) : undefined,
  redis: random.chance(0.3),
});

async function carryOut({ nodes, note }: Testbed, outage: Outage): Promise<void> {
  const { every, silent, atMs, forMs, killed, redis } = outage;
  await Bun.sleep(atMs);
  const cutOff = nodes.all.filter((_, index) => index % every === 0);
  for (const node of cutOff) {
    if (silent) node.silenceDatabase();
    else node.cutDatabase();
  }
  const scope = cutOff.length === nodes.all.length ? "all nodes" : "some nodes";
  note(
    "outages",
    `${nodes.engine === "sqlite" ? "full disk" : silent ? "silent database" : "database away"} for ${scope}`,
  );
  if (redis && nodes.redis) {
    await nodes.redis.kill();
    note("outages", "Redis killed");
  }
  await Bun.sleep(forMs);
  if (killed !== undefined) {
    await nodes.node(killed % nodes.all.length).kill();
    note("nodes", "SIGKILL in an outage");
  }
  for (const node of cutOff) node.mendDatabase();
  await nodes.redis?.start();
  for (const node of nodes.all) if (!node.isRunning) await node.restart();
}

export const trial: Trial = {
  what: "the database, its disk or Redis goes away for some or all processes",
  nodes: 2,
  redis: true,
  round: async (bed, random, share) => {
    const calls = Array.from({ length: Math.ceil(CALLS * share) }, () => randomCall(random, { pauseMs: 800 }));
    const outages = Array.from({ length: Math.ceil(random.whole(1, 2) * share) }, () => outageOf(random));
    const work = bed.run(calls, AT_ONCE);
    for (const outage of outages) await carryOut(bed, outage);
    await work;
  },
};
