/** Collects what a translation loses: each thing once, at most so many. */
import type { Warn, Warning } from "../../chat-events";

const MOST = 50;

export class Warnings {
  readonly #seen = new Set<string>();
  readonly #list: Warning[] = [];

  /** May be handed on without its object. */
  readonly warn: Warn = (code, detail) => {
    const key = `${code} ${detail}`;
    if (this.#list.length >= MOST || this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#list.push({ code, detail });
  };

  get list(): Warning[] {
    return [...this.#list];
  }
}
