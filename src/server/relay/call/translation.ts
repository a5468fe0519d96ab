/** The translation of a call for one attempt: the upstream model name, and the warnings about content that was lost. */
import type { RequestFacts, Served } from "../../../shared/price-rules";
import type { Warning } from "../../protocol/chat-events";

const NONE: readonly Warning[] = [];

export class Translation {
  #upstream_model: string;
  #warnings = NONE;
  #cacheMarks = false;
  #facts: RequestFacts | undefined;
  #served: Served | undefined;

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

  /**
   * What rules of prices ask of the request, as it was sent. undefined before the request is made, and for operations
   * that have no service tiers.
   */
  get facts(): RequestFacts | undefined {
    return this.#facts;
  }

  /** The request is made. */
  sent(upstream_model: string, warnings: readonly Warning[], cacheMarks = false, facts?: RequestFacts): void {
    this.#facts = facts;
    this.#upstream_model = upstream_model;
    this.#warnings = warnings;
    this.#cacheMarks = cacheMarks;
  }

  /** The channel's overrides have changed what the request says. */
  overridden(facts: RequestFacts): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  /** What the headers of the answer say of its service. */
  get served(): Served | undefined {
    return this.#served;
  }

  /** The answer has begun. */
  answered(served: Served | undefined): void {
    this.#served = served;
  }

  warn(more: readonly Warning[]): void {
    if (more.length > 0) this.#warnings = [...this.#warnings, ...more];
  }
}
