/** A request that its own dialect does not allow: the caller's mistake, answered with 400. */
export class RequestFault extends Error {
  override readonly name = "RequestFault";

  /**
   * `param` is the path of the member, for example `messages[2].role`; `why` names a limit that the caller cannot
   * guess.
   */
  constructor(
    readonly param: string,
    why?: string,
  ) {
    super(why === undefined ? `invalid ${param}` : `invalid ${param}: ${why}`);
  }
}
