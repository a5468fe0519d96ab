/** Seeded random numbers: the same seed gives the same schedule. */

export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number;
  chance(share: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** Numbers that follow from the words of `seed` alone (mulberry32). */
export function randomOf(...seed: readonly (string | number)[]): Random {
  let state = Number(Bun.hash(seed.join(" ")) & 0xffff_ffffn);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    whole,
    chance: (share) => next() < share,
    pick: (items) => {
      const item = items[whole(0, items.length - 1)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
  };
}
