/** Tells open pages what was changed (features/changes/). */
export interface Changes {
  /**
   * Figures of a noun of the console (a router: "redemption") are others now. Said after the commit; told soon, and best
   * effort: a page whose server cannot tell it asks by itself. `owner`: a user whom it concerns as well.
   */
  tell(noun: string, owner?: number): void;
}
