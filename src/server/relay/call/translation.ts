/** What an attempt makes of a call: under which name its model is asked for, and what gets lost on the way. */
import type { Warning } from "../../protocol/chat-events";

const NONE: readonly Warning[] = [];

export class Translation {
  #upstream_model: string;
  #warnings = NONE;

  /** `upstream_model`: "" until the request is made. */
  constructor(upstream_model = "") {
    this.#upstream_model = upstream_model;
  }

  /** The vendor's name of the model, "" while no request was made. */
  get upstream_model(): string {
    return this.#upstream_model;
  }

  /** What was lost on the way to the channel and back. */
  get warnings(): readonly Warning[] {
    return this.#warnings;
  }

  /** The request is made. */
  sent(upstream_model: string, warnings: readonly Warning[]): void {
    this.#upstream_model = upstream_model;
    this.#warnings = warnings;
  }

  warn(more: readonly Warning[]): void {
    if (more.length > 0) this.#warnings = [...this.#warnings, ...more];
  }
}
