/** One payment is one credit, one code is one credit, one balance is spent once (docs/security.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../kit/databases";
import { EPAY_MERCHANT, type FakeEpay, startFakeEpay } from "../kit/fake-pay/epay";
import { stripeSignature } from "../kit/fake-pay/stripe";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { type Session, startWeir, type Weir } from "../kit/weir";

describe.each(ENGINES)("%s", (engine) => {
  const upstream = startFakeUpstream();
  let weir: Weir;
  let epay: FakeEpay;
  let user: Session;

  beforeAll(async () => {
    epay = startFakeEpay();
    weir = await startWeir({ engine, env: { WEIR_ALLOW_PRIVATE_FETCH: "true" } });
    for (const [key, value] of Object.entries({
      ServerAddress: weir.url,
      PayAddress: epay.url,
      EpayId: EPAY_MERCHANT.pid,
      EpayKey: EPAY_MERCHANT.key,
      Price: "1",
    })) {
      await weir.setOption(key, value);
    }
    await weir.newChannel({ base_url: upstream.url, models: ["words:200"] });
    await weir.priceModels({ "words:200": 1 });
    user = await weir.newUser();
  }, HOOK_MS);
  afterAll(async () => {
    await weir?.stop();
    await epay?.stop();
    upstream.close();
  });

  const notify = (parameters: URLSearchParams): Promise<string> =>
    fetch(`${weir.url}/api/user/epay/notify?${parameters}`).then((answer) => answer.text());
  async function paid(session: Session, amount = 1) {
    const form = await session.trpc.order.pay.mutate({ amount, payment_method: "alipay" });
    const trade_no = form.data.out_trade_no ?? "";
    epay.pay({ trade_no, money: form.data.money ?? "", type: "alipay" });
    return trade_no;
  }
  const stripeEvent = (trade_no: string) =>
    JSON.stringify({
      id: "evt_1",
      type: "checkout.session.completed",
      data: {
        object: {
          id: "cs_1",
          client_reference_id: trade_no,
          payment_status: "paid",
          amount_total: 100,
          currency: "usd",
        },
      },
    });
  const hook = (body: string, headers: Record<string, string>): Promise<Response> =>
    fetch(`${weir.url}/api/stripe/webhook`, { method: "POST", body, headers });

  test("new-api CVE-2026-41432: while a secret is empty its callback is closed, signed with the empty secret, a short one or none", async () => {
    const trade_no = await paid(user);
    const body = stripeEvent(trade_no);
    for (const secret of ["", " ", "whsec_", "null", "undefined"]) {
      expect((await hook(body, { "stripe-signature": stripeSignature(body, secret) })).status).toBeGreaterThanOrEqual(
        400,
      );
    }
    expect((await hook(body, {})).status).toBeGreaterThanOrEqual(400);
    await weir.setOption("EpayKey", "");
    const empty = startFakeEpay({ key: "" });
    empty.pay({ trade_no, money: "1.00", type: "alipay" });
    expect(await notify(empty.report(trade_no))).toBe("fail");
    expect(await notify(epay.report(trade_no))).toBe("fail");
    await empty.stop();
    await weir.setOption("EpayKey", EPAY_MERCHANT.key);
    expect((await weir.balance(user.id)).quota).toBe(0);
  });

  test("n8n CVE-2026-21894: an unsigned, foreign or changed callback credits no user", async () => {
    const other = await weir.newUser();
    const trade_no = await paid(user);
    for (const [changes, after] of [
      [{}, { sign: "" }],
      [{}, { money: "1000.00" }],
      [{ money: "0.01" }, {}],
      [{ type: "wxpay" }, {}],
      [{ pid: "1" }, {}],
      [{}, { sign_type: "NONE" }],
      [{}, { sign: "0".repeat(32) }],
    ] as const) {
      expect(await notify(epay.report(trade_no, changes, after))).toBe("fail");
    }
    expect([(await weir.balance(user.id)).quota, (await weir.balance(other.id)).quota]).toEqual([0, 0]);
  });

  test("SUMIT CVE-2026-111957: twenty replays of one payment at once credit its own payer once", async () => {
    const payer = await weir.newUser();
    const trade_no = await paid(payer);
    const answers = await Promise.all(Array.from({ length: 20 }, () => notify(epay.report(trade_no))));
    expect(new Set(answers)).toEqual(new Set(["success"]));
    expect((await weir.balance(payer.id)).quota).toBe(500_000);
    expect(
      await weir.db.q.select().from(weir.db.t.credits).where(eq(weir.db.t.credits.user_id, payer.id)),
    ).toHaveLength(1);
  });

  test("MacCMS CVE-2026-116215: fifty redemptions of one code at once, by several people, credit once", async () => {
    const [code = ""] = await weir.root.ok<string[]>("POST", "/api/redemption/", {
      name: "race",
      quota: 700_000,
      count: 1,
    });
    const people = await Promise.all(Array.from({ length: 5 }, () => weir.newUser()));
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => people[i % 5]?.api("POST", "/api/user/topup", { key: code })),
    );
    expect(answers.filter((answer) => answer?.body.success)).toHaveLength(1);
    const balances = await Promise.all(people.map(({ id }) => weir.balance(id)));
    expect(balances.reduce((sum, { quota }) => sum + quota, 0)).toBe(700_000);
  });

  test("new-api #5690: fifty calls at once with the balance for one never make it negative, and the ledger balances", async () => {
    // 200 words of output and a few of input, one unit each: enough for one call, not for two.
    const owner = await weir.newUser({ quota: 300 });
    const { key } = await weir.newToken({}, owner);
    const ask = { model: "words:200", max_tokens: 200, messages: [{ role: "user", content: "hi" }] };
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const answer = await weir.call(key, ask);
        await answer.text();
        return answer.status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    for (const end = Date.now() + 10_000; (await weir.holds()) > 0 && Date.now() < end;) await Bun.sleep(20);
    const { quota, used_quota } = await weir.balance(owner.id);
    expect([quota >= 0, quota + used_quota]).toEqual([true, 300]);
    expect(await weir.audit()).toEqual([]);
  });
});
