/** The wallet's payment section and order list, with fake answers of the server. */
import "../../../../tests/dom";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { OrderAdminView, OrderView, TopupInfo } from "../../../shared/order";
import { ROLE } from "../../../shared/roles";

const { closePage, openPage, Refusal, screen } = await import("../../../../tests/kit/client-page");
const { ConfirmHost } = await import("../../components/confirm");
const { storeUser } = await import("../../lib/session");
const { readPayMethods } = await import("./pay-methods");
const { default: TopupSection } = await import("./topup-section");
const { default: OrdersSection } = await import("./orders-section");

const info: TopupInfo = {
  enable_online_topup: true,
  enable_stripe_topup: false,
  pay_methods: [],
  min_topup: 5,
  stripe_min_topup: 1,
  stripe_currency: "usd",
  amount_options: [],
  topup_link: "",
};
const methods = [
  { name: "支付宝", type: "alipay", color: "#1677ff" },
  { name: "微信", type: "wxpay", color: "#07c160" },
  { name: "大额", type: "bank", color: "", min_topup: 50 },
];
const order: OrderView = {
  id: 1,
  trade_no: "USR2NOabcdef1",
  user_id: 2,
  amount: 10,
  quota: 5_000_000,
  money: "73.00",
  currency: "cny",
  provider: "epay",
  payment_method: "alipay",
  status: "pending",
  create_time: 1_795_262_400,
  complete_time: 0,
};
const quote = ({ amount }: { amount: number }) => ({ data: (amount * 7.3).toFixed(2) });
const page = (section: React.ReactElement) => (
  <>
    {section}
    <ConfirmHost />
  </>
);
/** Forms that were submitted: address, window and fields. */
let posted: { action: string; method: string; target: string; fields: Record<string, string> }[];
const realSubmit = HTMLFormElement.prototype.submit;

beforeEach(() => {
  posted = [];
  localStorage.setItem("pay_methods", JSON.stringify(methods));
  HTMLFormElement.prototype.submit = function (this: HTMLFormElement) {
    const fields = [...this.querySelectorAll("input")].map((field) => [field.name, field.value]);
    const [action, method] = [this.getAttribute("action") ?? "", this.method.toUpperCase()];
    posted.push({ action, method, target: this.target, fields: Object.fromEntries(fields) });
  };
});
afterEach(() => {
  HTMLFormElement.prototype.submit = realSubmit;
  localStorage.clear();
  closePage();
});

