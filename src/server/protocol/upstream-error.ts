import { type Failure, failureOf } from "./upstream-failure";

/** Thrown inside an attempt when its answer is an error. */
export class UpstreamError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.kind);
  }
}

/**
 * Does what is left to do once the vendor has taken the call. A connection that fails there is no refusal of the call,
 * which must not be asked for a second time. Time limits are judged by who set them.
 */
export async function afterAcceptance<Done>(signal: AbortSignal, work: () => Done | Promise<Done>): Promise<Done> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UpstreamError || signal.aborted) throw error;
    throw new UpstreamError(failureOf("cut", 200));
  }
}
