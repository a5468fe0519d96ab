import { t } from "@lingui/core/macro";
import { useState } from "react";
import { errorText } from "../../../shared/errors";
import type { PayMethod } from "../../../shared/options/shapes";
import { PAYMENT_PROVIDERS, type PaymentForm, TOPUP_MAX, type TopupInfo } from "../../../shared/order";
import { knownName } from "../../../shared/known-names";
import { confirm } from "../../components/confirm";
import { currentLanguage } from "../../lib/i18n";
import { useOnce } from "../../lib/once";
import { trpc } from "../../lib/trpc";
import { moneyText } from "./money";
import { postForm } from "./post-form";
import { useDebounced } from "../../lib/use-debounced";

const isOrderable = (amount: number | null, least: number): amount is number =>
  amount !== null && Number.isInteger(amount) && amount >= least && amount <= TOPUP_MAX;

/** The order of a top-up while it is made: the amount, its price at each provider, and the ways to pay. */
export function useTopup(info: TopupInfo, onStarted: (order: { tradeNo: string; form?: PaymentForm }) => void) {
  const utils = trpc.useUtils();
  const { enable_online_topup: byGateway, enable_stripe_topup: byCard } = info;
  const least = Math.min(byGateway ? info.min_topup : TOPUP_MAX, byCard ? info.stripe_min_topup : TOPUP_MAX);
  const [amount, setAmount] = useState<number | null>(least);
  const debounced = useDebounced(amount, 250);
  const payByGateway = trpc.order.pay.useMutation();
  const payByCard = trpc.order.payByCard.useMutation();
  const busy = payByGateway.isPending || payByCard.isPending;

  const ask = { meta: { quiet: true }, staleTime: 60_000 } as const;
  const asked = { amount: debounced ?? 0 };
  const gatewayPrice = trpc.order.quote.useQuery(asked, {
    ...ask,
    enabled: byGateway && isOrderable(debounced, info.min_topup),
  });
  const cardPrice = trpc.order.quoteByCard.useQuery(asked, {
    ...ask,
    enabled: byCard && isOrderable(debounced, info.stripe_min_topup),
  });

  const complaint =
    amount === null || !Number.isInteger(amount)
      ? errorText("topup_amount_invalid", {}, currentLanguage())
      : amount < least
        ? errorText("topup_too_small", { minimum: least }, currentLanguage())
        : amount > TOPUP_MAX
          ? errorText("topup_too_large", { maximum: TOPUP_MAX }, currentLanguage())
          : undefined;

  const dollars = `$${amount ?? 0}`;
  const agreed = (way: string, price: string) =>
    confirm({ title: t`确认充值 ${dollars}？`, description: t`使用${way}支付 ${price}。`, action: t`去支付` });

  const startGateway = useOnce(async (method: PayMethod, price: string) => {
    if (amount === null || !(await agreed(knownName(method.name, currentLanguage()), price))) return;
    try {
      const form = await payByGateway.mutateAsync({ amount, payment_method: method.type });
      postForm(form);
      onStarted({ tradeNo: form.data["out_trade_no"] ?? "", form });
      void utils.order.own.invalidate();
    } catch {
      // The query client shows the error.
    }
  });
  const startCard = useOnce(async (price: string) => {
    if (amount === null || !(await agreed(PAYMENT_PROVIDERS.stripe[currentLanguage()], price))) return;
    try {
      const { data } = await payByCard.mutateAsync({ amount });
      location.assign(data.pay_link);
    } catch {
      // The query client shows the error.
    }
  });

  // The shown price belongs to the typed amount: while it is being quoted there is none.
  const current = amount === debounced;
  const gatewayText = byGateway && current && gatewayPrice.data ? moneyText(gatewayPrice.data.data, "cny") : undefined;
  const cardText =
    byCard && current && cardPrice.data ? moneyText(cardPrice.data.data, info.stripe_currency) : undefined;

  return {
    amount,
    setAmount,
    least,
    complaint,
    busy,
    gateway: { text: gatewayText, error: gatewayPrice.error, start: startGateway },
    card: { text: cardText, error: cardPrice.error, start: startCard },
  };
}
