/**
 * Stripe checkout: sessions and signed webhooks, by Stripe's own package. It is loaded at the first use, because it
 * takes about 8 MB of memory, which only a server that takes cards needs. Its requests go out by `fetch` as all others
 * do, to the configured address.
 */
import type { Stripe } from "stripe";
import * as z from "zod";
import { centsOf, moneyText } from "../../../shared/order";
import type { Env } from "../../env";
import { readLimited } from "../../lib/egress";
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

/** The configured account; undefined while a secret is missing: then no payment is taken or believed. */
export function stripeConfig(
  options: Pick<OptionStore, "get">,
  env: Pick<Env, "WEIR_STRIPE_API">,
): StripeConfig | undefined {
  const [secret, webhook_secret] = [options.get("StripeApiSecret"), options.get("StripeWebhookSecret")];
  if (!secret || !webhook_secret) return undefined;
  return { api: env.WEIR_STRIPE_API, secret, webhook_secret, currency: options.get("StripeCurrency") };
}

/** The fields of a checkout session that are read. */
type Session = Pick<
  Stripe.Checkout.Session,
  "id" | "client_reference_id" | "amount_total" | "currency" | "payment_status" | "status" | "url"
>;

/**
 * Checked at run time as well: which version of the API the webhooks of an account have is set in Stripe's dashboard.
 */
const sessionShape = z.object({
  id: z.string().max(200),
  client_reference_id: z.string().nullish(),
  amount_total: z.int().min(0).nullish(),
  currency: z.string().nullish(),
  payment_status: z.string(),
  status: z.string().nullish(),
  url: z.string().nullish(),
});
const isSession = (value: unknown): value is Session => sessionShape.safeParse(value).success;

const eventShape = z.object({ type: z.string().max(100), data: z.object({ object: z.unknown() }) });

/** What a session says about its order. */
export type StripeState =
  | { kind: "paid"; payment: Payment }
  /** It cannot be paid any more: it has expired, or the payer's bank refused. */
  | { kind: "ended"; trade_no: string; status: "expired" | "failed" }
  | { kind: "open" };

const paymentOf = (session: Session): Payment => ({
  provider: "stripe",
  trade_no: session.client_reference_id ?? "",
  provider_ref: session.id,
  money: session.amount_total == null ? "" : moneyText(BigInt(session.amount_total)),
  currency: session.currency ?? "",
});

const ended = ({ client_reference_id }: Session, status: "expired" | "failed"): StripeState => ({
  kind: "ended",
  trade_no: client_reference_id ?? "",
  status,
});

function stateOf(session: Session): StripeState {
  if (session.payment_status === "paid") return { kind: "paid", payment: paymentOf(session) };
  return session.status === "expired" ? ended(session, "expired") : { kind: "open" };
}

/** Events that can change an order; all others are acknowledged and change nothing. */
type SessionEvent = Extract<Stripe.Event["type"], `checkout.session.${string}`>;
const EVENTS: Readonly<Record<SessionEvent, (session: Session) => StripeState>> = {
  "checkout.session.completed": stateOf,
  "checkout.session.async_payment_succeeded": stateOf,
  "checkout.session.async_payment_failed": (session) => ended(session, "failed"),
  "checkout.session.expired": (session) => ended(session, "expired"),
};
const isSessionEvent = (type: string): type is SessionEvent => Object.hasOwn(EVENTS, type);

const loadStripe = async () => (await import("stripe")).Stripe;

/** Seconds that the time of a signature may differ from ours. */
const TOLERANCE = 300;

/**
 * Reads a webhook. `header`: Stripe-Signature; `now`: epoch seconds. "signature": it is wrong or out of time;
 * "malformed": the body is not an event.
 */
export async function readStripeEvent(
  body: string,
  header: string,
  secret: string,
  now: number,
): Promise<StripeState | "signature" | "malformed"> {
  // The package refuses times that are too old only.
  const times = [...header.matchAll(/(?:^|,)t=(\d+)/g)].map(([, time]) => Number(time));
  if (times.some((time) => time > now + TOLERANCE)) return "signature";
  const { webhooks, errors, createSubtleCryptoProvider } = await loadStripe();
  let found: unknown;
  try {
    found = await webhooks.constructEventAsync(
      body,
      header,
      secret,
      TOLERANCE,
      createSubtleCryptoProvider(),
      now * 1000,
    );
  } catch (error) {
    return error instanceof errors.StripeSignatureVerificationError ? "signature" : "malformed";
  }
  const event = eventShape.safeParse(found);
  if (!event.success) return "malformed";
  const { type, data } = event.data;
  if (!isSessionEvent(type)) return { kind: "open" };
  return isSession(data.object) ? EVENTS[type](data.object) : "malformed";
}

/** Stripe understood the call and refused it; `message` is its own. */
export class StripeRefusal extends Error {
  override readonly name = "StripeRefusal";
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 256 * 1024;

/** `fetch` to the configured address, without redirects and with a limit to the answer's size. */
function fetchAt(api: string, answered: (status: number) => void): typeof fetch {
  const at = async (address: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(address instanceof Request ? address.url : address);
    const response = await fetch(`${api}${pathname}${search}`, { ...init, redirect: "error" });
    const { status, headers } = response;
    answered(status);
    return new Response(await readLimited(response, MAX_ANSWER_BYTES), { status, headers });
  };
  return Object.assign(at, { preconnect: fetch.preconnect });
}

/** A call of the sessions API. Throws StripeRefusal where Stripe refused it. */
async function callSessions(
  { api, secret }: StripeConfig,
  call: (sessions: Stripe["checkout"]["sessions"]) => Promise<Session>,
): Promise<Session> {
  const Client = await loadStripe();
  let status = 0;
  const client = new Client(secret, {
    httpClient: Client.createFetchHttpClient(fetchAt(api, (answered) => (status = answered))),
    timeout: TIMEOUT_MS,
    // An order is asked about again, and a payer presses the button again.
    maxNetworkRetries: 0,
    telemetry: false,
  });
  try {
    const session: unknown = await call(client.checkout.sessions);
    if (!isSession(session)) throw new Error("Stripe's answer is not a checkout session");
    return session;
  } catch (error) {
    if (status < 300) throw error;
    const refused = error instanceof Client.errors.StripeError && error.statusCode !== undefined && error.message;
    if (!refused) throw new Error(`Stripe answered ${status}`);
    throw new StripeRefusal(status, refused.slice(0, 300));
  }
}

export interface StripeOrder {
  trade_no: string;
  money: string;
  currency: string;
}

/** Opens a session for an order; `url` is where the payer goes. Throws the reason where Stripe refuses. */
export async function openStripeSession(
  config: StripeConfig,
  order: StripeOrder,
  page: string,
  product: string,
): Promise<{ id: string; url: string }> {
  const { trade_no, currency, money } = order;
  const params: Stripe.Checkout.SessionCreateParams = {
    mode: "payment",
    client_reference_id: trade_no,
    success_url: `${page}?out_trade_no=${encodeURIComponent(trade_no)}`,
    cancel_url: page,
    line_items: [
      { quantity: 1, price_data: { currency, unit_amount: Number(centsOf(money)), product_data: { name: product } } },
    ],
  };
  const { id, url } = await callSessions(config, (sessions) => sessions.create(params, { idempotencyKey: trade_no }));
  if (!url || !/^https?:\/\//.test(url)) throw new Error("Stripe named no address to pay at");
  return { id, url };
}

/** Asks Stripe about a session. */
export async function askStripe(config: StripeConfig, id: string): Promise<StripeState> {
  return stateOf(await callSessions(config, (sessions) => sessions.retrieve(id)));
}
