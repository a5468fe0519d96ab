/** A channel's mappings: requested model -> upstream model, and status -> status. */

/**
 * Requested model -> upstream model with chains followed to their end. A chain that returns to itself has no end: its
 * names stay unmapped and are reported; a name mapped to itself ends there.
 */
export function resolveMapping(json: Readonly<Record<string, unknown>>): {
  mapping: Map<string, string>;
  loops: string[];
} {
  const mapping = new Map<string, string>();
  const loops: string[] = [];
  const next = (name: string): string | undefined => {
    const value = Object.hasOwn(json, name) ? json[name] : undefined;
    return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  };
  for (const from of Object.keys(json)) {
    const seen = new Set([from]);
    let to = from;
    for (;;) {
      const step = next(to);
      if (step === undefined || step === to) break;
      if (seen.has(step)) {
        to = from;
        loops.push(from);
        break;
      }
      seen.add(step);
      to = step;
    }
    if (to !== from) mapping.set(from, to);
  }
  return { mapping, loops };
}

const isStatus = (value: number): boolean => Number.isInteger(value) && value >= 100 && value <= 599;

/** Upstream status -> the status that retry, disabling and caller see: one step, no chain. `wrong`: invalid entries. */
export function statusMapping(json: Readonly<Record<string, unknown>>): {
  mapping: Map<number, number>;
  wrong: string[];
} {
  const mapping = new Map<number, number>();
  const wrong: string[] = [];
  for (const [from, to] of Object.entries(json)) {
    if (isStatus(Number(from)) && (typeof to === "string" || typeof to === "number") && isStatus(Number(to)))
      mapping.set(Number(from), Number(to));
    else wrong.push(from);
  }
  return { mapping, wrong };
}
