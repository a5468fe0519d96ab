/** Wall clocks of processes are set forward and back, by seconds or a day, while calls run; sometimes with a kill. */
import { randomCall } from "../kit/trial/calls";
import { carryOut, killOf } from "../kit/trial/kill";
import type { Trial } from "../kit/trial/trial";

const AT_ONCE = 16;
const CALLS = 150;
/** Seconds. */
const STEPS = [-86_400, -3600, -90, -2, 2, 90, 3600, 86_400];

export const trial: Trial = {
  what: "the wall clocks of processes are set forward and back while calls run",
  nodes: 2,
  redis: true,
  round: async (bed, random, share) => {
    const calls = Array.from({ length: Math.ceil(CALLS * share) }, () => randomCall(random, { pauseMs: 300 }));
    const steps = Array.from({ length: Math.ceil(random.whole(4, 8) * share) }, () => ({
      node: random.whole(0, 5),
      seconds: random.pick(STEPS),
      afterMs: random.whole(50, 800),
      kill: random.chance(0.3) ? killOf(random) : undefined,
    }));
    const work = bed.run(calls, AT_ONCE);
    for (const { node, seconds, afterMs, kill } of steps) {
      await Bun.sleep(afterMs);
      bed.nodes.node(node % bed.nodes.all.length).setClock(seconds);
      bed.note("clocks", seconds > 0 ? "set forward" : "set back");
      if (kill) await carryOut(bed, kill);
    }
    await work;
  },
};
