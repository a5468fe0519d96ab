import { act } from "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { FakeServer, Procedures } from "../../../../tests/kit/client-page";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser } = await import("../../lib/session");
const { loadStatus } = await import("../../lib/status");
const { BalanceCard, daysLeft } = await import("./balance-card");
const { RedeemCard } = await import("./redeem-card");
const { default: InviteSection } = await import("../invite/invite-section");
const { inviteLink } = await import("../invite/invite-link");

const someone = (role: number) => ({ id: 7, username: "ann", display_name: "ann", role, status: 1, group: "default" });
const CODE = "0123456789abcdef0123456789abcdef";

// Slow while other test files run.
setDefaultTimeout(30_000);

beforeEach(() => storeUser(someone(1)));
afterEach(() => {
  clearUser();
  closePage();
});

interface World {
  quota?: number;
  aff_quota?: number;
  withdrawals?: object[];
}

/** A server with one good code, and earnings that fall when they are taken. */
function server(world: World = {}): Procedures {
  const state = { quota: 1_000_000, aff_quota: 2_000_000, withdrawals: [], ...world };
  const page = (items: object[]) => ({ items, page: 1, page_size: 10, total: items.length });
  return {
    "user.self": () => ({
      ...someone(1),
      quota: state.quota,
      used_quota: 250_000,
      request_count: 12,
      aff_quota: state.aff_quota,
      aff_history_quota: 2_500_000,
      aff_count: 3,
    }),
    "dashboard.ownTotals": () => ({ quota: 350_000, count: 12, error_count: 0, tokens: 100 }),
    "redemption.redeem": ({ key }: { key: string }) => {
      if (key.trim() !== CODE) throw new Refusal("redemption_invalid");
      state.quota += 500_000;
      return 500_000;
    },
    "invite.code": () => "Ab3x",
    "invite.transfer": ({ quota }: { quota: number }) => {
      state.aff_quota -= quota;
      state.quota += quota;
      return { message: "划转成功", data: quota };
    },
    "invite.withdraw": ({ amount, account }: { amount: number; account: string }) => {
      state.aff_quota -= amount;
      return { id: 1, amount, account, status: "pending", note: "", created_at: 1, settled_at: 0 };
    },
    "invite.invited": () => page([{ id: 9, username: "bob", created_at: 1, orders: 2, amount: 1_000_000 }]),
    "invite.dividends": () => page([{ id: 2, invitee_id: 9, username: "carl", amount: 250_000, created_at: 1 }]),
    "invite.withdrawals": () =>
      page([{ id: 3, amount: 750_000, account: "bank 7", status: "paid", note: "sent", created_at: 1, settled_at: 2 }]),
    "invite.allWithdrawals": () => page(state.withdrawals),
    "invite.settle": () => {
      state.withdrawals = [];
      return {};
    },
  };
}

const open = (options: FakeServer = {}) =>
  openPage(
    <>
      <BalanceCard />
      <RedeemCard />
      <Toasts />
    </>,
    "/topup",
    { procedures: server(), ...options },
  );
const press = (name: string | RegExp) => screen.getByRole("button", { name });

test("the balance, what a week costs and how long it lasts are shown", async () => {
  localStorage.setItem("enable_data_export", "true");
  await open();
  // spec: C-131
  expect((await screen.findAllByText("$2.00")).length).toBeGreaterThan(0);
  expect(await screen.findByText("约 20 天")).toBeDefined();
  expect(screen.getByText("$0.10")).toBeDefined();
});

test("a balance is shown in units where the operator does not show currency", async () => {
  localStorage.setItem("display_in_currency", "false");
  await open();
  // spec: A-202
  expect((await screen.findAllByText("1.0M")).length).toBeGreaterThan(0);
  expect(screen.queryByText("$2.00")).toBeNull();
});

test("while the roll-ups are switched off no pace is asked for and none is claimed", async () => {
  const { calls } = await open();
  await screen.findAllByText("$2.00");
  expect(screen.getAllByText("—")).toHaveLength(2);
  expect(calls.some(({ path }) => path === "dashboard.ownTotals")).toBe(false);
});

test.each([
  [100, 0, null],
  [100, 700, 1],
  [0, 7, 0],
  [-50, 7, 0],
])("with a balance of %p and %p spent in a week the days left are %p", (balance, spent, days) => {
  expect(daysLeft(balance, spent)).toBe(days);
});

