/** Routes of online top-up. The callbacks of the payment gateways are in callbacks.ts. */
import { orderInput, orderListInput, orderSearchInput, payInput, quoteInput } from "../../../shared/order";
import { findInput } from "../../../shared/search";
import { adminProcedure, router, userProcedure } from "../../http/trpc";
import {
  completeOrder,
  findOrders,
  orderCallbacks,
  ownOrder,
  pageOrders,
  pageOwnOrders,
  pay,
  payByCard,
  quote,
  topupInfo,
} from "./service";

export const orderRouter = router({
  info: userProcedure
    .meta({ rest: "GET /api/user/topup/info", summary: "What one can pay with, least and usual amounts" })
    .query(({ ctx }) => topupInfo(ctx)),

  /** `data` is money, "73.00" (C-491). */
  quote: userProcedure
    .meta({ rest: "POST /api/user/amount", summary: "What a top-up of so many dollars costs", answer: "spoken" })
    .input(quoteInput)
    .query(({ ctx, input }) => ({ data: quote(ctx, "epay", input.amount).money })),

  quoteByCard: userProcedure
    .meta({ rest: "POST /api/user/stripe/amount", summary: "The same, paid by card", answer: "spoken" })
    .input(quoteInput)
    .query(({ ctx, input }) => ({ data: quote(ctx, "stripe", input.amount).money })),

  /** `data` is the form that the browser posts to `url`. */
  pay: userProcedure
    .meta({
      once: true,
      rest: "POST /api/user/pay",
      summary: "Order a top-up by the easy-pay gateway",
      answer: "spoken",
      critical: true,
    })
    .input(payInput)
    .mutation(({ ctx, input }) => pay(ctx, input.amount, input.payment_method)),

  payByCard: userProcedure
    .meta({
      once: true,
      rest: "POST /api/user/stripe/pay",
      summary: "Order a top-up by Stripe checkout",
      answer: "spoken",
      critical: true,
    })
    .input(quoteInput)
    .mutation(async ({ ctx, input }) => ({ data: { pay_link: await payByCard(ctx, input.amount) } })),

  one: userProcedure.input(orderInput).query(({ ctx, input }) => ownOrder(ctx, input.trade_no)),

  own: userProcedure
    .meta({ rest: "GET /api/user/topup/self", summary: "Orders of the signed-in user, newest first" })
    .input(orderListInput)
    .query(({ ctx, input }) => pageOwnOrders(ctx, input)),

  list: adminProcedure
    .meta({ rest: "GET /api/user/topup", summary: "Orders of all users, newest first" })
    .input(orderSearchInput)
    .query(({ ctx, input }) => pageOrders(ctx, input)),

  find: userProcedure.input(findInput).query(({ ctx, input }) => findOrders(ctx, input.words)),

  callbacks: adminProcedure.input(orderInput).query(({ ctx, input }) => orderCallbacks(ctx, input.trade_no)),

  complete: adminProcedure
    .meta({
      once: true,
      rest: "POST /api/user/topup/complete",
      summary: "Credit an order whose payment was not reported",
    })
    .input(orderInput)
    .mutation(({ ctx, input }) => completeOrder(ctx, input.trade_no)),
});
