/**
 * Stripe's checkout for tests and development: opens sessions, shows a page with one button, sends signed events. The
 * formats of a session and of an event are those of docs.stripe.com/api/checkout/sessions/object and /api/events/object
 * (read 2026-11-22), reduced to what a payment with one line has.
 */
import { createHmac } from "node:crypto";

export const STRIPE_SECRETS = { api: "sk_test_fake", webhook: "whsec_fake" } as const;

export interface StripeSession {
  id: string;
  object: "checkout.session";
  amount_subtotal: number;
  amount_total: number;
  client_reference_id: string | null;
  currency: string;
  livemode: boolean;
  mode: string;
  payment_status: string;
  status: string;
  success_url: string;
  cancel_url: string;
  url: string | null;
}

export interface FakeStripe {
  url: string;
  sessions: ReadonlyMap<string, StripeSession>;
  /** Where events go when the payer presses the button; "" = nowhere. */
  webhook: string;
  /** The session of an order. */
  of(trade_no: string): StripeSession;
  /** An event about an order's session as Stripe posts it: body and signature header. */
  event(
    type: string,
    trade_no: string,
    changes?: Partial<StripeSession>,
    signing?: { secret?: string; time?: number },
  ): { body: string; headers: Record<string, string> };
  stop(): Promise<void>;
}

/** `Stripe-Signature` of a body. */
export function stripeSignature(body: string, secret: string, time = Math.floor(Date.now() / 1000)): string {
  return `t=${time},v1=${createHmac("sha256", secret).update(`${time}.${body}`).digest("hex")},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39`;
}

export function startFakeStripe({ port = 0 }: { port?: number } = {}): FakeStripe {
  const sessions = new Map<string, StripeSession>();
  const byKey = new Map<string, StripeSession>();
  const refusal = (status: number, message: string) =>
    Response.json({ error: { message, type: "invalid_request_error" } }, { status });

  async function open(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    const key = request.headers.get("idempotency-key") ?? crypto.randomUUID();
    const again = byKey.get(key);
    if (again) return Response.json(again);
    const amount = Number(form.get("line_items[0][price_data][unit_amount]"));
    if (!Number.isSafeInteger(amount) || amount < 1) return refusal(400, "Invalid integer: unit_amount");
    if (amount < 50) return refusal(400, "The Checkout Session's total amount due must add up to at least $0.50 usd");
    const id = `cs_test_${crypto.randomUUID().replaceAll("-", "")}`;
    const session: StripeSession = {
      id,
      object: "checkout.session",
      amount_subtotal: amount,
      amount_total: amount,
      client_reference_id: form.get("client_reference_id"),
      currency: form.get("line_items[0][price_data][currency]") ?? "",
      livemode: false,
      mode: form.get("mode") ?? "",
      payment_status: "unpaid",
      status: "open",
      success_url: form.get("success_url") ?? "",
      cancel_url: form.get("cancel_url") ?? "",
      url: `${fake.url}/c/pay/${id}`,
    };
    sessions.set(id, session);
    byKey.set(key, session);
    return Response.json(session);
  }

  const fake: FakeStripe = {
    url: "",
    sessions,
    webhook: "",
    of: (trade_no) => {
      const found = [...sessions.values()].find((session) => session.client_reference_id === trade_no);
      if (!found) throw new Error(`the fake Stripe knows no order ${trade_no}`);
      return found;
    },
    event: (type, trade_no, changes = {}, { secret = STRIPE_SECRETS.webhook, time } = {}) => {
      const object = { ...fake.of(trade_no), ...changes };
      const body = JSON.stringify({
        id: `evt_${crypto.randomUUID()}`,
        object: "event",
        api_version: "2026-09-30",
        created: 1_795_262_400,
        livemode: false,
        type,
        data: { object },
      });
      return {
        body,
        headers: { "content-type": "application/json", "stripe-signature": stripeSignature(body, secret, time) },
      };
    },
    stop: () => server.stop(true),
  };

  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const [, version, , , id = ""] = pathname.split("/");
      if (version === "v1") {
        if (request.headers.get("authorization") !== `Bearer ${STRIPE_SECRETS.api}`)
          return refusal(401, "Invalid API Key provided: sk_test_****");
        if (request.method === "POST") return open(request);
        const session = sessions.get(id);
        return session ? Response.json(session) : refusal(404, `No such checkout.session: '${id}'`);
      }
      const session = sessions.get(pathname.split("/")[3] ?? "");
      if (!session) return new Response("not found", { status: 404 });
      if (request.method !== "POST") {
        return new Response(
          `<!doctype html><title>Fake Stripe</title><link rel="icon" href="data:,"><form method="post"><button>Pay</button></form>`,
          { headers: { "content-type": "text/html" } },
        );
      }
      Object.assign(session, { payment_status: "paid", status: "complete", url: null });
      const { body, headers } = fake.event("checkout.session.completed", session.client_reference_id ?? "");
      if (fake.webhook) await fetch(fake.webhook, { method: "POST", body, headers }).catch(() => {});
      return new Response(null, { status: 302, headers: { location: session.success_url } });
    },
  });
  fake.url = `http://127.0.0.1:${server.port}`;
  return fake;
}
