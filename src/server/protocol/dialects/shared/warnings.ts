/** Collects what a translation loses: each thing once, at most so many. */
import type { Warn, Warning } from "../../chat-events";

const MOST = 50;

export class Warnings {
  readonly #seen = new Map<string, Warning>();

  /** May be handed on without its object. */
  readonly warn: Warn = (code, detail) => {
    const key = `${code} ${detail}`;
    if (this.#seen.size < MOST && !this.#seen.has(key)) this.#seen.set(key, { code, detail });
  };

  get list(): Warning[] {
    return [...this.#seen.values()];
  }
}
