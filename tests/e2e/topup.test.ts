/** A top-up in a real browser: wallet, confirmation, the gateway's own page, its report, and back. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { becomes } from "../kit/browser-wait";
import { EPAY_MERCHANT, type FakeEpay, startFakeEpay } from "../kit/fake-pay/epay";
import { type FakeStripe, startFakeStripe, STRIPE_SECRETS } from "../kit/fake-pay/stripe";
import { required } from "../kit/required";
import { startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

const noChromium = required("chromium") === undefined;
let browser: TestBrowser;
let weir: Weir;
let epay: FakeEpay;
let stripe: FakeStripe;

beforeAll(async () => {
  if (noChromium) return;
  browser = await launchBrowser();
  epay = startFakeEpay();
  stripe = startFakeStripe();
  weir = await startWeir({ env: { WEIR_STRIPE_API: stripe.url } });
  stripe.webhook = `${weir.url}/api/stripe/webhook`;
  const card = {
    StripeApiSecret: STRIPE_SECRETS.api,
    StripeWebhookSecret: STRIPE_SECRETS.webhook,
    StripeUnitPrice: "1.1",
  };
  for (const [key, value] of Object.entries({
    ...card,
    ServerAddress: weir.url,
    PayAddress: epay.url,
    EpayId: EPAY_MERCHANT.pid,
    EpayKey: EPAY_MERCHANT.key,
  })) {
    await weir.setOption(key, value);
  }
}, 90_000);
afterAll(async () => {
  await browser?.close();
  await weir?.stop();
  await epay?.stop();
  await stripe?.stop();
});

test.skipIf(noChromium)(
  "ten dollars are paid by card on Stripe's page, and the wallet knows when the payer is back",
  async () => {
    const user = await weir.newUser({ quota: 500_000 });
    const tab = await browser.open(`${weir.url}/topup`, { as: user, language: "zh" });
    const { page } = tab;
    await page.getByRole("button", { name: "$10", exact: true }).click();
    await page.getByText("$11.00").first().waitFor();
    await page.getByRole("button", { name: "银行卡" }).click();
    await page.getByRole("button", { name: "去支付" }).click();
    await page.waitForURL(`${stripe.url}/c/pay/*`);
    await page.getByRole("button", { name: "Pay" }).click();
    await page.waitForURL(`${weir.url}/topup**`);
    // spec: C-011, C-013
    await page.getByText("已到账").first().waitFor();
    await becomes(async () => (await weir.balance(user.id)).quota, 5_500_000);
    // spec: C-011
    expect(await weir.audit()).toEqual([]);
    tab.check();
    await tab.close();
  },
);

test.skipIf(noChromium)(
  "ten dollars are ordered, paid at the gateway in its own window, and credited while the wallet waits",
  async () => {
    const user = await weir.newUser({ quota: 500_000 });
    const tab = await browser.open(`${weir.url}/topup`, { as: user, language: "zh" });
    const { page } = tab;
    // spec: C-494
    expect((await page.request.get(weir.url)).headers()["content-security-policy"]).toContain(
      `form-action 'self' ${epay.url};`,
    );

    await page.getByRole("button", { name: "$10", exact: true }).click();
    await page.getByText("¥73.00").waitFor();
    await tab.looksRight();
    await page.getByRole("button", { name: "支付宝" }).click();
    // spec: C-010, C-012, C-135
    await page.getByText("使用支付宝支付 ¥73.00。").waitFor();
    const opening = tab.context.waitForEvent("page");
    await page.getByRole("button", { name: "去支付" }).click();
    const gateway = await opening;
    // spec: C-493
    await gateway.getByText("73.00").waitFor();
    await page.getByText("等待支付结果").waitFor();

    // Back in the wallet in the gateway's window, and updated in the window that waited, which says so for a moment.
    const told = page.getByText("充值成功，到账 $10.00").first().waitFor();
    await gateway.getByRole("button", { name: "Pay" }).click();
    await gateway.getByText("已到账").first().waitFor();
    expect(new URL(gateway.url()).origin + new URL(gateway.url()).pathname).toBe(`${weir.url}/topup`);
    await told;
    await becomes(
      () =>
        page
          .getByText("$11.00")
          .count()
          .then((count) => count > 0),
      true,
    );
    // spec: C-010, C-012, C-013
    expect((await weir.balance(user.id)).quota).toBe(5_500_000);
    expect(await weir.audit()).toEqual([]);
    await tab.looksRight();
    await tab.screenshot("topup");
    tab.check();
    await tab.close();
  },
);
