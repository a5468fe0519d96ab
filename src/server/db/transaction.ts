/**
 * A transaction is a generator: each step is one statement, and waiting for the network inside one cannot be written.
 */

/** A step that is no statement: work to do after the commit and before `tx` resolves. It must not throw. */
export class AfterCommit {
  constructor(readonly work: () => Promise<void>) {}
}

/** A transaction's steps. */
export type Steps<T> = Generator<PromiseLike<unknown> | AfterCommit, T, unknown>;

/** One step: `const [row] = yield* run(q.select()…)`. */
export function* run<T>(builder: PromiseLike<T>): Steps<T> {
  return (yield builder) as T;
}
