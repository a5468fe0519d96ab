/**
 * Tool calls that arrive in fragments: by index (OpenAI), by id (some vendors send index 0 for every call), or by
 * neither (then it is the last one). Answers which call a fragment belongs to; keeps no arguments.
 */
import { JsonProgress } from "../shared/json-progress";

export interface TrackedCall {
  readonly block: number;
  readonly id: string;
  readonly custom: boolean;
  readonly progress: JsonProgress;
  open: boolean;
}

export class CallTracker {
  readonly #byIndex = new Map<number, TrackedCall>();
  readonly #byId = new Map<string, TrackedCall>();
  #last: TrackedCall | undefined;
  #count = 0;

  /** The call that a fragment goes on with; undefined when it begins a new one. */
  find(index: number | undefined, id: string, name: string): TrackedCall | undefined {
    const known = id === "" ? undefined : this.#byId.get(id);
    if (known) return known;
    if (index === undefined) return id === "" && name === "" ? this.#last : undefined;
    const same = this.#byIndex.get(index);
    // The same index under another id is another call, if it says of what: some vendors make up an id for every
    // fragment.
    return same && (id === "" || id === same.id || name === "") ? same : undefined;
  }

  add(index: number | undefined, block: number, id: string, custom: boolean): TrackedCall {
    const call = { block, id, custom, progress: new JsonProgress(), open: true };
    this.#byIndex.set(index ?? this.#count, call);
    this.#byId.set(id, call);
    this.#last = call;
    this.#count++;
    return call;
  }

  /** How many calls there were. */
  get count(): number {
    return this.#count;
  }

  /** The calls that are still open, in order. */
  get open(): TrackedCall[] {
    return this.#count === 0 ? [] : [...this.#byId.values()].filter((call) => call.open);
  }
}
