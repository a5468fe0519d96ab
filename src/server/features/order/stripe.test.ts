/** Calls of Stripe's API against a server that answers what each test says. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { askStripe, openStripeSession, StripeRefusal } from "./stripe";

const SECRET = "sk_test_secret";
const seen: { path: string; key: string | null; form: URLSearchParams }[] = [];
let answer = (): Response => new Response();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const form = new URLSearchParams(await request.text());
    seen.push({ path: new URL(request.url).pathname, key: request.headers.get("idempotency-key"), form });
    return answer();
  },
});
const config = {
  api: `http://127.0.0.1:${server.port}/stripe`,
  secret: SECRET,
  webhook_secret: "whsec_test",
  currency: "usd",
};
const session = { id: "cs_1", object: "checkout.session", payment_status: "unpaid", status: "open" };

beforeEach(() => void seen.splice(0));
afterAll(() => server.stop(true));

const errorOf = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => new Error("no error"),
    (error: Error) => error,
  );

test("a session is opened at the configured address, path included, with the order's number as its idempotency key", async () => {
  answer = () => Response.json({ ...session, url: "https://pay.example/cs_1" });
  const order = { trade_no: "T1", money: "11.00", currency: "usd" };
  expect(await openStripeSession(config, order, "https://weir.example/wallet", "Weir $10")).toEqual({
    id: "cs_1",
    url: "https://pay.example/cs_1",
  });
  const [call] = seen;
  expect(call).toMatchObject({ path: "/stripe/v1/checkout/sessions", key: "T1" });
  expect(Object.fromEntries(call?.form ?? [])).toEqual({
    mode: "payment",
    client_reference_id: "T1",
    success_url: "https://weir.example/wallet?out_trade_no=T1",
    cancel_url: "https://weir.example/wallet",
    "line_items[0][quantity]": "1",
    "line_items[0][price_data][currency]": "usd",
    "line_items[0][price_data][unit_amount]": "1100",
    "line_items[0][price_data][product_data][name]": "Weir $10",
  });
});

test("Stripe's refusal has its status and its own words", async () => {
  answer = () =>
    Response.json({ error: { message: "No such session", type: "invalid_request_error" } }, { status: 404 });
  const error = await errorOf(askStripe(config, "cs_1"));
  expect(error).toBeInstanceOf(StripeRefusal);
  expect(error).toMatchObject({ status: 404, message: "No such session" });
});

test("an answer that is not Stripe's is an error and not a refusal, is not tried again, and does not repeat the key", async () => {
  const answers: [Response, RegExp][] = [
    [new Response("<html>", { status: 502 }), /^Stripe answered 502$/],
    [Response.json({ message: "x" }, { status: 500 }), /^Stripe answered 500$/],
    [Response.json({ error: {} }, { status: 429 }), /^Stripe answered 429$/],
    [Response.json({ object: "list" }), /not a checkout session/],
    [Response.json({ ...session, filler: "x".repeat(300_000) }), /connection to Stripe/],
    [new Response(null, { status: 302, headers: { location: `${config.api}/elsewhere` } }), /connection to Stripe/],
  ];
  for (const [response, message] of answers) {
    seen.splice(0);
    answer = () => response;
    const error = await errorOf(askStripe(config, "cs_1"));
    expect(error).not.toBeInstanceOf(StripeRefusal);
    expect(error.message).toMatch(message);
    expect(seen).toHaveLength(1);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(SECRET);
  }
});
