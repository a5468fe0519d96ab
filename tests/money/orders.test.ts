/** Real processes, killed while gateways report payments: every paid order is credited once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../kit/databases";
import { EPAY_MERCHANT, type FakeEpay, startFakeEpay } from "../kit/fake-pay/epay";
import { type FakeStripe, startFakeStripe, STRIPE_SECRETS } from "../kit/fake-pay/stripe";
import { type Session, startWeir, type Weir } from "../kit/weir";

const ORDERS = 12;
const UNITS = 500_000;

describe.each(ENGINES)("payments and kills on %s", (engine) => {
  let weir: Weir;
  let epay: FakeEpay;
  let stripe: FakeStripe;
  let user: Session;
  beforeAll(async () => {
    epay = startFakeEpay();
    stripe = startFakeStripe();
    const env = { WEIR_ALLOW_PRIVATE_FETCH: "true", WEIR_STRIPE_API: stripe.url };
    weir = await startWeir({ engine, child: true, env });
    for (const [key, value] of Object.entries({
      ServerAddress: weir.url,
      PayAddress: epay.url,
      EpayId: EPAY_MERCHANT.pid,
      EpayKey: EPAY_MERCHANT.key,
      StripeApiSecret: STRIPE_SECRETS.api,
      StripeWebhookSecret: STRIPE_SECRETS.webhook,
      StripeUnitPrice: "1",
    })) {
      await weir.setOption(key, value);
    }
    user = await weir.newUser();
  }, 60_000);
  afterAll(async () => {
    await weir?.stop();
    await epay?.stop();
    await stripe?.stop();
  });

  const report = (trade_no: string): Promise<string> =>
    fetch(`${weir.url}/api/user/epay/notify?${epay.report(trade_no)}`).then(
      (answer) => answer.text(),
      () => "no answer",
    );

  test("a kill between credit and answer neither loses a payment nor pays it out twice", async () => {
    const paid: string[] = [];
    // Killed when the first, a middle and the last but one answer is there.
    for (const point of [1, 5, ORDERS - 1]) {
      const round: string[] = [];
      for (let i = 0; i < ORDERS; i++) {
        const form = await user.trpc.order.pay.mutate({ amount: 1, payment_method: "alipay" });
        const trade_no = form.data.out_trade_no ?? "";
        epay.pay({ trade_no, money: form.data.money ?? "", type: "alipay" });
        round.push(trade_no);
      }
      let answered = 0;
      await Promise.all(
        round.map(async (trade_no) => {
          await report(trade_no);
          if (++answered === point) weir.process?.kill("SIGKILL");
        }),
      );
      await weir.restart();
      user = await weir.signIn(user.username, "correct-horse-9");
      for (const trade_no of round) expect([trade_no, await report(trade_no)]).toEqual([trade_no, "success"]);
      paid.push(...round);
      expect((await weir.balance(user.id)).quota).toBe(paid.length * UNITS);
    }
    const { orders, credits } = weir.db.t;
    const rows = await weir.db.q.select().from(orders).where(eq(orders.user_id, user.id));
    expect(rows.map((row) => row.status)).toEqual(paid.map(() => "success"));
    expect(await weir.db.q.select().from(credits).where(eq(credits.kind, "order"))).toHaveLength(paid.length);
    expect(await weir.audit()).toEqual([]);
  }, 120_000);

  test("Stripe's event is credited once: ten at once and a kill amid them, again after the start, and never when forged", async () => {
    const before = (await weir.balance(user.id)).quota;
    await user.trpc.order.payByCard.mutate({ amount: 1 });
    const [order] = (await user.trpc.order.own.query({})).items;
    const trade_no = order?.trade_no ?? "";
    const send = async (secret: string = STRIPE_SECRETS.webhook): Promise<unknown> => {
      const paid = { payment_status: "paid", status: "complete" };
      const call = stripe.event("checkout.session.completed", trade_no, paid, { secret });
      const answer = await fetch(`${weir.url}/api/stripe/webhook`, { method: "POST", ...call }).catch(() => undefined);
      return answer && [answer.status, ((await answer.json()) as { verdict: string }).verdict];
    };
    expect(await send("whsec_forged")).toEqual([400, "signature"]);
    expect((await weir.balance(user.id)).quota).toBe(before);

    let answered = 0;
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        await send();
        if (++answered === 1) weir.process?.kill("SIGKILL");
      }),
    );
    await weir.process?.exited;
    await weir.restart();
    expect(await Promise.all([send(), send()])).toEqual([
      [200, "repeated"],
      [200, "repeated"],
    ]);
    expect(await send("whsec_forged")).toEqual([400, "signature"]);
    expect((await weir.balance(user.id)).quota).toBe(before + UNITS);
    expect(await weir.audit()).toEqual([]);
  }, 60_000);
});
