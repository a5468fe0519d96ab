/** Processes are killed at random moments of calls in all dialects, and started again. */
import { type PlannedCall, randomCall } from "../kit/trial/calls";
import { carryOut, killOf } from "../kit/trial/kill";
import type { Trial } from "../kit/trial/trial";

const AT_ONCE = 20;
const CALLS = 200;

export const trial: Trial = {
  what: "processes are killed at random moments of calls in all dialects",
  nodes: 2,
  round: async (bed, random, share) => {
    const calls: PlannedCall[] = Array.from({ length: Math.ceil(CALLS * share) }, () =>
      randomCall(random, { pauseMs: 300 }),
    );
    const kills = Array.from({ length: Math.ceil(random.whole(4, 8) * share) }, () => killOf(random));
    const work = bed.run(calls, AT_ONCE);
    for (const kill of kills) await carryOut(bed, kill);
    await work;
  },
};
