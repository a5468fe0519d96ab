/** What a sign-in says. By itself, without schemas: the console's first load has it. */
import type { SignedInUser } from "./user";

/** The first step succeeded and a second is required; a cookie in the browser identifies the sign-in. */
export interface SecondFactorNeeded {
  require_2fa: true;
  /** A passkey is accepted as well. */
  passkey: boolean;
}
export type SignInAnswer = SignedInUser | SecondFactorNeeded;
export const isSecondFactorNeeded = (answer: SignInAnswer): answer is SecondFactorNeeded => "require_2fa" in answer;
