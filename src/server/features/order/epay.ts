/**
 * The easy-pay protocol ("易支付", submit.php and api.php), by the public API pages of gateways that speak it
 * (pay.ecqq.cc, xdpay, pay.xiaoyewl.net; read 2026-11-22): parameters without `sign`, `sign_type` and empty ones,
 * sorted by name, joined `k=v&…`, the merchant's key appended, MD5 in lower case.
 */
import { createHash } from "node:crypto";
import * as z from "zod";
import type { PaymentForm } from "../../../shared/order";
import type { Env } from "../../env";
import { egressFetch } from "../../lib/egress";
import { sameText } from "../../lib/secrets";
import type { OptionStore } from "../../contracts/option-store";
import type { Payment } from "./settle";

/** The protocol's money is yuan. */
export const EPAY_CURRENCY = "cny";

export interface EpayConfig {
  /** The gateway's address without a trailing slash. */
  address: string;
  pid: string;
  key: string;
}

/** The configured gateway; undefined while a part is missing: then nothing is signed, believed or queried. */
export function epayConfig(options: Pick<OptionStore, "get">): EpayConfig | undefined {
  // Some operators paste the whole address of the payment page.
  const address = options.get("PayAddress").replace(/\/submit\.php$/i, "");
  const [pid, key] = [options.get("EpayId"), options.get("EpayKey")];
  return address && pid && key ? { address, pid, key } : undefined;
}

/** Signature of a set of parameters. */
function epaySign(parameters: Readonly<Record<string, string>>, key: string): string {
  const signed = Object.entries(parameters)
    .filter(([name, value]) => value !== "" && name !== "sign" && name !== "sign_type")
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`);
  return createHash("md5")
    .update(signed.join("&") + key)
    .digest("hex");
}

export interface EpayOrder {
  trade_no: string;
  payment_method: string;
  amount: number;
  money: string;
}

/** The form that the payer's browser posts. */
export function epayForm(config: EpayConfig, order: EpayOrder, notify_url: string, return_url: string): PaymentForm {
  const data: Record<string, string> = {
    pid: config.pid,
    type: order.payment_method,
    out_trade_no: order.trade_no,
    notify_url,
    return_url,
    name: `TUC${order.amount}`,
    money: order.money,
  };
  return { url: `${config.address}/submit.php`, data: { ...data, sign: epaySign(data, config.key), sign_type: "MD5" } };
}

/** The kinds of a notify call. */
export type EpayNotice =
  | { kind: "paid"; payment: Payment }
  /** Signed by the gateway, and not a payment: nothing to do. */
  | { kind: "unpaid" }
  | { kind: "refused"; verdict: "malformed" | "sign_type" | "signature" | "merchant" };

/** Checks a notify call: the signature first, then merchant and kind. */
export function readEpayNotice(config: EpayConfig, parameters: URLSearchParams): EpayNotice {
  const names = [...parameters.keys()];
  // A name that occurs twice could be signed with one value and read with the other.
  if (names.length > 50 || new Set(names).size !== names.length) return { kind: "refused", verdict: "malformed" };
  const given = Object.fromEntries(parameters);
  if ((given.sign_type ?? "MD5").toUpperCase() !== "MD5") return { kind: "refused", verdict: "sign_type" };
  if (!sameText((given.sign ?? "").toLowerCase(), epaySign(given, config.key)))
    return { kind: "refused", verdict: "signature" };
  if (given.pid !== config.pid) return { kind: "refused", verdict: "merchant" };
  if (given.trade_status !== "TRADE_SUCCESS") return { kind: "unpaid" };
  return {
    kind: "paid",
    payment: {
      provider: "epay",
      trade_no: given.out_trade_no ?? "",
      provider_ref: given.trade_no ?? "",
      money: given.money ?? "",
      currency: EPAY_CURRENCY,
      payment_method: given.type ?? "",
    },
  };
}

/** Numbers come as text from some gateways. */
const text = z.union([z.string(), z.number()]).transform(String);

/** Answer of api.php?act=order; `code` 1 = found, `status` 1 = paid. */
const orderAnswer = z.object({
  code: text,
  status: text.optional(),
  pid: text.optional(),
  trade_no: text.optional(),
  out_trade_no: text.optional(),
  type: text.optional(),
  money: text.optional(),
});

/** Some gateways answer an unknown order with 404: the body counts. */
function readAnswer(body: string): z.output<typeof orderAnswer> | undefined {
  try {
    return orderAnswer.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}

function fail(why: string): never {
  throw new Error(why);
}

/**
 * Queries the gateway about an order: its payment, or undefined while there is none. Throws when it cannot be reached
 * or answers something else. Not through the worker (WorkerUrl): the address contains the merchant's key.
 */
export async function askEpay(
  config: EpayConfig,
  env: Pick<Env, "WEIR_ALLOW_PRIVATE_FETCH">,
  trade_no: string,
): Promise<Payment | undefined> {
  const query = new URLSearchParams({ act: "order", pid: config.pid, key: config.key, out_trade_no: trade_no });
  const { status, text: body } = await egressFetch(`${config.address}/api.php?${query}`, {
    allowPrivate: env.WEIR_ALLOW_PRIVATE_FETCH,
    timeoutMs: 10_000,
    maxBytes: 64 * 1024,
  });
  const answer = readAnswer(body) ?? fail(`the gateway answered ${status} and no order`);
  if (answer.code !== "1" || answer.status !== "1") return undefined;
  if (answer.pid !== undefined && answer.pid !== config.pid) fail("the gateway answered about another merchant");
  if (answer.out_trade_no !== undefined && answer.out_trade_no !== trade_no)
    fail("the gateway answered about another order");
  return {
    provider: "epay",
    trade_no,
    provider_ref: answer.trade_no ?? "",
    money: answer.money ?? "",
    currency: EPAY_CURRENCY,
    ...(answer.type !== undefined && { payment_method: answer.type }),
  };
}
