/**
 * Channels break and heal at random, in every way in which no answer is begun. One channel of each vendor is always
 * well, so every caller who stays is answered.
 */
import { randomCall, VENDORS } from "../kit/trial/calls";
import type { Random } from "../kit/trial/random";
import { CHANNELS_PER_VENDOR, keyOfChannel, type Testbed } from "../kit/trial/testbed";
import type { Trial } from "../kit/trial/trial";
import type { Fate } from "../kit/trial/vendors";

const AT_ONCE = 12;
const CALLS = 240;
/** Ends of an attempt without an answer. */
const FAILING: readonly Fate[] = ["dead", "bad_key", "unpaid", "no_quota", "rate_limited", "fails", "overloaded"];

interface Spell {
  key: string;
  fate: Fate;
  atMs: number;
  forMs: number;
}

/** All but one channel of each vendor break, several times. */
const spellsOf = (random: Random, share: number): Spell[] =>
  VENDORS.flatMap((vendor) =>
    Array.from({ length: CHANNELS_PER_VENDOR - 1 }, (_, n) =>
      Array.from({ length: Math.ceil(3 * share) }, () => ({
        key: keyOfChannel(vendor, n),
        fate: random.pick(FAILING),
        atMs: random.whole(0, 4000),
        forMs: random.whole(100, 3000),
      })),
    ).flat(),
  );

async function carryOut({ vendors, note }: Testbed, { key, fate, atMs, forMs }: Spell): Promise<void> {
  await Bun.sleep(atMs);
  vendors.setFate(key, fate);
  note("channels", `broken: ${fate}`);
  await Bun.sleep(forMs);
  vendors.setFate(key, undefined);
}

export const trial: Trial = {
  what: "channels break and heal at random; one of each vendor is well, and every caller is answered",
  nodes: 2,
  round: async (bed, random, share) => {
    const calls = Array.from({ length: Math.ceil(CALLS * share) }, () => randomCall(random, { pauseMs: 500 }));
    const spells = spellsOf(random, share);
    const [records] = await Promise.all([bed.run(calls, AT_ONCE), ...spells.map((spell) => carryOut(bed, spell))]);
    const unanswered = records.filter(({ left, whole }) => !left && !whole);
    if (unanswered.length > 0)
      throw new Error(
        unanswered.map(({ request_id, status, planned }) => `${request_id} ${planned.caller} ${status}`).join(", "),
      );
  },
};
