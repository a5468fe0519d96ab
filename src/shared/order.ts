/**
 * Orders of units: states, money arithmetic, input shapes, the row as its owner and administrators see it.
 * Specification: C-009 to C-013, C-131 to C-135, C-446 to C-451, C-490 to C-494.
 */
import * as z from "zod";
import { multiply, rescale, roundTo, toDecimal } from "./decimal";
import { pageShape } from "./paging";
import type { Text } from "./text";

/** Payment providers. Easy pay is in yuan by its protocol; Stripe's currency is an option. */
export const PAYMENT_PROVIDERS = {
  epay: { zh: "易支付", en: "Easy pay" },
  stripe: { zh: "银行卡", en: "Card" },
} as const satisfies Record<string, Text>;
export type PaymentProvider = keyof typeof PAYMENT_PROVIDERS;

export const orderStatuses = ["pending", "success", "failed", "expired", "refunded"] as const;
export type OrderStatus = (typeof orderStatuses)[number];
export const ORDER_STATUSES: Readonly<Record<OrderStatus, Text>> = {
  pending: { zh: "待支付", en: "Unpaid" },
  success: { zh: "已到账", en: "Credited" },
  failed: { zh: "失败", en: "Failed" },
  expired: { zh: "已过期", en: "Expired" },
  refunded: { zh: "已退款", en: "Refunded" },
};

/** States in which a payment is accepted: a late payment is a payment all the same. */
export const PAYABLE_STATUSES: readonly OrderStatus[] = ["pending", "failed", "expired"];

/**
 * The result of a provider's report of a payment; stored with every callback, and as the note of an order with a
 * problem.
 */
export const VERDICTS = {
  credited: { zh: "已到账", en: "Credited" },
  repeated: { zh: "重复通知", en: "Repeated" },
  noted: { zh: "无需处理", en: "Nothing to do" },
  closed: { zh: "未配置支付密钥", en: "No secret is configured" },
  malformed: { zh: "内容无法解析", en: "Cannot be read" },
  sign_type: { zh: "签名类型错误", en: "Wrong kind of signature" },
  signature: { zh: "签名错误", en: "Wrong signature" },
  merchant: { zh: "商户号不符", en: "Another merchant" },
  order: { zh: "没有对应的订单", en: "No such order" },
  provider: { zh: "支付渠道与订单不符", en: "Another provider than the order's" },
  amount: { zh: "金额与订单不符", en: "Another amount than the order's" },
  method: { zh: "支付方式与订单不符", en: "Another method than the order's" },
  state: { zh: "订单状态不允许", en: "The order's state does not allow it" },
  user: { zh: "用户不存在", en: "The user is gone" },
} as const satisfies Record<string, Text>;
export type Verdict = keyof typeof VERDICTS;

/** Why a callback is refused: anyone may have sent it. */
export const STRANGERS = [
  "closed",
  "malformed",
  "sign_type",
  "signature",
  "merchant",
] as const satisfies readonly Verdict[];

/** A stored callback of an order. */
export interface PaymentCallbackView {
  id: number;
  received_at: number;
  ip: string;
  /** As received, without its signature. */
  body: string;
  verdict: string;
}

/** Dollars of one order: at no price and no unit does it exceed the limits of money or quota. */
export const TOPUP_MAX = 1_000_000;

/** Unpaid orders of one user at a time; the provider is asked about each for a day. */
export const PENDING_MAX = 20;

/** Seconds that an order waits for its payment. */
export const ORDER_LIFE = 24 * 3600;

/** The names of the two methods in existing front-ends (C-013). */
const OLD_METHODS: Readonly<Record<string, string>> = { zfb: "alipay", wx: "wxpay" };

/** The type of a payment method in PayMethods and at the gateway. */
export const payMethodType = (given: string): string =>
  Object.hasOwn(OLD_METHODS, given) ? (OLD_METHODS[given] ?? given) : given;

/** Hundredths as money with two decimals: 7300 -> "73.00". */
export function moneyText(cents: bigint): string {
  const digits = String(cents).padStart(3, "0");
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The hundredths of "73", "73.0" or "73.00"; undefined for every other text: nothing is guessed. */
export function centsOf(money: string): bigint | undefined {
  const match = /^(\d{1,15})(?:\.(\d{1,2}))?$/.exec(money);
  return match ? BigInt(`${match[1]}${(match[2] ?? "").padEnd(2, "0")}`) : undefined;
}

/**
 * The price of `amount` dollars at a price per dollar and the group's ratio (0 or none means 1), rounded to hundredths.
 */
export function payableCents(amount: number, price: number, ratio: number | undefined): bigint {
  const exact = multiply(toDecimal(amount), toDecimal(price), toDecimal(ratio || 1));
  return rescale(roundTo(exact, 2), 2);
}

/** A whole number of dollars (C-451); `top_up_code` of older forms is ignored. */
const amount = z.int({ error: "topup_amount_invalid" });

export const quoteInput = z.object({ amount });
export const payInput = z.object({
  amount,
  payment_method: z.string({ error: "payment_method_unknown" }).max(50, { error: "payment_method_unknown" }),
});

const tradeNo = z.string({ error: "order_not_found" }).regex(/^\w{1,64}$/, { error: "order_not_found" });
export const orderInput = z.object({ trade_no: tradeNo });

export const orderListInput = z.object({
  ...pageShape,
  /** Part of a trade number. */
  keyword: z.string().max(200).optional(),
});
export const orderSearchInput = z.object({
  ...pageShape,
  /** Part of a trade number, or a user's id or name. */
  keyword: z.string().max(200).optional(),
  status: z.enum(orderStatuses).optional().catch(undefined),
});

/** An order as its owner sees it. */
export interface OrderView {
  id: number;
  trade_no: string;
  user_id: number;
  /** Dollars. */
  amount: number;
  /** Units. */
  quota: number;
  /** In the currency's major unit, "73.00". */
  money: string;
  /** Lower case, "cny". */
  currency: string;
  provider: string;
  payment_method: string;
  status: string;
  create_time: number;
  /** 0 = not yet. */
  complete_time: number;
}

/** An order as Ctrl K names it. */
export interface FoundOrder extends OrderView {
  username: string;
}

/** As administrators see it. */
export interface OrderAdminView extends FoundOrder {
  provider_ref: string;
  /** The administrator who completed it by hand, 0 = the provider's callback. */
  completed_by: number;
  /** A problem with it: a payment that was reported and refused. */
  note: string;
}

/** The form that the browser posts to the gateway. */
export interface PaymentForm {
  url: string;
  data: Record<string, string>;
}

/** GET /api/user/topup/info. */
export interface TopupInfo {
  /** The easy-pay gateway is configured. */
  enable_online_topup: boolean;
  enable_stripe_topup: boolean;
  pay_methods: readonly { name: string; type: string; color: string; min_topup?: number }[];
  min_topup: number;
  stripe_min_topup: number;
  stripe_currency: string;
  amount_options: readonly number[];
  topup_link: string;
}
