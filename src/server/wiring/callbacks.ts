/**
 * Doors of /api that are no envelopes: what a third party calls, in the words that it understands. They stand in the
 * route table and in docs/generated/routes.md beside the others. The limit of /api by address does not count them: a
 * gateway calls from one address for all of its payers.
 */
import type { Services } from "../contracts/context";
import { epayNotify, stripeWebhook } from "../features/order/callbacks";
import { EPAY_NOTIFY_PATH } from "../features/order/service";

export interface CallbackDoor {
  method: "GET" | "POST";
  path: string;
  summary: string;
  /** `ip`: the caller's address as far as trusted proxies tell it. */
  answer(services: Services, request: Request, ip: string): Promise<Response>;
}

export const callbackRoutes: readonly CallbackDoor[] = [
  { method: "GET", path: EPAY_NOTIFY_PATH, summary: "The easy-pay gateway reports a payment", answer: epayNotify },
  { method: "POST", path: EPAY_NOTIFY_PATH, summary: "The same, as a form", answer: epayNotify },
  {
    method: "POST",
    path: "/api/stripe/webhook",
    summary: "Stripe reports what became of a checkout",
    answer: stripeWebhook,
  },
];
