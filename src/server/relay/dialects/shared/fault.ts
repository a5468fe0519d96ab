/** A request that its own dialect does not allow: the caller's mistake, answered with 400. */
export class RequestFault extends Error {
  override readonly name = "RequestFault";

  /** `param` is the path of the member, for example `messages[2].role`. */
  constructor(readonly param: string) {
    super(`invalid ${param}`);
  }
}
