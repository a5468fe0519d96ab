/**
 * Stripe checkout: sessions and signed webhooks. Own code, not the SDK: two calls and one HMAC against a package of
 * several megabytes in the binary. Sources, read 2026-11-22: docs.stripe.com/api/checkout/sessions (create, retrieve,
 * object), docs.stripe.com/webhooks#verify-manually (scheme v1: HMAC-SHA256 of `<t>.<body>`, tolerance 5 minutes).
 */
import { createHmac } from "node:crypto";
import * as z from "zod";
import { centsOf, moneyText } from "../../../shared/order";
import type { Env } from "../../env";
import { readLimited } from "../../lib/egress";
import { sameText } from "../../lib/secrets";
import type { OptionStore } from "../../contracts/option-store";
import type { Payment } from "./settle";

export interface StripeConfig {
  /** The API's address, WEIR_STRIPE_API. */
  api: string;
  secret: string;
  webhook_secret: string;
  /** Three letters, lower case; all that are offered have hundredths. */
  currency: string;
}

/** The configured account; undefined while a secret is missing, and then no payment is taken or believed. */
export function stripeConfig(
  options: Pick<OptionStore, "get">,
  env: Pick<Env, "WEIR_STRIPE_API">,
): StripeConfig | undefined {
  const [secret, webhook_secret] = [options.get("StripeApiSecret"), options.get("StripeWebhookSecret")];
  if (!secret || !webhook_secret) return undefined;
  return { api: env.WEIR_STRIPE_API, secret, webhook_secret, currency: options.get("StripeCurrency") };
}

/** Seconds that a signature's time may differ from ours. */
const TOLERANCE = 300;

/** Header `Stripe-Signature: t=…,v1=…[,v1=…]`; several v1 while a secret is being replaced. `now`: epoch seconds. */
export function isStripeSignature(header: string, body: string, secret: string, now: number): boolean {
  const parts = header.split(",").map((part) => part.trim().split("=", 2));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  if (!/^\d{1,12}$/.test(time) || Math.abs(now - Number(time)) > TOLERANCE) return false;
  const expected = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  return parts.some(([name, value]) => name === "v1" && sameText(value ?? "", expected));
}

/** The part of a checkout session that is read. */
const session = z.object({
  id: z.string().max(200),
  client_reference_id: z.string().nullish(),
  amount_total: z.int().min(0).nullish(),
  currency: z.string().nullish(),
  mode: z.string().nullish(),
  /** paid, unpaid, no_payment_required */
  payment_status: z.string(),
  /** open, complete, expired */
  status: z.string().nullish(),
  url: z.string().nullish(),
});
type Session = z.output<typeof session>;

const event = z.object({ type: z.string().max(100), data: z.object({ object: z.unknown() }) });

const paymentOf = (found: Session): Payment => ({
  provider: "stripe",
  trade_no: found.client_reference_id ?? "",
  provider_ref: found.id,
  money: found.amount_total == null ? "" : moneyText(BigInt(found.amount_total)),
  currency: found.currency ?? "",
});

/** What a session says about its order. */
export type StripeState =
  | { kind: "paid"; payment: Payment }
  /** Not any more: over, or refused by the payer's bank. */
  | { kind: "ended"; trade_no: string; status: "expired" | "failed" }
  | { kind: "open" };

/** Events that can change an order; all others are acknowledged and forgotten. */
const EVENTS: Readonly<Record<string, (found: Session) => StripeState>> = {
  "checkout.session.completed": stateOf,
  "checkout.session.async_payment_succeeded": stateOf,
  "checkout.session.async_payment_failed": (found) => ({
    kind: "ended",
    trade_no: found.client_reference_id ?? "",
    status: "failed",
  }),
  "checkout.session.expired": (found) => ({
    kind: "ended",
    trade_no: found.client_reference_id ?? "",
    status: "expired",
  }),
};

function stateOf(found: Session): StripeState {
  if (found.payment_status === "paid") return { kind: "paid", payment: paymentOf(found) };
  if (found.status === "expired")
    return { kind: "ended", trade_no: found.client_reference_id ?? "", status: "expired" };
  return { kind: "open" };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the body of a webhook whose signature is right; undefined when it is no event of ours to read. */
export function readStripeEvent(body: string): StripeState | undefined {
  const outer = event.safeParse(parsed(body));
  if (!outer.success) return undefined;
  if (!Object.hasOwn(EVENTS, outer.data.type)) return { kind: "open" };
  const inner = session.safeParse(outer.data.data.object);
  return inner.success ? EVENTS[outer.data.type]?.(inner.data) : undefined;
}

/** Stripe understood the call and said no; `message` is its own. */
export class StripeRefusal extends Error {
  override readonly name = "StripeRefusal";
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function callStripe(
  { api, secret }: StripeConfig,
  path: string,
  form?: Record<string, string>,
  idempotencyKey?: string,
): Promise<Session> {
  const response = await fetch(`${api}${path}`, {
    method: form ? "POST" : "GET",
    headers: { authorization: `Bearer ${secret}`, ...(idempotencyKey && { "idempotency-key": idempotencyKey }) },
    ...(form && { body: new URLSearchParams(form) }),
    redirect: "error",
    signal: AbortSignal.timeout(15_000),
  });
  const text = await readLimited(response, 256 * 1024);
  if (response.ok) return session.parse(parsed(text));
  const told = z.object({ error: z.object({ message: z.string() }) }).safeParse(parsed(text));
  if (!told.success) throw new Error(`Stripe answered ${response.status}`);
  throw new StripeRefusal(response.status, told.data.error.message.slice(0, 300));
}

export interface StripeOrder {
  trade_no: string;
  amount: number;
  money: string;
  currency: string;
}

/** Opens a session for an order; `url` is where the payer goes. Throws what Stripe says against it. */
export async function openStripeSession(
  config: StripeConfig,
  order: StripeOrder,
  page: string,
  product: string,
): Promise<{ id: string; url: string }> {
  const { id, url } = await callStripe(
    config,
    "/v1/checkout/sessions",
    {
      mode: "payment",
      client_reference_id: order.trade_no,
      success_url: `${page}?out_trade_no=${encodeURIComponent(order.trade_no)}`,
      cancel_url: page,
      "line_items[0][quantity]": "1",
      "line_items[0][price_data][currency]": order.currency,
      "line_items[0][price_data][unit_amount]": String(centsOf(order.money)),
      "line_items[0][price_data][product_data][name]": product,
    },
    order.trade_no,
  );
  if (!url || !/^https?:\/\//.test(url)) throw new Error("Stripe named no address to pay at");
  return { id, url };
}

/** Asks Stripe about a session. */
export async function askStripe(config: StripeConfig, id: string): Promise<StripeState> {
  return stateOf(await callStripe(config, `/v1/checkout/sessions/${encodeURIComponent(id)}`));
}