describe("the payment section", () => {
  test("the price follows the amount; a method asks first, posts the gateway's form and waits until the units are there", async () => {
    let status = "pending";
    const { user, calls } = await openPage(page(<TopupSection />), "/topup", {
      procedures: {
        "order.info": () => info,
        "order.quote": quote,
        "order.pay": () => ({
          url: "https://pay.example/submit.php",
          data: { out_trade_no: order.trade_no, money: "73.00", submit: "x" },
        }),
        "order.one": () => ({ ...order, status }),
      },
    });
    const field = await screen.findByRole<HTMLInputElement>("spinbutton", { name: "充值数量（美元）" });
    expect(field.value).toBe("5");
    await screen.findByText("¥36.50");
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "$1" }).disabled).toBe(true);
    await user.click(screen.getByRole("button", { name: "$10" }));
    // spec: C-133
    expect(await screen.findByText("¥73.00")).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "大额" }).disabled).toBe(true);

    await user.click(screen.getByRole("button", { name: "支付宝" }));
    // spec: C-135
    expect(await screen.findByText("确认充值 $10？")).toBeTruthy();
    expect(screen.getByText("使用支付宝支付 ¥73.00。")).toBeTruthy();
    // spec: C-135
    expect(calls.some((call) => call.path === "order.pay")).toBe(false);
    await user.click(screen.getByRole("button", { name: "去支付" }));
    await screen.findByText("等待支付结果");
    // spec: A-237
    expect(calls.find((call) => call.path === "order.pay")?.input).toEqual({ amount: 10, payment_method: "alipay" });
    // spec: C-493
    expect(posted).toEqual([
      {
        action: "https://pay.example/submit.php",
        method: "POST",
        target: "_blank",
        fields: { out_trade_no: order.trade_no, money: "73.00", submit: "x" },
      },
    ]);
    await user.click(await screen.findByRole("button", { name: "重新打开支付页面" }));
    expect(posted).toHaveLength(2);
    status = "success";
    await screen.findByText("已到账", {}, { timeout: 15_000 });
    await user.click(screen.getByRole("button", { name: "关闭" }));
    expect(screen.queryByText(order.trade_no)).toBeNull();
  }, 30_000);

  test("the six amounts of every quota field are a press away, those below the least are not offered", async () => {
    const { user } = await openPage(page(<TopupSection />), "/topup", {
      procedures: { "order.info": () => info, "order.quote": quote },
    });
    const field = await screen.findByRole<HTMLInputElement>("spinbutton", { name: "充值数量（美元）" });
    const picks = () => screen.getAllByRole<HTMLButtonElement>("button", { name: /^\$\d+$/ });
    // spec: C-606..C-611
    expect(picks().map((button) => button.textContent)).toEqual(["$1", "$10", "$50", "$100", "$500", "$1000"]);
    expect(
      picks()
        .filter((button) => button.disabled)
        .map((button) => button.textContent),
    ).toEqual(["$1"]);
    for (const [index, amount] of ["10", "50", "100", "500", "1000"].entries()) {
      await user.click(picks()[index + 1] ?? document.body);
      expect(field.value).toBe(amount);
    }
  });

  test("each method of the operator is a button with its name and colour, and orders by its own type", async () => {
    const { user, calls } = await openPage(page(<TopupSection />), "/topup", {
      procedures: {
        "order.info": () => info,
        "order.quote": quote,
        "order.pay": () => ({
          url: "https://pay.example/submit.php",
          data: { out_trade_no: order.trade_no, money: "36.50", submit: "x" },
        }),
        "order.one": () => order,
      },
    });
    await screen.findByText("¥36.50");
    const shown = methods.map(({ name }) => {
      const dot = screen.getByRole("button", { name }).querySelector<HTMLElement>("span");
      return { name, color: dot?.style.backgroundColor };
    });
    // spec: C-009, C-010, C-134, C-314
    expect(shown).toEqual(methods.map(({ name, color }) => ({ name, color })));
    await user.click(screen.getByRole("button", { name: "微信" }));
    await user.click(await screen.findByRole("button", { name: "去支付" }));
    await screen.findByText("等待支付结果");
    // spec: C-009
    expect(calls.find((call) => call.path === "order.pay")?.input).toEqual({ amount: 5, payment_method: "wxpay" });
  });

  test("cancelling the confirmation orders nothing", async () => {
    const { user, calls } = await openPage(page(<TopupSection />), "/topup", {
      procedures: { "order.info": () => info, "order.quote": quote },
    });
    await screen.findByText("¥36.50");
    await user.click(screen.getByRole("button", { name: "支付宝" }));
    await user.click(await screen.findByRole("button", { name: "取消" }));
    expect(calls.some((call) => call.path === "order.pay")).toBe(false);
    // spec: C-135
    expect(posted).toEqual([]);
  });

  test("an amount below the least is refused without a call; below 1 becomes 1; fractions are refused", async () => {
    const { user, calls } = await openPage(page(<TopupSection />), "/topup", {
      procedures: { "order.info": () => info, "order.quote": quote },
    });
    const field = await screen.findByRole<HTMLInputElement>("spinbutton", { name: "充值数量（美元）" });
    await user.clear(field);
    await user.type(field, "4");
    // spec: C-447
    await screen.findByText("充值数量不能小于5");
    await user.clear(field);
    await user.type(field, "0");
    // spec: C-448, C-451
    expect(field.value).toBe("1");
    await user.clear(field);
    await user.type(field, "7.5");
    // spec: C-451
    await screen.findByText("充值数量必须是正整数！");
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "支付宝" }).disabled).toBe(true);
    expect(
      calls.filter((call) => call.path === "order.quote" && (call.input as { amount: number }).amount < 5),
    ).toEqual([]);
  });

  test("a price that cannot be found out is 0, with the reason", async () => {
    await openPage(page(<TopupSection />), "/topup", {
      procedures: {
        "order.info": () => info,
        "order.quote": () => {
          throw new Refusal("topup_money_too_small");
        },
      },
    });
    // spec: C-588
    expect((await screen.findByRole("alert")).textContent).toStartWith("错误：充值金额过低");
    // spec: C-587
    expect(screen.getByText("¥0.00")).toBeTruthy();
  });

  test("says when online top-up is off, and when the stored methods cannot be read", async () => {
    await openPage(page(<TopupSection />), "/topup", {
      procedures: { "order.info": () => ({ ...info, enable_online_topup: false }) },
    });
    // spec: C-449
    await screen.findByText("管理员未开启在线充值！");
    closePage();
    localStorage.setItem("pay_methods", "{");
    await openPage(page(<TopupSection />), "/topup", {
      procedures: { "order.info": () => info, "order.quote": quote },
    });
    // spec: C-577
    expect(await screen.findByText("支付方式配置错误, 请联系管理员")).toBeDefined();
    expect([
      readPayMethods(null),
      readPayMethods("{}"),
      readPayMethods("null"),
      readPayMethods('[{"name":1}]'),
      readPayMethods("[]"),
    ]).toEqual([[], null, null, null, []]);
  });

  test("back from the gateway the order of the address is shown until it is closed", async () => {
    const { user } = await openPage(
      page(<TopupSection />),
      `/topup?out_trade_no=${order.trade_no}&trade_status=TRADE_SUCCESS`,
      {
        procedures: {
          "order.info": () => info,
          "order.quote": quote,
          "order.one": () => ({ ...order, status: "success" }),
        },
      },
    );
    expect((await screen.findByText("已到账")).closest("[role=status]")?.textContent).toContain("$10.00");
    await user.click(screen.getByRole("button", { name: "关闭" }));
    expect([screen.queryByText(order.trade_no), location.search]).toEqual([null, ""]);
  });
});

