import type { Failure } from "./failures";

/** Thrown inside an attempt when its answer is an error. */
export class Failed extends Error {
  constructor(readonly failure: Failure) {
    super(failure.class);
  }
}
