/** Tells open pages what was changed (features/changes/). */
export interface Changes {
  /**
   * Tells that figures of a noun of the console (a router: "redemption") have changed: after the commit, soon, and best
   * effort, because a page that is told nothing asks by itself. `owner`: a user, beside the administrators.
   */
  tell(noun: string, owner?: number): void;
}
