/** The retry budget, so that retries never multiply an outage. */

/**
 * Retries of a model within 10 seconds: ten, or a tenth of its calls where that is more. An outage of all channels is
 * then not made worse by retries of every call. Counted in this process alone: n instances may retry n times as much.
 */
export class RetryBudget {
  readonly #models = new Map<string, Second[]>();

  /** `now`: epoch milliseconds. */
  constructor(readonly now: () => number) {}

  /** Counts a call of the model. */
  called(model: string): void {
    this.#second(model).calls++;
  }

  /** Takes one retry; false when the budget is used up. */
  take(model: string): boolean {
    const current = this.#second(model);
    let [calls, retries] = [0, 0];
    for (const second of this.#models.get(model) ?? []) {
      const age = current.at - second.at;
      // A second that is partly in the window: its retries count, its calls do not.
      if (age < WINDOW_S) calls += second.calls;
      if (age <= WINDOW_S) retries += second.retries;
    }
    if (retries >= FREE && (retries + 1) * CALLS_EACH > calls) return false;
    current.retries++;
    return true;
  }

  /** The current second of a model, in a ring that covers one window. */
  #second(model: string): Second {
    const at = Math.floor(this.now() / 1000);
    let ring = this.#models.get(model);
    if (!ring) {
      ring = Array.from({ length: WINDOW_S + 1 }, () => ({ at: -Infinity, calls: 0, retries: 0 }));
      this.#models.set(model, ring);
    }
    const place = ring[at % ring.length] ?? { at, calls: 0, retries: 0 };
    if (place.at !== at) Object.assign(place, { at, calls: 0, retries: 0 });
    return place;
  }
}

const WINDOW_S = 10;

/** Retries in a window that are allowed regardless of the number of calls. */
const FREE = 10;

/** Calls per retry beyond those. */
const CALLS_EACH = 10;

export interface Second {
  at: number;
  calls: number;
  retries: number;
}
