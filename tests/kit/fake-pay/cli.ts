/** `bun tests/kit/fake-pay/cli.ts [port]`: runs both gateways alone, for trying the wallet of a Weir by hand. */
import { EPAY_MERCHANT, startFakeEpay } from "./epay";
import { startFakeStripe, STRIPE_SECRETS } from "./stripe";

const port = Number(process.argv[2] ?? 4010);
const epay = startFakeEpay({ port });
const stripe = startFakeStripe({ port: port + 1 });
stripe.webhook = process.argv[3] ?? "http://localhost:3000/api/stripe/webhook";
console.log(
  `Easy pay  ${epay.url}: ServerAddress http://localhost:3000, PayAddress ${epay.url}, EpayId ${EPAY_MERCHANT.pid}, EpayKey ${EPAY_MERCHANT.key}\n` +
    `Stripe    ${stripe.url}: StripeApiSecret ${STRIPE_SECRETS.api}, StripeWebhookSecret ${STRIPE_SECRETS.webhook}; events go to ${stripe.webhook}\n` +
    `Start Weir with WEIR_STRIPE_API=${stripe.url} and WEIR_ALLOW_PRIVATE_FETCH=true (orders are asked about here).`,
);
