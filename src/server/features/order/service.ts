/** Verbs on orders: the price of a top-up, starting a payment, the histories, completing a lost order by hand. */
import { and, desc, eq, gt, inArray, or, type SQL, sql } from "drizzle-orm";
import { policyOrigin } from "../../../shared/content";
import type { Page } from "../../../shared/envelope";
import { fail } from "../../../shared/errors";
import {
  type FoundOrder,
  moneyText,
  type OrderAdminView,
  type OrderStatus,
  type OrderView,
  payableCents,
  type PaymentCallbackView,
  type PaymentForm,
  type PaymentProvider,
  PAYMENT_PROVIDERS,
  payMethodType,
  PENDING_MAX,
  TOPUP_MAX,
  type TopupInfo,
} from "../../../shared/order";
import { QUOTA_PICKS } from "../../../shared/quota";
import { mayActOn, ROLE } from "../../../shared/roles";
import { MOST_FOUND } from "../../../shared/search";
import { type Ctx, seconds, type Services, type UserCtx } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { OrderRow } from "../../db/schema";
import { contains, count, forUpdate, withoutNul } from "../../db/sql";
import { randomText } from "../../lib/secrets";
import { auditRow } from "../audit/record";
import { epayConfig, epayForm, EPAY_CURRENCY } from "./epay";
import { presentForAdmin, presentOrder } from "./present";
import { completeSteps, statusText } from "./settle";
import { openStripeSession, stripeConfig, StripeRefusal } from "./stripe";

/** Whether any online payment is configured (C-307). */
export const onlineTopupEnabled = ({ options, env }: Pick<Services, "options" | "env">): boolean =>
  epayConfig(options) !== undefined || stripeConfig(options, env) !== undefined;

/** The origins that the console may post a payment form to (C-494). */
export function paymentOrigins({ options }: Pick<Services, "options">): string[] {
  const gateway = epayConfig(options);
  const origin = gateway && policyOrigin(gateway.address);
  return origin ? [origin] : [];
}

export function topupInfo({ options, env }: Pick<Services, "options" | "env">): TopupInfo {
  return {
    enable_online_topup: epayConfig(options) !== undefined,
    enable_stripe_topup: stripeConfig(options, env) !== undefined,
    pay_methods: options.get("PayMethods"),
    min_topup: options.get("MinTopUp"),
    stripe_min_topup: options.get("StripeMinTopUp"),
    stripe_currency: options.get("StripeCurrency"),
    amount_options: QUOTA_PICKS,
    topup_link: options.get("TopUpLink"),
  };
}

/** Price of a dollar, least number of dollars and currency, by provider. */
function terms({ options }: Pick<Services, "options">, provider: PaymentProvider) {
  return {
    epay: { price: options.get("Price"), minimum: options.get("MinTopUp"), currency: EPAY_CURRENCY },
    stripe: {
      price: options.get("StripeUnitPrice"),
      minimum: options.get("StripeMinTopUp"),
      currency: options.get("StripeCurrency"),
    },
  }[provider];
}

interface Quote {
  quota: number;
  /** "73.00" */
  money: string;
  currency: string;
}

/** What `amount` dollars cost the caller; refuses an invalid order. */
export function quote(ctx: UserCtx, provider: PaymentProvider, amount: number, least = 1): Quote {
  const open = provider === "epay" ? epayConfig(ctx.options) : stripeConfig(ctx.options, ctx.env);
  if (!open) fail("topup_disabled");
  const { price, minimum, currency } = terms(ctx, provider);
  if (amount < Math.max(minimum, least)) fail("topup_too_small", { minimum: Math.max(minimum, least) });
  const quota = Math.round(amount * ctx.options.get("QuotaPerUnit"));
  if (amount > TOPUP_MAX || !Number.isSafeInteger(quota)) fail("topup_too_large", { maximum: TOPUP_MAX });
  const ratios = ctx.options.get("TopupGroupRatio");
  const ratio = Object.hasOwn(ratios, ctx.actor.group) ? ratios[ctx.actor.group] : undefined;
  const cents = payableCents(amount, price, ratio);
  if (cents < 1n) fail("topup_money_too_small");
  return { quota, money: moneyText(cents), currency };
}

/** Seconds until a new order is first queried. */
export const FIRST_CHECK = 60;

async function createOrder(
  ctx: UserCtx,
  provider: PaymentProvider,
  amount: number,
  payment_method: string,
  quoted: Quote,
): Promise<OrderRow> {
  const { orders } = ctx.db.t;
  const now = seconds(ctx);
  const values = {
    trade_no: `USR${ctx.actor.id}NO${randomText(6)}${now}`,
    user_id: ctx.actor.id,
    amount,
    ...quoted,
    provider,
    payment_method,
    create_time: now,
    next_check_at: now + FIRST_CHECK,
  };
  return ctx.db.tx(function* (q) {
    yield* claimPlace(ctx, q);
    const [order] = yield* run(q.insert(orders).values(values).returning());
    return order ?? fail("internal");
  });
}

