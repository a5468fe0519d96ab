/** A reason not to start that the operator can fix: main.ts prints its message in one line, without a stack. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}
