/** Orders by the server's own services, at the fake gateway of tests/kit/fake-pay/cli.ts. */
import type { Services } from "../../src/server/contracts/context";
import { endOrder, settlePayment } from "../../src/server/features/order/settle";
import { ROLE } from "../../src/shared/roles";
import { EPAY_MERCHANT } from "../../tests/kit/fake-pay/epay";
import { type Person, type Root, verbsOf } from "./people";
import type { Say } from "./say";

const GATEWAY = "http://127.0.0.1:4010";
/** The outcomes of one person's orders, in turn. */
const FATES = ["paid", "paid", "open", "expired"] as const;

/** Configures the fake gateway and gives every user an order, most of them paid. */
export async function makeOrders(services: Services, root: Root, people: readonly Person[], say: Say): Promise<void> {
  const set = {
    ServerAddress: "http://localhost:3000",
    PayAddress: GATEWAY,
    EpayId: EPAY_MERCHANT.pid,
    EpayKey: EPAY_MERCHANT.key,
  };
  for (const [key, value] of Object.entries(set)) await root.verbs.option.set({ key, value });
  for (const [i, person] of people.entries()) {
    const method = i % 2 ? "wxpay" : "alipay";
    const { data } = await verbsOf(services, { ...person, role: ROLE.user }).order.pay({
      amount: [1, 10, 50][i % 3] ?? 1,
      payment_method: method,
    });
    const trade_no = data["out_trade_no"] ?? "";
    const fate = FATES[i % FATES.length];
    if (fate === "expired") await endOrder(services, trade_no, "expired", "epay");
    if (fate !== "paid") continue;
    const payment = {
      provider: "epay",
      trade_no,
      provider_ref: `seed${i}`,
      money: data["money"] ?? "",
      currency: "cny",
      payment_method: method,
    } as const;
    await settlePayment(services, payment);
  }
  say(`${people.length} top-up orders at ${GATEWAY} (bun tests/kit/fake-pay/cli.ts).`);
}