/** Refuses one unpaid order too many. Locks the user, so that calls at the same time count one after another. */
function* claimPlace(ctx: UserCtx, q: Q): Steps<void> {
  const { users, orders } = ctx.db.t;
  const { id } = ctx.actor;
  yield* run(forUpdate(ctx.db, q.select({ id: users.id }).from(users).where(eq(users.id, id))));
  const pending = and(eq(orders.user_id, id), eq(orders.status, "pending"));
  const [waiting] = yield* run(q.select({ n: count() }).from(orders).where(pending));
  if ((waiting?.n ?? 0) >= PENDING_MAX) fail("orders_pending_too_many");
}

/** The page that the payer returns to. */
const walletPage = ({ options }: Pick<Services, "options">): string =>
  `${options.get("ServerAddress") || options.get("CustomCallbackAddress") || fail("callback_address_missing")}/topup`;

/** An easy-pay order and the form that pays it. */
export async function pay(ctx: UserCtx, amount: number, given: string): Promise<PaymentForm> {
  const type = payMethodType(given.trim());
  const config = epayConfig(ctx.options) ?? fail("topup_disabled");
  const method =
    ctx.options.get("PayMethods").find((candidate) => candidate.type === type) ?? fail("payment_method_unknown");
  const quoted = quote(ctx, "epay", amount, method.min_topup);
  const page = walletPage(ctx);
  const callback = ctx.options.get("CustomCallbackAddress") || ctx.options.get("ServerAddress");
  const order = await createOrder(ctx, "epay", amount, type, quoted);
  return epayForm(config, order, `${callback}${EPAY_NOTIFY_PATH}`, page);
}

export const EPAY_NOTIFY_PATH = "/api/user/epay/notify";

/** A Stripe order; returns the address of its payment page. */
export async function payByCard(ctx: UserCtx, amount: number): Promise<string> {
  const config = stripeConfig(ctx.options, ctx.env) ?? fail("topup_disabled");
  const quoted = quote(ctx, "stripe", amount);
  const page = walletPage(ctx);
  const { orders } = ctx.db.t;
  const order = await createOrder(ctx, "stripe", amount, "card", quoted);
  try {
    const opened = await openStripeSession(config, order, page, `${ctx.options.get("SystemName")} $${amount}`);
    await ctx.db.q
      .update(orders)
      .set({ provider_ref: opened.id })
      .where(eq(orders.id, order.id))
      .returning({ id: orders.id });
    return opened.url;
  } catch (error) {
    await ctx.db.q
      .update(orders)
      .set({ status: "failed", next_check_at: 0 })
      .where(and(eq(orders.id, order.id), eq(orders.status, "pending")))
      .returning({ id: orders.id });
    ctx.log.warn({ err: error, trade_no: order.trade_no }, "Stripe opened no session");
    // An error of the amount concerns the payer; a wrong key is the operator's business and is in the log.
    const detail =
      error instanceof StripeRefusal && error.status === 400 ? error.message : PAYMENT_PROVIDERS.stripe[ctx.lang];
    return fail("payment_gateway_failed", { detail }, error);
  }
}

/** One of the caller's own orders. */
export async function ownOrder(ctx: UserCtx, trade_no: string): Promise<OrderView> {
  const { orders } = ctx.db.t;
  const [row] = await ctx.db.q
    .select()
    .from(orders)
    .where(and(eq(orders.trade_no, trade_no), eq(orders.user_id, ctx.actor.id)));
  return row ? presentOrder(row) : fail("order_not_found");
}

interface Paging {
  p: number;
  page_size: number;
}

/** The caller's orders, newest first. */
export async function pageOwnOrders(
  ctx: UserCtx,
  { p, page_size, keyword = "" }: Paging & { keyword?: string },
): Promise<Page<OrderView>> {
  const { orders } = ctx.db.t;
  const text = withoutNul(keyword.trim());
  const where = and(eq(orders.user_id, ctx.actor.id), text === "" ? undefined : contains(orders.trade_no, text));
  const [[all], rows] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(orders).where(where),
    ctx.db.read
      .select()
      .from(orders)
      .where(where)
      .orderBy(desc(orders.id))
      .limit(page_size)
      .offset((p - 1) * page_size),
  ]);
  return { items: rows.map(presentOrder), page: p, page_size, total: all?.n ?? 0 };
}

