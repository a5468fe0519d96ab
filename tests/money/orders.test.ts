/** Real processes, killed while a gateway reports payments: every paid order is credited once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../kit/databases";
import { EPAY_MERCHANT, type FakeEpay, startFakeEpay } from "../kit/fake-pay/epay";
import { type Session, startWeir, type Weir } from "../kit/weir";

const ORDERS = 12;
const UNITS = 500_000;

describe.each(ENGINES)("payments and kills on %s", (engine) => {
  let weir: Weir;
  let epay: FakeEpay;
  let user: Session;
  beforeAll(async () => {
    epay = startFakeEpay();
    weir = await startWeir({ engine, child: true, env: { WEIR_ALLOW_PRIVATE_FETCH: "true" } });
    for (const [key, value] of Object.entries({
      ServerAddress: weir.url,
      PayAddress: epay.url,
      EpayId: EPAY_MERCHANT.pid,
      EpayKey: EPAY_MERCHANT.key,
    })) {
      await weir.setOption(key, value);
    }
    user = await weir.newUser();
  }, 60_000);
  afterAll(async () => {
    await weir?.stop();
    await epay?.stop();
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
});