test("a code is redeemed with the blanks it was pasted with, the field is emptied, and the balance is asked for again", async () => {
  const { user, calls } = await open();
  await user.type(await screen.findByLabelText("输入兑换码"), `  ${CODE}`);
  await user.click(press("兑换"));
  // spec: C-132
  expect(await screen.findByText("兑换成功，到账 $1.00")).toBeDefined();
  expect(screen.getByLabelText<HTMLInputElement>("输入兑换码").value).toBe("");
  // spec: C-137
  expect(await screen.findByText("$3.00")).toBeDefined();
  expect(calls.filter(({ path }) => path === "redemption.redeem")).toHaveLength(1);
});

test("an empty code is asked for without a call, and a wrong one is refused at the field in the server's words", async () => {
  const { user, calls } = await open();
  await user.type(await screen.findByLabelText("输入兑换码"), " - ");
  await user.click(press("兑换"));
  // spec: C-446
  expect(await screen.findByText("请输入兑换码！")).toBeDefined();
  // spec: C-446
  expect(calls.some(({ path }) => path === "redemption.redeem")).toBe(false);
  await user.type(screen.getByLabelText("输入兑换码"), "f");
  expect(screen.queryByText("请输入兑换码！")).toBeNull();
  await user.click(press("兑换"));
  expect(await screen.findByText("无效的兑换码，或该兑换码已被使用")).toBeDefined();
  expect(screen.getByLabelText("输入兑换码").getAttribute("aria-invalid")).toBe("true");
});

test("when the server cannot be reached the field says that the request failed", async () => {
  const { user } = await open();
  await user.type(await screen.findByLabelText("输入兑换码"), CODE);
  globalThis.fetch = Object.assign(() => Promise.reject(new TypeError("no network")), { preconnect: fetch.preconnect });
  await user.click(press("兑换"));
  // spec: C-586
  expect(await screen.findByText("请求失败")).toBeDefined();
  expect(screen.getByLabelText<HTMLInputElement>("输入兑换码").value).toBe(CODE);
});

test("without a link to buy codes the button says that none is set", async () => {
  const { user } = await open();
  await user.click(press("获取兑换码"));
  // spec: C-450, C-602
  // spec: A-198
  expect(await screen.findByText("超级管理员未设置充值链接！")).toBeDefined();
});

test("the button to get a code opens the operator's link", async () => {
  await open({
    paths: {
      "/api/status": () =>
        Response.json({ success: true, message: "", data: { top_up_link: "https://shop.example/codes" } }),
    },
  });
  await act(() => loadStatus());
  const link = await screen.findByRole("link", { name: "获取兑换码" });
  // spec: C-136
  expect([link.getAttribute("href"), link.getAttribute("target")]).toEqual(["https://shop.example/codes", "_blank"]);
});

test("with a link to buy codes the button leads there", async () => {
  const status = { top_up_link: "https://shop.example/codes" };
  await open({
    procedures: server(),
    paths: { "/api/status": () => Response.json({ success: true, message: "", data: status }) },
  });
  await loadStatus();
  // spec: A-198
  expect((await screen.findByRole("link", { name: "获取兑换码" })).getAttribute("href")).toBe(status.top_up_link);
});

test("the invitation link is copied by a click, and beside it stand the earnings and how many came", async () => {
  const { user } = await openInvite();
  await user.click(await screen.findByRole("button", { name: "复制邀请链接" }));
  // spec: A-119
  await waitFor(async () => expect(await navigator.clipboard.readText()).toBe(`${location.origin}/register?aff=Ab3x`));
  const figure = (name: string) => screen.getByText(name).nextElementSibling?.textContent;
  for (const [name, text] of [
    ["可用邀请收益", "$4.00"],
    ["累计邀请收益", "$5.00"],
    ["邀请人数", "3"],
  ] as const) {
    // spec: A-120
    await waitFor(() => expect([name, figure(name)]).toEqual([name, text]));
  }
});

test("the invitation link has the server's address, else this page's", () => {
  // spec: A-119
  expect(inviteLink("https://gw.example/", "http://localhost:3000", "Ab3x")).toBe(
    "https://gw.example/register?aff=Ab3x",
  );
  // spec: A-119
  expect(inviteLink("", "http://localhost:3000", "Ab3x")).toBe("http://localhost:3000/register?aff=Ab3x");
});

const openInvite = (world: World = {}, address = "/topup") =>
  openPage(
    <>
      <InviteSection />
      <Toasts />
    </>,
    address,
    { procedures: server(world) },
  );

