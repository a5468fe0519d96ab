/**
 * The callbacks of the payment gateways. Their answers have no envelope: easy pay reads the word "success", Stripe a
 * status. Nothing is believed without its signature, and nothing is signed with an empty secret. Every callback is
 * kept.
 */
import { AppError } from "../../../shared/errors";
import type { Verdict } from "../../../shared/order";
import { cut, TEXT_LIMITS } from "../../../shared/text-limits";
import type { Services } from "../../contracts/context";
import { seconds } from "../../contracts/context";
import { withoutNul } from "../../db/sql";
import { BODY_LIMITS, readBytes } from "../../lib/request-body/read-body";
import { epayConfig, readEpayNotice } from "./epay";
import { endOrder, isSettled, settlePayment } from "./settle";
import { readStripeEvent, stripeConfig } from "./stripe";

/** Fields of a form that are read: the protocol has a dozen, and a signature covers all of them. */
const MOST_FIELDS = 50;
/** Unsigned callbacks that are kept in an hour, by all instances together: they must not fill the disk. */
const UNSIGNED_AN_HOUR = 300;

type CallbackHandler = (services: Services, request: Request, ip: string) => Promise<Response>;

/** undefined where it is refused unread: it is too large. */
async function bodyOf(request: Request): Promise<string | undefined> {
  try {
    return (await readBytes(request, BODY_LIMITS.callback)).toString("utf8");
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** A form as text, undefined when it has too many fields to be one of the protocol's. */
async function formOf(request: Request): Promise<string | undefined> {
  const form = await bodyOf(request);
  return form === undefined || form.split("&", MOST_FIELDS + 1).length > MOST_FIELDS ? undefined : form;
}

interface Call {
  provider: "epay" | "stripe";
  trade_no: string;
  ip: string;
  body: string;
}

const rowOf = (services: Services, call: Call, most: number) => ({
  provider: call.provider,
  trade_no: cut(withoutNul(call.trade_no), TEXT_LIMITS.payment_trade_no),
  received_at: seconds(services),
  ip: call.ip,
  body: cut(withoutNul(call.body), most),
});

/** Keeps a callback that was not believed, up to so many an hour; beyond that only the process log has it. */
async function keepRefused(services: Services, call: Call, verdict: Verdict): Promise<void> {
  services.log.warn({ provider: call.provider, ip: call.ip, verdict }, "a payment callback was refused");
  const { allowed } = await services.cluster.counter.take("payment-callbacks:refused", 1, UNSIGNED_AN_HOUR, 3600);
  if (!allowed) return;
  const { payment_callbacks } = services.db.t;
  await services.db.q
    .insert(payment_callbacks)
    .values({ ...rowOf(services, call, TEXT_LIMITS.payment_callback_of_strangers), verdict })
    .returning({ id: payment_callbacks.id });
}

async function keepNoted(services: Services, call: Call): Promise<void> {
  const { payment_callbacks } = services.db.t;
  await services.db.q
    .insert(payment_callbacks)
    .values({ ...rowOf(services, call, TEXT_LIMITS.payment_callback), verdict: "noted" })
    .returning({ id: payment_callbacks.id });
}

function report(services: Services, call: Call, verdict: Verdict): boolean {
  if (isSettled(verdict)) return true;
  services.log.error(
    { provider: call.provider, trade_no: call.trade_no, verdict },
    "a reported payment fits no order; see payment_callbacks",
  );
  return false;
}

/** GET and POST /api/user/epay/notify. A gateway repeats its call until it reads "success". */
export const epayNotify: CallbackHandler = async (services, request, ip) => {
  const say = (word: "success" | "fail") =>
    new Response(word, { headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" } });
  const { search } = new URL(request.url);
  const form = request.method === "POST" ? await formOf(request) : "";
  // A form has its parameters in the body; some gateways post with an empty one.
  const parameters = new URLSearchParams(form || search);
  const trade_no = parameters.get("out_trade_no") ?? "";
  const kept = new URLSearchParams(parameters);
  kept.delete("sign");
  const call: Call = { provider: "epay", trade_no, ip, body: kept.toString() };
  const config = epayConfig(services.options);
  const notice = config && form !== undefined ? readEpayNotice(config, parameters) : undefined;
  if (!notice || notice.kind === "refused") {
    await keepRefused(services, call, notice?.verdict ?? (config ? "malformed" : "closed"));
    return say("fail");
  }
  if (notice.kind === "unpaid") {
    await keepNoted(services, call);
    return say("success");
  }
  const verdict = await settlePayment(services, notice.payment, rowOf(services, call, TEXT_LIMITS.payment_callback));
  return say(report(services, call, verdict) ? "success" : "fail");
};

/** POST /api/stripe/webhook. Stripe repeats an event for three days until it is answered with 2xx. */
export const stripeWebhook: CallbackHandler = async (services, request, ip) => {
  const say = (status: number, verdict: Verdict) =>
    Response.json({ received: status === 200, verdict }, { status, headers: { "cache-control": "no-store" } });
  const body = (await bodyOf(request)) ?? "";
  const config = stripeConfig(services.options, services.env);
  const call: Call = { provider: "stripe", trade_no: "", ip, body };
  const refuse = async (status: number, verdict: Verdict) => {
    await keepRefused(services, call, verdict);
    return say(status, verdict);
  };
  if (!config) return refuse(403, "closed");
  const signature = request.headers.get("stripe-signature") ?? "";
  const state = await readStripeEvent(body, signature, config.webhook_secret, seconds(services));
  if (state === "signature" || state === "malformed") return refuse(400, state);
  if (state.kind === "paid") {
    call.trade_no = state.payment.trade_no;
    const verdict = await settlePayment(services, state.payment, rowOf(services, call, TEXT_LIMITS.payment_callback));
    return say(report(services, call, verdict) ? 200 : 400, verdict);
  }
  if (state.kind === "ended") {
    call.trade_no = state.trade_no;
    await endOrder(services, state.trade_no, state.status, "stripe");
  }
  await keepNoted(services, call);
  return say(200, "noted");
};