/** All users' orders, newest first. */
export async function pageOrders(
  ctx: Ctx,
  { p, page_size, keyword = "", status }: Paging & { keyword?: string; status?: OrderStatus },
): Promise<Page<OrderAdminView>> {
  const { orders, users } = ctx.db.t;
  const text = withoutNul(keyword.trim());
  const id: SQL | undefined = /^\d{1,15}$/.test(text) ? eq(orders.user_id, Number(text)) : undefined;
  const named = text === "" ? undefined : or(contains(orders.trade_no, text), contains(users.username, text), id);
  const where = and(named, status ? eq(orders.status, status) : undefined);
  const joined = eq(users.id, orders.user_id);
  // No index finds a part of a number or a name: one reading gives the page and how many fit.
  const fitting = ctx.db.read
    .select({ id: orders.id, username: users.username, fit: sql<number>`count(*) over ()`.mapWith(Number).as("fit") })
    .from(orders)
    .leftJoin(users, joined)
    .where(where)
    .orderBy(desc(orders.id))
    .limit(page_size)
    .offset((p - 1) * page_size)
    .as("fitting");
  const rows = await ctx.db.read
    .select({ order: orders, username: fitting.username, fit: fitting.fit })
    .from(fitting)
    .innerJoin(orders, eq(orders.id, fitting.id))
    .orderBy(desc(orders.id));
  const total = rows[0]?.fit ?? (p === 1 ? 0 : await numberOf());
  return {
    items: rows.map(({ order, username }) => presentForAdmin(order, username ?? "")),
    page: p,
    page_size,
    total,
  };

  /** For a page beyond the last. */
  async function numberOf(): Promise<number> {
    const [all] = await ctx.db.read.select({ n: count() }).from(orders).leftJoin(users, joined).where(where);
    return all?.n ?? 0;
  }
}

/** Orders that are searched for a part of their number: the newest. A whole number finds any. */
const SEARCHED_ORDERS = 20_000;

/**
 * The few orders that fit: by their number, for administrators also by the whole name or the id of
 * their user; others find their own.
 */
export async function findOrders(ctx: UserCtx, keyword: string): Promise<FoundOrder[]> {
  const { orders, users } = ctx.db.t;
  const text = withoutNul(keyword.trim());
  const part = contains(orders.trade_no, text);
  const read = (where: SQL | undefined) =>
    ctx.db.read
      .select({ order: orders, username: users.username })
      .from(orders)
      .leftJoin(users, eq(users.id, orders.user_id))
      .where(where)
      .orderBy(desc(orders.id))
      .limit(MOST_FOUND);
  // Each by its own index: with OR between them all orders would be read.
  const found =
    ctx.actor.role < ROLE.admin
      ? await read(and(eq(orders.user_id, ctx.actor.id), part))
      : (
          await Promise.all([
            read(eq(orders.trade_no, text)),
            read(
              and(
                gt(orders.id, sql`(select max(${orders.id}) from ${orders}) - ${sql.raw(`${SEARCHED_ORDERS}`)}`),
                part,
              ),
            ),
            read(
              inArray(
                orders.user_id,
                ctx.db.read
                  .select({ id: users.id })
                  .from(users)
                  .where(
                    /^\d{1,15}$/.test(text)
                      ? eq(users.id, Number(text))
                      : sql`lower(${users.username}) = lower(${text})`,
                  ),
              ),
            ),
          ])
        ).flat();
  const unique = new Map(
    found.map(({ order, username }) => [order.id, { ...presentOrder(order), username: username ?? "" }]),
  );
  return [...unique.values()].slice(0, MOST_FOUND);
}

/** Providers' callbacks about an order, newest first, fifty at most. */
export async function orderCallbacks(ctx: Ctx, trade_no: string): Promise<PaymentCallbackView[]> {
  const { id, received_at, ip, body, verdict } = ctx.db.t.payment_callbacks;
  const { payment_callbacks: t } = ctx.db.t;
  return ctx.db.read
    .select({ id, received_at, ip, body, verdict })
    .from(t)
    .where(eq(t.trade_no, trade_no))
    .orderBy(desc(t.id))
    .limit(50);
}

/**
 * An administrator confirms that an order was paid. Like every change of another user's quota it needs a higher level;
 * it leaves a log row of the user, one of the administrator, and an audit line.
 */
export async function completeOrder(ctx: UserCtx, trade_no: string): Promise<void> {
  const { orders, users, audit_log } = ctx.db.t;
  await ctx.db.tx(
    function* (q) {
      const [order] = yield* run(q.select().from(orders).where(eq(orders.trade_no, trade_no)));
      if (!order) fail("order_not_found");
      const [owner] = yield* run(
        q.select({ id: users.id, role: users.role }).from(users).where(eq(users.id, order.user_id)),
      );
      if (!owner) fail("user_not_found");
      const refusal = mayActOn(ctx.actor, owner, "update");
      if (refusal) fail(refusal);
      const verdict = yield* completeSteps(ctx, q, order, { completed_by: ctx.actor.id });
      if (verdict !== "credited") fail("order_not_payable", { status: statusText(order.status, ctx.lang) });
      yield* ctx.events.record(q, {
        type: "admin",
        actor: ctx.actor,
        ip: ctx.ip,
        event: "order_completed_for",
        params: { user_id: owner.id, trade_no },
        other: { order_id: order.id, trade_no, user_id: owner.id, quota: order.quota },
      });
      const after = { status: "success", user_id: owner.id, quota: order.quota };
      const line = auditRow(ctx, {
        action: "order.complete",
        target: trade_no,
        before: { status: order.status },
        after,
      });
      yield* run(q.insert(audit_log).values(line).returning({ id: audit_log.id }));
    },
    { durable: true },
  );
}
