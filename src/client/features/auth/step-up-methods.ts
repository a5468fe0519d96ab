/**
 * The ways to prove that one is oneself (`auth.stepUpMethods` says which the account has), in the order of preference.
 * A way is a component in a file of its own that calls `onVerified` once the server believes it.
 */
import { lazy, type Lazy } from "../../lib/lazy";
import type { StepUpMethodProps } from "./step-up-method";

export interface StepUpMethod {
  id: string;
  component: Lazy<StepUpMethodProps>;
}

export const stepUpMethods: readonly StepUpMethod[] = [
  { id: "password", component: lazy(() => import("./step-up-password")) },
  { id: "totp", component: lazy(() => import("../factor/step-up-code")) },
  { id: "passkey", component: lazy(() => import("../factor/step-up-passkey")) },
];
