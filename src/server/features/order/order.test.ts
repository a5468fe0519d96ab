/** Online top-up on both engines, against a simulated gateway and a simulated Stripe. */
import { zhText } from "../../../../tests/kit/row-text";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { asc, eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { EPAY_MERCHANT, type FakeEpay, startFakeEpay } from "../../../../tests/kit/fake-pay/epay";
import { type FakeStripe, startFakeStripe, STRIPE_SECRETS } from "../../../../tests/kit/fake-pay/stripe";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { localCounter } from "../../cluster/local";
import { LOG_TYPE } from "../../../shared/log";
import { ROLE } from "../../../shared/roles";
import { audit } from "../wallet/audit";
import { askAboutOrders, forgetCallbacks, nextWait } from "./ask";
import { epayNotify, stripeWebhook } from "./callbacks";
import { paymentOrigins } from "./service";
import { endOrder } from "./settle";

const DAY = 24 * 3600;

describe.each(ENGINES)("online top-up on %s", (engine) => {
  let harness: Harness;
  let epay: FakeEpay;
  let stripe: FakeStripe;
  let user: Person;

  beforeAll(async () => {
    epay = startFakeEpay();
    stripe = startFakeStripe();
    harness = await openHarness(engine, { WEIR_ALLOW_PRIVATE_FETCH: "true", WEIR_STRIPE_API: stripe.url });
  }, HOOK_MS);
  afterAll(async () => {
    await harness.close();
    await epay.stop();
    await stripe.stop();
  });
  beforeEach(async () => {
    const set = {
      ServerAddress: "https://weir.example",
      CustomCallbackAddress: "https://hook.example/",
      PayAddress: `${epay.url}/`,
      EpayId: EPAY_MERCHANT.pid,
      EpayKey: EPAY_MERCHANT.key,
      Price: "7.3",
      MinTopUp: "1",
      TopupGroupRatio: '{"default":1,"vip":0.9,"free":0}',
      PayMethods:
        '[{"name":"支付宝","type":"alipay","color":"#1677ff"},{"name":"微信","type":"wxpay","color":"#07c160"},{"name":"大额","type":"bank","color":"","min_topup":50}]',
      StripeApiSecret: STRIPE_SECRETS.api,
      StripeWebhookSecret: STRIPE_SECRETS.webhook,
      StripeUnitPrice: "1.1",
      StripeMinTopUp: "1",
      StripeCurrency: "usd",
      QuotaPerUnit: "500000",
      InviteRebatePercent: "0",
    };
    for (const [key, value] of Object.entries(set)) await harness.services.options.set(key, value);
    epay.broken = false;
    user = await harness.person();
  });

  const setOption = (key: string, value: string) => harness.services.options.set(key, value);
  const balanceOf = async (person: Person): Promise<number> => (await person.call.user.self()).quota;
  const orderOf = async (trade_no: string) => {
    const { q, t } = harness.services.db;
    const [row] = await q.select().from(t.orders).where(eq(t.orders.trade_no, trade_no));
    if (!row) throw new Error(`no order ${trade_no}`);
    return row;
  };
  const verdictsOf = async (trade_no: string): Promise<string[]> => {
    const { q, t } = harness.services.db;
    const rows = await q
      .select()
      .from(t.payment_callbacks)
      .where(eq(t.payment_callbacks.trade_no, trade_no))
      .orderBy(asc(t.payment_callbacks.id));
    return rows.map((row) => row.verdict);
  };
  const booksBalance = async () => {
    const findings = await Array.fromAsync(audit(harness.services.db));
    expect(findings).toEqual([]);
  };

  /** An order whose payer has paid at the gateway, without a callback. */
  async function paidOrder(amount = 10, method = "alipay", person = user) {
    const form = await person.call.order.pay({ amount, payment_method: method });
    const trade_no = form.data.out_trade_no ?? "";
    epay.pay({ trade_no, money: form.data.money ?? "", type: form.data.type ?? "" });
    return { trade_no, form };
  }
  const notify = async (parameters: URLSearchParams, method: "GET" | "POST" = "GET"): Promise<string> => {
    const address = "http://weir.local/api/user/epay/notify";
    const request =
      method === "GET" ? new Request(`${address}?${parameters}`) : new Request(address, { method, body: parameters });
    return (await epayNotify(harness.services, request, "203.0.113.9")).text();
  };
  /** Signed now, by the harness's clock. */
  const stripeEvent: FakeStripe["event"] = (type, trade_no, changes, signing) =>
    stripe.event(type, trade_no, changes, { time: Math.floor(harness.services.now() / 1000), ...signing });
  const hook = (call: { body: string; headers: Record<string, string> }) =>
    stripeWebhook(
      harness.services,
      new Request("http://weir.local/api/stripe/webhook", { method: "POST", ...call }),
      "203.0.113.10",
    );

  describe("what it costs", () => {
    test("10 dollars at 7.3 are 73.00, with the words older front-ends read", async () => {
      const { body } = await user.rest("POST", "/api/user/amount", { amount: 10, top_up_code: "" });
      // spec: C-490, C-491
      // spec: C-133
      // spec: A-234
      expect(body).toEqual({ success: true, message: "success", data: "73.00" });
    });

    test("the group's ratio counts; none and 0 mean 1; hundredths are rounded half up", async () => {
      const vip = await harness.person({ group: "vip" });
      const free = await harness.person({ group: "free" });
      const stranger = await harness.person({ group: "unnamed" });
      // spec: A-236
      expect(await vip.call.order.quote({ amount: 10 })).toEqual({ data: "65.70" });
      expect(await free.call.order.quote({ amount: 10 })).toEqual({ data: "73.00" });
      expect(await stranger.call.order.quote({ amount: 10 })).toEqual({ data: "73.00" });
      await setOption("Price", "7.125");
      expect(await user.call.order.quote({ amount: 1 })).toEqual({ data: "7.13" });
    });

    test("an invalid order is refused with success false, the word error, and the text in data, by both calls", async () => {
      await setOption("MinTopUp", "5");
      for (const path of ["/api/user/amount", "/api/user/pay"]) {
        const said = async (amount: unknown) =>
          (await user.rest("POST", path, { amount, payment_method: "alipay" })).body;
        // spec: C-447, C-491
        // spec: A-235
        expect(await said(4)).toMatchObject({ success: false, message: "error", data: "充值数量不能小于5" });
        // spec: C-447, C-451
        for (const amount of [0, -3]) expect((await said(amount)).data).toBe("充值数量不能小于5");
        for (const amount of [1.5, "abc", null, undefined, true, [], 1e300, "1e400"])
          // spec: C-451
          expect((await said(amount)).data).toBe("充值数量必须是正整数！");
        expect((await said(1_000_001)).data).toBe("充值数量不能大于1000000");
      }
      await setOption("Price", "0.0001");
      expect((await user.rest("POST", "/api/user/amount", { amount: 5 })).body.data).toBe("充值金额过低，无法支付");
    });

    test("without an address, a merchant or a key online top-up is off", async () => {
      for (const key of ["PayAddress", "EpayId", "EpayKey"]) {
        const before = harness.services.options.text(key as "EpayId");
        await setOption(key, "");
        for (const path of ["/api/user/amount", "/api/user/pay"]) {
          // spec: C-449, C-601
          expect((await user.rest("POST", path, { amount: 10, payment_method: "alipay" })).body.data).toBe(
            "管理员未开启在线充值！",
          );
        }
        // spec: C-307
        expect(await user.call.order.info()).toMatchObject({ enable_online_topup: false, enable_stripe_topup: true });
        expect(paymentOrigins(harness.services)).toEqual([]);
        await setOption(key, before);
      }
      expect(paymentOrigins(harness.services)).toEqual([epay.url]);
    });

    test("the status says that online top-up is on when either provider is completely configured", async () => {
      const enabled = async () => (await harness.guest.rest("GET", "/api/status")).body.data.enable_online_topup;
      // spec: C-307
      expect(await enabled()).toBe(true);
      await setOption("EpayKey", "");
      expect(await enabled()).toBe(true);
      await setOption("StripeWebhookSecret", "");
      // spec: C-307
      expect(await enabled()).toBe(false);
      expect((await user.rest("POST", "/api/user/stripe/pay", { amount: 10 })).body.data).toBe(
        "管理员未开启在线充值！",
      );
    });
  });

  describe("ordering", () => {
    test("pay returns a signed form for the gateway; the addresses of callbacks and payer have no doubled slash", async () => {
      const { body } = await user.rest("POST", "/api/user/pay", {
        amount: 10,
        top_up_code: "ignored",
        payment_method: "alipay",
      });
      // spec: C-492, C-494
      // spec: A-230
      expect(body).toMatchObject({ success: true, message: "success", url: `${epay.url}/submit.php` });
      // spec: C-492
      // spec: C-010, C-012
      // spec
      expect(body.data).toMatchObject({
        pid: EPAY_MERCHANT.pid,
        type: "alipay",
        name: "TUC10",
        money: "73.00",
        sign_type: "MD5",
        notify_url: "https://hook.example/api/user/epay/notify",
        return_url: "https://weir.example/topup",
      });
      expect(body.data.out_trade_no).toMatch(new RegExp(`^USR${user.ctx.actor.id}NO[A-Za-z0-9]{6}\\d{10}$`));
      const shown = await fetch(body["url"], { method: "POST", body: new URLSearchParams(body.data) });
      // spec: C-012
      // spec: A-232
      expect(await shown.text()).toContain("73.00");
      expect(await orderOf(body.data.out_trade_no)).toMatchObject({
        status: "pending",
        amount: 10,
        quota: 5_000_000,
        money: "73.00",
        currency: "cny",
        provider: "epay",
      });
    });

    test("what is ordered in dollars is credited by QuotaPerUnit", async () => {
      await setOption("QuotaPerUnit", "1000000");
      const { data } = await user.call.order.pay({ amount: 10, payment_method: "alipay" });
      // spec: C-632
      expect((await orderOf(data.out_trade_no ?? "")).quota).toBe(10_000_000);
    });

    test("the old names of the two methods are understood; unknown ones and too small amounts for a method are refused", async () => {
      // spec: C-010, C-013
      expect((await user.call.order.pay({ amount: 1, payment_method: "zfb" })).data.type).toBe("alipay");
      // spec: C-009, C-013
      expect((await user.call.order.pay({ amount: 1, payment_method: "wx" })).data.type).toBe("wxpay");
      for (const payment_method of ["paypal", "", "__proto__", "constructor", 7, null, undefined, "x".repeat(5000)]) {
        // spec: C-494
        expect((await user.rest("POST", "/api/user/pay", { amount: 10, payment_method })).body.data).toBe(
          "支付方式不存在",
        );
      }
      // spec: A-237
      expect((await user.rest("POST", "/api/user/pay", { amount: 49, payment_method: "bank" })).body.data).toBe(
        "充值数量不能小于50",
      );
    });

    test("twenty unpaid orders are enough", async () => {
      for (let i = 0; i < 20; i++) await user.call.order.pay({ amount: 1, payment_method: "alipay" });
      expect((await user.rest("POST", "/api/user/pay", { amount: 1, payment_method: "alipay" })).body.data).toContain(
        "未支付的订单过多",
      );
      const other = await harness.person();
      expect((await other.rest("POST", "/api/user/pay", { amount: 1, payment_method: "alipay" })).body.success).toBe(
        true,
      );
    });

    test("of thirty orders at once twenty are made", async () => {
      const answers = await Promise.allSettled(
        Array.from({ length: 30 }, () => user.call.order.pay({ amount: 1, payment_method: "alipay" })),
      );
      expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(20);
      expect((await user.call.order.own({})).total).toBe(20);
      // Later tests are not to wait for these to be asked about.
      const { orders } = harness.services.db.t;
      await harness.services.db.q.delete(orders).where(eq(orders.user_id, user.ctx.actor.id));
    });

    test("without an address of this server nothing is ordered", async () => {
      await setOption("ServerAddress", "");
      await setOption("CustomCallbackAddress", "");
      expect((await user.rest("POST", "/api/user/pay", { amount: 1, payment_method: "alipay" })).body.data).toBe(
        "请先填写服务器地址或回调地址",
      );
      expect((await user.call.order.own({})).total).toBe(0);
    });
  });

  describe("the gateway's notify call", () => {
    test("credits the order once, with a log row; twenty replays and both methods change nothing more", async () => {
      const { trade_no } = await paidOrder();
      expect(await notify(epay.report(trade_no))).toBe("success");
      expect(await balanceOf(user)).toBe(5_000_000);
      for (let i = 0; i < 20; i++) expect(await notify(epay.report(trade_no), i % 2 ? "POST" : "GET")).toBe("success");
      expect(await balanceOf(user)).toBe(5_000_000);
      expect(await orderOf(trade_no)).toMatchObject({
        status: "success",
        next_check_at: 0,
        provider_ref: epay.trades.get(trade_no)?.trade_no,
      });
      expect(await verdictsOf(trade_no)).toEqual(["credited", ...Array(20).fill("repeated")]);
      const { q, t } = harness.services.db;
      const rows = await q.select().from(t.logs).where(eq(t.logs.user_id, user.ctx.actor.id));
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({ type: LOG_TYPE.topup, quota: 5_000_000 });
      expect(zhText(rows[0])).toContain("$10.00");
      const kept = await q.select().from(t.payment_callbacks).where(eq(t.payment_callbacks.trade_no, trade_no));
      expect(
        kept.every(
          (row) =>
            row.ip === "203.0.113.9" && row.body.includes(`out_trade_no=${trade_no}`) && !row.body.includes("sign="),
        ),
      ).toBe(true);
      await booksBalance();
    });

    test("fifty at the same moment credit once", async () => {
      const { trade_no } = await paidOrder();
      const answers = await Promise.all(Array.from({ length: 50 }, () => notify(epay.report(trade_no))));
      expect(new Set(answers)).toEqual(new Set(["success"]));
      expect(await balanceOf(user)).toBe(5_000_000);
      expect((await verdictsOf(trade_no)).filter((verdict) => verdict === "credited")).toHaveLength(1);
      await booksBalance();
    });

    test("beside an expiry, a failure and an administrator's completion at the same moment, credits once", async () => {
      const admin = await harness.person({ role: ROLE.admin });
      const { trade_no } = await paidOrder();
      await user.call.order.payByCard({ amount: 10 });
      const by = (await user.call.order.own({})).items[0]?.trade_no ?? "";
      const paid = { payment_status: "paid", status: "complete" };
      await Promise.allSettled(
        Array.from({ length: 6 }, () => [
          notify(epay.report(trade_no)),
          endOrder(harness.services, trade_no, "expired", "epay"),
          admin.call.order.complete({ trade_no }),
          hook(stripeEvent("checkout.session.expired", by, { status: "expired" })),
          hook(stripeEvent("checkout.session.completed", by, paid)),
          hook(stripeEvent("checkout.session.async_payment_failed", by)),
          admin.call.order.complete({ trade_no: by }),
        ]).flat(),
      );
      expect(await balanceOf(user)).toBe(10_000_000);
      expect([await orderOf(trade_no), await orderOf(by)]).toMatchObject([
        { status: "success" },
        { status: "success" },
      ]);
      await booksBalance();
    });

    test("is not believed when unsigned, badly signed, of another merchant or sign type, or with a parameter twice", async () => {
      const { trade_no } = await paidOrder();
      const right = epay.report(trade_no);
      const without = (name: string) => {
        const cut = new URLSearchParams(right);
        cut.delete(name);
        return cut;
      };
      const bad: [URLSearchParams, string][] = [
        [without("sign"), "signature"],
        [epay.report(trade_no, {}, { sign: "" }), "signature"],
        [epay.report(trade_no, {}, { sign: "0".repeat(32) }), "signature"],
        [epay.report(trade_no, {}, { money: "0.01" }), "signature"],
        [epay.report(trade_no, {}, { type: "wxpay" }), "signature"],
        [epay.report(trade_no, {}, { pid: "1002" }), "signature"],
        [epay.report(trade_no, {}, { extra: "1" }), "signature"],
        [without("money"), "signature"],
        [epay.report(trade_no, {}, { sign_type: "RSA" }), "sign_type"],
        [epay.report(trade_no, { pid: "1002" }), "merchant"],
        [new URLSearchParams(`${right}&money=0.01`), "malformed"],
      ];
      for (const [parameters, verdict] of bad) {
        for (const method of ["GET", "POST"] as const)
          expect([verdict, await notify(parameters, method)]).toEqual([verdict, "fail"]);
        expect((await verdictsOf(trade_no)).slice(-2)).toEqual([verdict, verdict]);
      }
      expect(await balanceOf(user)).toBe(0);
      expect(await notify(right)).toBe("success");
    });

    test("a signed one is compared with the order: money, method, number, provider, state", async () => {
      const { trade_no } = await paidOrder();
      for (const [changes, verdict] of [
        [{ money: "0.01" }, "amount"],
        [{ money: "73.001" }, "amount"],
        [{ money: "730" }, "amount"],
        [{ money: "-73.00" }, "amount"],
        [{ money: "7.3e1" }, "amount"],
        [{ money: "" }, "amount"],
        [{ type: "wxpay" }, "method"],
        [{ type: "" }, "method"],
      ] as const) {
        expect([changes, await notify(epay.report(trade_no, changes))]).toEqual([changes, "fail"]);
        expect((await verdictsOf(trade_no)).at(-1)).toBe(verdict);
      }
      expect(await notify(epay.report(trade_no, { out_trade_no: "USR1NO000000" }))).toBe("fail");
      expect(await notify(epay.report(trade_no, { out_trade_no: "" }))).toBe("fail");
      const { q, t } = harness.services.db;
      await q.update(t.orders).set({ provider: "stripe" }).where(eq(t.orders.trade_no, trade_no)).returning();
      expect(await notify(epay.report(trade_no))).toBe("fail");
      await q
        .update(t.orders)
        .set({ provider: "epay", status: "refunded" })
        .where(eq(t.orders.trade_no, trade_no))
        .returning();
      expect(await notify(epay.report(trade_no))).toBe("fail");
      expect((await verdictsOf(trade_no)).slice(-2)).toEqual(["provider", "state"]);
      expect(await balanceOf(user)).toBe(0);
      await q.update(t.orders).set({ status: "pending" }).where(eq(t.orders.trade_no, trade_no)).returning();
      for (const money of ["73", "73.0"]) expect(await notify(epay.report(trade_no, { money }))).toBe("success");
      expect(await balanceOf(user)).toBe(5_000_000);
    });

    test("of an unpaid state is acknowledged and changes nothing; a late payment of an expired order still counts", async () => {
      const { trade_no } = await paidOrder();
      for (const trade_status of ["WAIT_BUYER_PAY", "TRADE_CLOSED", "trade_success"]) {
        expect(await notify(epay.report(trade_no, { trade_status }))).toBe("success");
      }
      expect(await balanceOf(user)).toBe(0);
      const { q, t } = harness.services.db;
      await q
        .update(t.orders)
        .set({ status: "expired", next_check_at: 0 })
        .where(eq(t.orders.trade_no, trade_no))
        .returning();
      expect(await notify(epay.report(trade_no))).toBe("success");
      expect(await balanceOf(user)).toBe(5_000_000);
    });

    test("is not believed while the key is empty, even signed with the empty key", async () => {
      const { trade_no } = await paidOrder();
      await setOption("EpayKey", "");
      const keyless = startFakeEpay({ key: "" as typeof EPAY_MERCHANT.key });
      keyless.pay({ trade_no, money: "73.00", type: "alipay" });
      expect(await notify(keyless.report(trade_no))).toBe("fail");
      expect(await notify(epay.report(trade_no))).toBe("fail");
      expect(await verdictsOf(trade_no)).toEqual(["closed", "closed"]);
      expect(await balanceOf(user)).toBe(0);
      await keyless.stop();
    });

    test("unsigned calls are kept up to 300 an hour, truncated; a gateway's signed calls are always kept", async () => {
      const { q, t } = harness.services.db;
      // A separate counter: other tests send unsigned calls too.
      const { cluster, now } = harness.services;
      const services = { ...harness.services, cluster: { ...cluster, counter: localCounter(now) } };
      const before = (await q.select().from(t.payment_callbacks)).length;
      const junk = new URLSearchParams({ out_trade_no: "flood", sign: "x", junk: "j".repeat(5000) });
      for (let i = 0; i < 320; i++) {
        const answer = await epayNotify(
          services,
          new Request(`http://weir.local/api/user/epay/notify?${junk}`),
          "203.0.113.9",
        );
        expect(await answer.text()).toBe("fail");
      }
      const kept = (await q.select().from(t.payment_callbacks).orderBy(asc(t.payment_callbacks.id))).slice(before);
      expect(kept).toHaveLength(300);
      expect(Math.max(...kept.map((row) => row.body.length))).toBe(2048);
      const { trade_no } = await paidOrder();
      expect(await notify(epay.report(trade_no))).toBe("success");
      expect(await verdictsOf(trade_no)).toEqual(["credited"]);
    });

    test("odd bodies are refused: empty, huge, binary, with NUL", async () => {
      const send = async (body: BodyInit | undefined, query = "") =>
        (
          await epayNotify(
            harness.services,
            new Request(`http://weir.local/api/user/epay/notify${query}`, { method: "POST", ...(body && { body }) }),
            "203.0.113.9",
          )
        ).text();
      for (const body of [
        undefined,
        "",
        "{}",
        "a=".repeat(10_000),
        "x".repeat(400_000),
        new Uint8Array([0, 255, 254]),
        "out_trade_no=%00&sign=%00",
      ]) {
        expect(await send(body)).toBe("fail");
      }
      expect(await send("", "?out_trade_no=%00")).toBe("fail");
    });
  });

  describe("Stripe", () => {
    async function cardOrder(amount = 10) {
      const { data } = await user.call.order.payByCard({ amount });
      const [order] = (await user.call.order.own({})).items;
      if (!order) throw new Error("no order");
      return { trade_no: order.trade_no, link: data.pay_link };
    }

    test("an order opens a session; its completed event credits once, however often it comes", async () => {
      expect((await user.rest("POST", "/api/user/stripe/amount", { amount: 10 })).body).toEqual({
        success: true,
        message: "success",
        data: "11.00",
      });
      const { trade_no, link } = await cardOrder();
      const session = stripe.of(trade_no);
      expect(session).toMatchObject({
        amount_total: 1100,
        currency: "usd",
        mode: "payment",
        success_url: `https://weir.example/topup?out_trade_no=${trade_no}`,
      });
      expect(link).toBe(session.url ?? "");
      const paid = { payment_status: "paid", status: "complete" };
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => hook(stripeEvent("checkout.session.completed", trade_no, paid))),
      );
      expect(answers.every((answer) => answer.status === 200)).toBe(true);
      expect(await balanceOf(user)).toBe(5_000_000);
      expect(await orderOf(trade_no)).toMatchObject({ status: "success", provider_ref: session.id });
      await booksBalance();
    });

    test("a completed session that is not paid yet stays pending; then it is credited, or failed", async () => {
      const { trade_no } = await cardOrder();
      expect((await hook(stripeEvent("checkout.session.completed", trade_no, { status: "complete" }))).status).toBe(
        200,
      );
      expect(await orderOf(trade_no)).toMatchObject({ status: "pending" });
      expect((await hook(stripeEvent("checkout.session.async_payment_failed", trade_no))).status).toBe(200);
      expect(await orderOf(trade_no)).toMatchObject({ status: "failed", next_check_at: 0 });
      expect(
        (await hook(stripeEvent("checkout.session.async_payment_succeeded", trade_no, { payment_status: "paid" })))
          .status,
      ).toBe(200);
      expect(await orderOf(trade_no)).toMatchObject({ status: "success" });
      expect((await hook(stripeEvent("checkout.session.expired", trade_no))).status).toBe(200);
      expect(await orderOf(trade_no)).toMatchObject({ status: "success" });
      expect(await balanceOf(user)).toBe(5_000_000);
    });

    test("an expired session ends its order", async () => {
      const { trade_no } = await cardOrder();
      await hook(stripeEvent("checkout.session.expired", trade_no, { status: "expired" }));
      expect(await orderOf(trade_no)).toMatchObject({ status: "expired", next_check_at: 0 });
    });

    test("amount, currency, order and session are compared; other events are acknowledged", async () => {
      const { trade_no } = await cardOrder();
      const paid = { payment_status: "paid", status: "complete" };
      for (const changes of [
        { amount_total: 1 },
        { amount_total: 110_000 },
        { currency: "jpy" },
        { client_reference_id: "USR1NO0" },
        { client_reference_id: null },
        { id: "cs_test_other" },
      ]) {
        expect((await hook(stripeEvent("checkout.session.completed", trade_no, { ...paid, ...changes }))).status).toBe(
          400,
        );
      }
      for (const type of ["payment_intent.succeeded", "toString", "charge.refunded"]) {
        expect((await hook(stripeEvent(type, trade_no, paid))).status).toBe(200);
      }
      expect(await balanceOf(user)).toBe(0);
      // An easy-pay order cannot be paid by a Stripe event that names it.
      const { trade_no: other } = await paidOrder();
      expect(
        (await hook(stripeEvent("checkout.session.completed", trade_no, { ...paid, client_reference_id: other })))
          .status,
      ).toBe(400);
      expect(await balanceOf(user)).toBe(0);
    });

    test("nothing is believed unsigned, signed by another secret, too old, too new, changed, or while a secret is empty", async () => {
      const { trade_no } = await cardOrder();
      const now = Math.floor(harness.services.now() / 1000);
      const paid = { payment_status: "paid", status: "complete" };
      const event = (signing?: { secret?: string; time?: number }) =>
        stripeEvent("checkout.session.completed", trade_no, paid, signing);
      const bad = [
        { ...event(), headers: {} },
        { ...event(), headers: { "stripe-signature": "" } },
        { ...event(), headers: { "stripe-signature": "t=,v1=" } },
        { ...event(), headers: { "stripe-signature": `t=${now},v0=abc` } },
        event({ secret: "" }),
        event({ secret: "whsec_other" }),
        event({ time: now - 301 }),
        event({ time: now + 310 }),
        { ...event(), body: event().body.replace('"amount_total":1100', '"amount_total":1') },
      ];
      for (const call of bad) expect((await hook(call)).status).toBe(400);
      for (const key of ["StripeWebhookSecret", "StripeApiSecret"]) {
        await setOption(key, "");
        for (const secret of ["", STRIPE_SECRETS.webhook]) expect((await hook(event({ secret }))).status).toBe(403);
        await setOption(key, key === "StripeApiSecret" ? STRIPE_SECRETS.api : STRIPE_SECRETS.webhook);
      }
      for (const body of [
        "",
        "{",
        "null",
        "[]",
        '{"type":"checkout.session.completed"}',
        '{"type":"checkout.session.completed","data":{"object":{}}}',
      ]) {
        const { stripeSignature } = await import("../../../../tests/kit/fake-pay/stripe");
        expect(
          (await hook({ body, headers: { "stripe-signature": stripeSignature(body, STRIPE_SECRETS.webhook, now) } }))
            .status,
        ).toBe(400);
      }
      expect(await balanceOf(user)).toBe(0);
      // Two signatures while the secret is being replaced: one right one is enough.
      const right = event({ time: now });
      const headers = { "stripe-signature": right.headers["stripe-signature"]?.replace(",v1=", ",v1=00,v1=") ?? "" };
      expect((await hook({ ...right, headers })).status).toBe(200);
    });

    test("an order that Stripe refuses fails, and its reason is reported", async () => {
      await setOption("StripeUnitPrice", "0.1");
      const { body } = await user.rest("POST", "/api/user/stripe/pay", { amount: 1 });
      expect(body).toMatchObject({ success: false, message: "error" });
      expect(body.data).toContain("at least $0.50");
      expect((await user.call.order.own({})).items[0]).toMatchObject({ status: "failed" });
      await setOption("StripeApiSecret", "sk_test_wrong");
      const refused = await user.rest("POST", "/api/user/stripe/pay", { amount: 10 });
      expect(refused.body.data).toBe("拉起支付失败：银行卡");
      expect(refused.text).not.toContain("sk_test");
    });

    test("a lost event is found by querying the session", async () => {
      const { trade_no } = await cardOrder();
      Object.assign(stripe.of(trade_no), { payment_status: "paid", status: "complete" });
      harness.advance(61);
      await askAboutOrders(harness.services);
      expect(await orderOf(trade_no)).toMatchObject({ status: "success" });
    });
  });

  describe("querying the provider", () => {
    const later = (trade_no: string) =>
      harness.services.db.q
        .update(harness.services.db.t.orders)
        .set({ next_check_at: 1 })
        .where(eq(harness.services.db.t.orders.trade_no, trade_no))
        .returning();

    test("finds a payment whose callback was lost, and not before a minute has passed", async () => {
      const { trade_no } = await paidOrder();
      await askAboutOrders(harness.services);
      expect(epay.asked).not.toContain(trade_no);
      harness.advance(61);
      expect(await askAboutOrders(harness.services)).toBeGreaterThanOrEqual(1);
      expect(await balanceOf(user)).toBe(5_000_000);
      expect(await notify(epay.report(trade_no))).toBe("success");
      expect(await balanceOf(user)).toBe(5_000_000);
      await booksBalance();
    });

    test("an unpaid order is queried at growing intervals, and expires after a day", async () => {
      const form = await user.call.order.pay({ amount: 1, payment_method: "alipay" });
      const trade_no = form.data.out_trade_no ?? "";
      const created = (await orderOf(trade_no)).create_time;
      harness.advance(61);
      await askAboutOrders(harness.services);
      const asked = await orderOf(trade_no);
      expect(asked).toMatchObject({ status: "pending", checks: 1 });
      expect(asked.next_check_at - created).toBeGreaterThanOrEqual(120);
      expect([0, 60, 300, 600, 3600, 9000, 80_000].map(nextWait)).toEqual([60, 60, 60, 120, 720, 1800, 1800]);
      harness.advance(DAY);
      await later(trade_no);
      await askAboutOrders(harness.services);
      expect(await orderOf(trade_no)).toMatchObject({ status: "expired", next_check_at: 0 });
    });

    test("a payment of another amount is not credited and is noted; a gateway that is down changes nothing", async () => {
      const { trade_no } = await paidOrder();
      epay.pay({ trade_no, money: "0.01", type: "alipay" });
      const { q, t } = harness.services.db;
      const known = epay.trades.get(trade_no);
      if (known) known.money = "0.01";
      await later(trade_no);
      await askAboutOrders(harness.services);
      expect(await orderOf(trade_no)).toMatchObject({ status: "pending", note: "amount" });
      epay.broken = true;
      await later(trade_no);
      await askAboutOrders(harness.services);
      expect(await orderOf(trade_no)).toMatchObject({ status: "pending", note: "unreachable" });
      expect(await balanceOf(user)).toBe(0);
      expect(harness.logged.join("\n")).not.toContain(EPAY_MERCHANT.key);
      await q.update(t.orders).set({ next_check_at: 0 }).where(eq(t.orders.trade_no, trade_no)).returning();
    });

    test("a gateway that cannot be reached is queried once in a round, and its orders stay due", async () => {
      const orders = [
        await paidOrder(1),
        await paidOrder(1),
        await paidOrder(1),
        await paidOrder(1),
        await paidOrder(1),
        await paidOrder(1),
      ];
      for (const { trade_no } of orders) await later(trade_no);
      epay.broken = true;
      const before = epay.asked.length;
      await askAboutOrders(harness.services);
      expect(epay.asked.length - before).toBeLessThanOrEqual(4);
      epay.broken = false;
      for (const { trade_no } of orders) await later(trade_no);
      await askAboutOrders(harness.services);
      expect(await balanceOf(user)).toBe(6 * 500_000);
    });

    test("two instances that query at once credit once", async () => {
      const { trade_no } = await paidOrder();
      await later(trade_no);
      await Promise.all([
        askAboutOrders(harness.services),
        askAboutOrders(harness.services),
        notify(epay.report(trade_no)),
      ]);
      expect(await balanceOf(user)).toBe(5_000_000);
    });

    test("callbacks are deleted after half a year, unsigned ones after a week", async () => {
      const { q, t } = harness.services.db;
      const now = Math.floor(harness.services.now() / 1000);
      const rows = [
        ["credited", 179],
        ["credited", 181],
        ["signature", 6],
        ["signature", 8],
      ] as const;
      await q.delete(t.payment_callbacks).returning();
      await q
        .insert(t.payment_callbacks)
        .values(rows.map(([verdict, days]) => ({ provider: "epay", verdict, received_at: now - days * DAY })))
        .returning();
      await forgetCallbacks(harness.services);
      const left = await q.select().from(t.payment_callbacks).orderBy(asc(t.payment_callbacks.id));
      expect(left.map((row) => [row.verdict, (now - row.received_at) / DAY])).toEqual([
        ["credited", 179],
        ["signature", 6],
      ]);
    });
  });

  describe("histories and administrators", () => {
    test("users see their own orders, newest first; administrators see all, and find them by number, name, id and state", async () => {
      const other = await harness.person();
      await paidOrder(1, "alipay", other);
      const first = await paidOrder(1);
      const second = await paidOrder(2);
      await notify(epay.report(first.trade_no));
      const { body } = await user.rest("GET", "/api/user/topup/self?p=1&page_size=10");
      expect(body.data).toMatchObject({ total: 2, page: 1, page_size: 10 });
      expect(body.data.items.map((item: { trade_no: string; status: string }) => [item.trade_no, item.status])).toEqual(
        [
          [second.trade_no, "pending"],
          [first.trade_no, "success"],
        ],
      );
      expect(await user.call.order.one({ trade_no: first.trade_no })).toMatchObject({ status: "success" });
      expect(
        (await other.call.order.one({ trade_no: first.trade_no }).catch((error: unknown) => error)) instanceof Error,
      ).toBe(true);
      expect((await user.rest("GET", "/api/user/topup")).body.success).toBe(false);

      const admin = await harness.person({ role: ROLE.admin });
      const found = async (query: string) =>
        (await admin.rest("GET", `/api/user/topup?${query}`)).body.data.items.map(
          (item: { trade_no: string }) => item.trade_no,
        );
      expect(await found(`keyword=${first.trade_no.slice(0, 14)}`)).toEqual([first.trade_no]);
      expect(await found(`keyword=${user.ctx.actor.username}`)).toEqual([second.trade_no, first.trade_no]);
      expect(await found(`keyword=${user.ctx.actor.id}&status=success`)).toContain(first.trade_no);
      const page = async (p: number) => {
        const { data } = (
          await admin.rest("GET", `/api/user/topup?keyword=${user.ctx.actor.username}&page_size=1&p=${p}`)
        ).body;
        return [data.items.length, data.items[0]?.username, data.total];
      };
      expect(await page(2)).toEqual([1, user.ctx.actor.username, 2]);
      expect(await page(9)).toEqual([0, undefined, 2]);
      expect(await found("keyword=%25")).toEqual([]);
      expect(await found(`keyword=${"%25_".repeat(60)}`)).toEqual([]);
      // Ctrl K: a number, a part of it, a user's whole name or id; who is no administrator finds own ones.
      const quick = async (who: Person, words: string) =>
        (await who.call.order.find({ words })).map(({ trade_no }) => trade_no);
      expect(await quick(admin, first.trade_no)).toEqual([first.trade_no]);
      expect(await quick(admin, first.trade_no.slice(3, 14))).toEqual([first.trade_no]);
      expect(await quick(admin, user.ctx.actor.username.toUpperCase())).toEqual([second.trade_no, first.trade_no]);
      expect(await quick(admin, String(user.ctx.actor.id))).toEqual(
        expect.arrayContaining([second.trade_no, first.trade_no]),
      );
      expect(await quick(admin, "%")).toEqual([]);
      expect(await quick(user, first.trade_no.slice(3, 14))).toEqual([first.trade_no]);
      expect(await quick(other, first.trade_no)).toEqual([]);
      expect((await user.rest("GET", `/api/user/topup/self?keyword=${first.trade_no}`)).body.data.total).toBe(1);
      const all = await admin.rest("GET", "/api/user/topup?status=nonsense&p=-1&page_size=0");
      expect(all.body.data.total).toBeGreaterThanOrEqual(3);
    });

    test("an administrator completes a lost order once, of users below their level only, with a log row and an audit line", async () => {
      const { trade_no } = await paidOrder();
      const admin = await harness.person({ role: ROLE.admin });
      const complete = (person: Person, number: unknown) =>
        person.rest("POST", "/api/user/topup/complete", { trade_no: number });
      expect((await complete(user, trade_no)).body.success).toBe(false);
      expect((await complete(admin, trade_no)).body).toMatchObject({ success: true });
      expect(await balanceOf(user)).toBe(5_000_000);
      expect((await complete(admin, trade_no)).body).toMatchObject({
        success: false,
        message: "订单状态为“已到账”，不能补单",
      });
      expect(await notify(epay.report(trade_no))).toBe("success");
      expect(await balanceOf(user)).toBe(5_000_000);
      expect(await orderOf(trade_no)).toMatchObject({ status: "success", completed_by: admin.ctx.actor.id });

      const { q, t } = harness.services.db;
      const [line] = await q.select().from(t.audit_log).where(eq(t.audit_log.target_id, trade_no));
      expect(line).toMatchObject({
        actor_id: admin.ctx.actor.id,
        action: "order.complete",
        target_type: "order",
        before: '{"status":"pending"}',
      });
      const rows = await q.select().from(t.logs).where(eq(t.logs.user_id, admin.ctx.actor.id));
      expect(rows).toMatchObject([{ type: LOG_TYPE.admin }]);

      const callbacks = await admin.call.order.callbacks({ trade_no });
      expect(callbacks).toMatchObject([{ verdict: "repeated", ip: "203.0.113.9" }]);
      expect(callbacks[0]?.body).not.toContain("sign=");
      expect((await user.call.order.callbacks({ trade_no }).catch((error: unknown) => error)) instanceof Error).toBe(
        true,
      );

      const own = await paidOrder(1, "alipay", admin);
      expect((await complete(admin, own.trade_no)).body.success).toBe(false);
      expect(await balanceOf(admin)).toBe(0);
      for (const odd of ["", "USR0NO0", null, undefined, {}, 7, "x".repeat(10_000), "\u0000"]) {
        expect((await complete(admin, odd)).body).toMatchObject({ success: false, message: "订单不存在" });
      }
      await booksBalance();
    });

    test("fifty administrators' clicks at once credit once", async () => {
      const { trade_no } = await paidOrder();
      const admin = await harness.person({ role: ROLE.admin });
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => admin.rest("POST", "/api/user/topup/complete", { trade_no })),
      );
      expect(answers.filter((answer) => answer.body.success)).toHaveLength(1);
      expect(await balanceOf(user)).toBe(5_000_000);
    });

    test("an erasure removes the provider's data of the payer, and the audit is still clean", async () => {
      const { trade_no } = await paidOrder();
      await notify(epay.report(trade_no));
      const root = await harness.person({ role: ROLE.root });
      await root.call.user.erase({ id: user.ctx.actor.id });
      expect(await root.call.order.callbacks({ trade_no })).toMatchObject([{ verdict: "credited", body: "" }]);
      expect(await orderOf(trade_no)).toMatchObject({ status: "success", quota: 5_000_000 });
      await booksBalance();
    });

    test("the inviter of the payer gets the share of a paid order once", async () => {
      await setOption("InviteRebatePercent", "10");
      const inviter = await harness.person();
      const { q, t } = harness.services.db;
      await q
        .update(t.users)
        .set({ inviter_id: inviter.ctx.actor.id })
        .where(eq(t.users.id, user.ctx.actor.id))
        .returning();
      const { trade_no } = await paidOrder();
      await Promise.all([notify(epay.report(trade_no)), notify(epay.report(trade_no)), notify(epay.report(trade_no))]);
      expect(await inviter.call.user.self()).toMatchObject({
        quota: 0,
        aff_quota: 500_000,
        aff_history_quota: 500_000,
      });
      await booksBalance();
    });
  });
});
