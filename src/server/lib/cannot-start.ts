/** A reason not to start that the operator can mend: main says its message in one line, without a stack. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}
