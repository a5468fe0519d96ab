/**
 * The step-up methods (`auth.stepUpMethods` says which ones the account has), in the order of preference. Each is a
 * component in its own file that calls `onVerified` once the server has accepted it.
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
