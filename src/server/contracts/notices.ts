/** Notices to operators and users. */
export interface Notices {
  /** A user was charged: their balance may be low now. */
  charged(user_id: number): void;
}
