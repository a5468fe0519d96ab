/** Waits until `holds` is true; throws with `what` when it is not within `ms`. */
export async function until(what: string, holds: () => Promise<boolean> | boolean, ms = 15_000): Promise<void> {
  for (const limit = Date.now() + ms; !(await holds()); await Bun.sleep(25)) {
    if (Date.now() > limit) throw new Error(`not within ${ms} ms: ${what}`);
  }
}
