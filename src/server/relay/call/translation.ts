/** The translation of a call for one attempt: the upstream model name, and the warnings about content that was lost. */
import type { Warning } from "../../protocol/chat-events";

const NONE: readonly Warning[] = [];

export class Translation {
  #upstream_model: string;
  #warnings = NONE;
  #cacheMarks = false;

  /** `upstream_model`: "" until the request is made. */
  constructor(upstream_model = "") {
    this.#upstream_model = upstream_model;
  }

  /** The vendor's model name, "" before the request is made. */
  get upstream_model(): string {
    return this.#upstream_model;
  }

  /** The content that was lost on the way to the channel and back. */
  get warnings(): readonly Warning[] {
    return this.#warnings;
  }

  /** The conversation got cache marks that its caller did not set. */
  get cacheMarks(): boolean {
    return this.#cacheMarks;
  }

  /** The request is made. */
  sent(upstream_model: string, warnings: readonly Warning[], cacheMarks = false): void {
    this.#upstream_model = upstream_model;
    this.#warnings = warnings;
    this.#cacheMarks = cacheMarks;
  }

  warn(more: readonly Warning[]): void {
    if (more.length > 0) this.#warnings = [...this.#warnings, ...more];
  }
}