describe("the orders", () => {
  const paged = (rows: object[]) => ({ items: rows, page: 1, page_size: 10, total: rows.length });

  test("a user sees their own top-ups; the list of all users' is not requested", async () => {
    storeUser({ id: 2, username: "u", display_name: "u", role: ROLE.user, status: 1, group: "default" });
    const { calls } = await openPage(page(<OrdersSection />), "/topup?orders=all", {
      procedures: { "order.own": () => paged([{ ...order, status: "expired" }]) },
    });
    await screen.findByText("已过期");
    expect(screen.queryByRole("tab")).toBeNull();
    expect(calls.map((call) => call.path)).toContain("order.own");
    expect(calls.map((call) => call.path)).not.toContain("order.list");
  });

  test("an administrator completes an unpaid order after a question", async () => {
    storeUser({ id: 1, username: "a", display_name: "a", role: ROLE.admin, status: 1, group: "default" });
    const row: OrderAdminView = { ...order, username: "payer", provider_ref: "", completed_by: 0, note: "amount" };
    let completed = 0;
    const { user, calls } = await openPage(page(<OrdersSection />), "/topup?orders=all", {
      procedures: {
        "order.list": () => paged([completed ? { ...row, status: "success", completed_by: 1, note: "" } : row]),
        "order.callbacks": () => [
          {
            id: 1,
            received_at: 1_795_262_400,
            ip: "203.0.113.9",
            body: "out_trade_no=USR2NOabcdef1&money=0.01",
            verdict: "amount",
          },
        ],
        "order.complete": () => {
          completed++;
          return null;
        },
        "user.self": () => ({}),
      },
    });
    await screen.findByText("金额与订单不符");
    await user.click(screen.getByRole("button", { name: "通知记录" }));
    expect(
      (await screen.findByText("out_trade_no=USR2NOabcdef1&money=0.01")).closest("[role=dialog]")?.textContent,
    ).toContain("203.0.113.9");
    await user.click(screen.getByRole("button", { name: "关闭" }));
    await user.click(screen.getByRole("button", { name: "补单" }));
    await screen.findByText("为 payer 补单 $10.00？");
    await user.click(screen.getAllByRole("button", { name: "补单" }).at(-1) ?? document.body);
    await screen.findByText("由管理员 1 补单");
    expect(calls.find((call) => call.path === "order.complete")?.input).toEqual({ trade_no: order.trade_no });
    expect(screen.queryByRole("button", { name: "补单" })).toBeNull();
  });
});