test("earnings below a dollar, above what there is, and fractions are refused before any call; a right amount moves", async () => {
  const { user, calls } = await openInvite();
  await user.click(await screen.findByRole("button", { name: "划转到余额" }));
  const field = await screen.findByRole<HTMLInputElement>("spinbutton", { name: "划转额度" });
  const submit = () => user.click(press("划转"));
  const type = async (text: string) => {
    await user.clear(field);
    if (text) await user.type(field, text);
    await submit();
  };
  await type("0.5");
  // spec: A-372
  expect(await screen.findByText("划转金额最低为 $1.00")).toBeDefined();
  await type("4.01");
  expect(await screen.findByText("邀请额度不足，可用：$4.00")).toBeDefined();
  await type("");
  expect(await screen.findByText("划转额度必须是正整数")).toBeDefined();
  // spec: A-372
  expect(calls.some(({ path }) => path === "invite.transfer")).toBe(false);
  await type("1");
  expect(await screen.findByText("划转成功")).toBeDefined();
  // spec: A-121
  expect(calls.find(({ path }) => path === "invite.transfer")?.input).toEqual({ quota: 500_000 });
  // spec: A-121
  expect(await screen.findByText("$3.00")).toBeDefined();
});

test("a withdrawal says where the money goes", async () => {
  const { user, calls } = await openInvite();
  await user.click(await screen.findByRole("button", { name: "申请提现" }));
  await user.click(await screen.findByRole("button", { name: "提交" }));
  expect(await screen.findByText("请填写收款账户")).toBeDefined();
  await user.type(screen.getByLabelText(/^收款账户/), "bank 42");
  await user.click(press("提交"));
  expect(await screen.findByText("提现申请已提交")).toBeDefined();
  expect(calls.find(({ path }) => path === "invite.withdraw")?.input).toEqual({
    amount: 2_000_000,
    account: "bank 42",
  });
});

test("without earnings nothing can be taken, and an ordinary user sees no withdrawals of others", async () => {
  const { calls } = await openInvite({ aff_quota: 0 }, "/topup?invite=settle");
  // spec: C-015
  expect(await screen.findByText("bob")).toBeDefined();
  for (const name of ["划转到余额", "申请提现"]) expect(press(name)).toHaveProperty("disabled", true);
  // spec: C-018
  expect(screen.queryByRole("tab", { name: "待处理提现" })).toBeNull();
  expect(calls.some(({ path }) => path === "invite.allWithdrawals")).toBe(false);
});

test("a user's tabs list the users they invited with the earnings from each, their shares, and their withdrawals", async () => {
  const { user } = await openInvite();
  const table = async (tab: string) => {
    await user.click(await screen.findByRole("tab", { name: tab }));
    return (await screen.findByRole("table")).textContent;
  };
  expect(await screen.findByText("bob")).toBeDefined();
  // spec: C-018
  expect(screen.getAllByRole("tab").map((tab) => tab.textContent)).toEqual(["被邀请用户", "返利记录", "提现记录"]);
  const invited = await table("被邀请用户");
  // spec: C-015
  for (const text of ["bob", "$2.00"]) expect(invited).toContain(text);
  const shares = await table("返利记录");
  // spec: C-016
  for (const text of ["carl", "$0.50"]) expect(shares).toContain(text);
  const withdrawals = await table("提现记录");
  // spec: C-017
  for (const text of ["$1.50", "bank 7", "已支付", "sent"]) expect(withdrawals).toContain(text);
});

test("an administrator refuses a withdrawal with a note, and the list is asked for again", async () => {
  storeUser(someone(10));
  const waiting = {
    id: 4,
    user_id: 9,
    username: "bob",
    amount: 500_000,
    account: "bank 42",
    status: "pending",
    note: "",
    created_at: 1,
    settled_at: 0,
  };
  const { user, calls } = await openInvite({ withdrawals: [waiting] }, "/topup?invite=settle");
  await user.click(await screen.findByRole("button", { name: "拒绝" }));
  await user.type(await screen.findByLabelText("备注"), "wrong name");
  await user.click(press("拒绝并退回"));
  await waitFor(() =>
    expect(calls.find(({ path }) => path === "invite.settle")?.input).toEqual({
      id: 4,
      status: "refused",
      note: "wrong name",
    }),
  );
  expect(await screen.findByText("没有待处理的提现")).toBeDefined();
  // spec: C-017, C-018
  expect(calls.find(({ path }) => path === "invite.allWithdrawals")?.input).toMatchObject({ status: "pending" });
});
