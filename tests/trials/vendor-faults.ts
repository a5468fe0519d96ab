/** Vendors fail in every way that tests/kit/trial/vendors.ts knows, in every dialect, streamed and plain. */
import { randomCall } from "../kit/trial/calls";
import { FATE_NAMES } from "../kit/trial/vendors";
import type { Trial } from "../kit/trial/trial";

const AT_ONCE = 20;
const CALLS = 200;

export const trial: Trial = {
  what: "vendors fail in every way, in every dialect, streamed and plain",
  nodes: 1,
  round: async (bed, random, share) => {
    const calls = Array.from({ length: Math.ceil(CALLS * share) }, () => {
      const fate = random.pick(FATE_NAMES);
      // The first attempt alone fails, or all of them do.
      const fates = random.chance(0.5) ? [fate, "answers" as const] : [fate];
      return randomCall(random, { fates });
    });
    await bed.run(calls, AT_ONCE);
  },
};
