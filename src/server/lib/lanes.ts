/**
 * What waits under one key is done together, one batch after the other: what comes while a batch runs is the next one.
 * No timer is waited for, and keys do not wait for each other.
 */

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * `work` answers the items of a batch in their order; its error is every item's. Returns how to add an item under a key
 * and wait for its result.
 */
export function createLanes<Item, Result>(
  work: (key: string, items: readonly Item[]) => Promise<readonly Result[]>,
  most = 128,
): (key: string, item: Item) => Promise<Result> {
  /** Of each key that is being worked on: what is to be done next. */
  const lanes = new Map<string, Waiting<Item, Result>[]>();

  async function empty(key: string, waiting: Waiting<Item, Result>[]): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, most);
      try {
        const results = await work(
          key,
          batch.map(({ item }) => item),
        );
        // `work` answers each.
        batch.forEach(({ resolve }, i) => resolve(results[i] as Result));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    lanes.delete(key);
  }

  return (key, item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const waiting = lanes.get(key);
    if (waiting) waiting.push({ item, resolve, reject });
    else {
      const lane = [{ item, resolve, reject }];
      lanes.set(key, lane);
      void empty(key, lane);
    }
    return promise;
  };
}
