/**
 * Routes of /api that a third party calls, in that party's own format instead of the envelope. They are listed in
 * docs/generated/routes.md beside the others.
 */
import type { Services } from "../contracts/context";
import { epayNotify, stripeWebhook } from "../features/order/callbacks";
import { EPAY_NOTIFY_PATH } from "../features/order/service";

export interface CallbackRoute {
  method: "GET" | "POST";
  path: string;
  summary: string;
  /** `ip`: the caller's address, as far as trusted proxies report it. */
  answer(services: Services, request: Request, ip: string): Promise<Response>;
}

export const callbackRoutes: readonly CallbackRoute[] = [
  { method: "GET", path: EPAY_NOTIFY_PATH, summary: "The easy-pay gateway reports a payment", answer: epayNotify },
  { method: "POST", path: EPAY_NOTIFY_PATH, summary: "The same, as a form", answer: epayNotify },
  {
    method: "POST",
    path: "/api/stripe/webhook",
    summary: "Stripe reports what became of a checkout",
    answer: stripeWebhook,
  },
];
