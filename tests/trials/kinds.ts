/**
 * Processes are killed at random moments of everything that is not chat: embeddings, images, speech, realtime sessions,
 * background responses, batches, songs, redeemed codes and reported payments.
 */
import { type AllKinds, openAllKinds, randomKind } from "../kit/trial/all-kinds";
import { carryOut, killOf } from "../kit/trial/kill";
import type { Testbed } from "../kit/trial/testbed";
import type { Trial } from "../kit/trial/trial";

const AT_ONCE = 12;
const CALLS = 100;
const opened = new WeakMap<Testbed, AllKinds>();

async function kindsOf(bed: Testbed): Promise<AllKinds> {
  const known = opened.get(bed);
  if (known) return known;
  const kinds = await openAllKinds(bed);
  opened.set(bed, kinds);
  bed.beforeRest(kinds.repeat);
  bed.atEnd(kinds.stop);
  return kinds;
}

export const trial: Trial = {
  what: "processes are killed at random moments of jobs, batches, sessions, images, sounds, codes and payments",
  nodes: 2,
  round: async (bed, random, share) => {
    const kinds = await kindsOf(bed);
    const calls = Array.from({ length: Math.ceil(CALLS * share) }, () => ({
      planned: randomKind(random),
      pauseMs: random.whole(0, 200),
    }));
    const kills = Array.from({ length: Math.ceil(random.whole(3, 6) * share) }, () => killOf(random));
    kinds.begin();
    const caller = async (): Promise<void> => {
      for (let next = calls.shift(); next; next = calls.shift()) {
        await Bun.sleep(next.pauseMs);
        await kinds.make(next.planned);
      }
    };
    const work = Promise.all(Array.from({ length: AT_ONCE }, caller));
    for (const kill of kills) await carryOut(bed, kill);
    await work;
  },
};
