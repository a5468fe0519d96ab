import { useLingui } from "@lingui/react/macro";
import { CreditCard } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { errorText } from "../../../shared/errors";
import { PAYMENT_PROVIDERS, type PaymentForm, TOPUP_MAX, type TopupInfo } from "../../../shared/order";
import type { PayMethod } from "../../../shared/options/shapes";
import { QUOTA_PICKS } from "../../../shared/quota";
import { confirm } from "../../components/confirm";
import { ErrorPanel } from "../../components/error-panel";
import { FieldFrame } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { trpc } from "../../lib/trpc";
import { textParam, useUrlState } from "../../lib/url-state";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { NumberField } from "../../ui/number-field";
import { Skeleton } from "../../ui/skeleton";
import { moneyText } from "./money";
import { usePayMethods } from "./pay-methods";
import { postForm } from "./post-form";
import { useSettled } from "./use-settled";
import { WaitingPanel } from "./waiting-panel";

/**
 * The gateway sends the payer back with the order's number, and with the rest of its report, which nobody reads here.
 */
const none = textParam();
const PARAMS = {
  out_trade_no: none,
  trade_no: none,
  trade_status: none,
  pid: none,
  type: none,
  name: none,
  money: none,
  param: none,
  sign: none,
  sign_type: none,
};
const NOTHING = Object.fromEntries(Object.keys(PARAMS).map((name) => [name, ""]));

/** Online top-up: how much, what it costs, a button for each way to pay, and the wait for the result. */
export default function TopupSection() {
  const { t } = useLingui();
  const info = trpc.order.info.useQuery(undefined, { meta: { quiet: true } });
  const [{ out_trade_no: returned }, patch] = useUrlState(PARAMS);
  const [started, setStarted] = useState<{ tradeNo: string; form?: PaymentForm }>();
  const waiting = started ?? (returned ? { tradeNo: returned } : undefined);
  const open = info.data && (info.data.enable_online_topup || info.data.enable_stripe_topup);
  const { form } = started ?? {};

  return (
    <Card>
      <CardHeader title={t`在线充值`} />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {waiting ? (
          <WaitingPanel
            key={waiting.tradeNo}
            tradeNo={waiting.tradeNo}
            {...(form && { onReopen: () => postForm(form) })}
            onClose={() => {
              setStarted(undefined);
              patch(NOTHING);
            }}
          />
        ) : null}
        {info.error && !info.data ? <ErrorPanel error={info.error} onRetry={() => void info.refetch()} /> : null}
        {info.isPending ? <Skeleton className="h-24 rounded-lg" /> : null}
        {info.data && !open ? <p className="text-muted">{errorText("topup_disabled", {}, currentLanguage())}</p> : null}
        {info.data && open ? <TopupForm info={info.data} onStarted={setStarted} /> : null}
      </CardBody>
    </Card>
  );
}

const isOrderable = (amount: number | null, least: number): amount is number =>
  amount !== null && Number.isInteger(amount) && amount >= least && amount <= TOPUP_MAX;

function TopupForm({
  info,
  onStarted,
}: {
  info: TopupInfo;
  onStarted: (order: { tradeNo: string; form?: PaymentForm }) => void;
}) {
  const { t } = useLingui();
  const id = useId();
  const utils = trpc.useUtils();
  const { enable_online_topup: byGateway, enable_stripe_topup: byCard } = info;
  const least = Math.min(byGateway ? info.min_topup : TOPUP_MAX, byCard ? info.stripe_min_topup : TOPUP_MAX);
  const [amount, setAmount] = useState<number | null>(least);
  const settled = useSettled(amount, 250);
  const methods = usePayMethods();
  const payByGateway = trpc.order.pay.useMutation();
  const payByCard = trpc.order.payByCard.useMutation();
  const busy = payByGateway.isPending || payByCard.isPending;

  const ask = { meta: { quiet: true }, staleTime: 60_000 } as const;
  const asked = { amount: settled ?? 0 };
  const gatewayPrice = trpc.order.quote.useQuery(asked, {
    ...ask,
    enabled: byGateway && isOrderable(settled, info.min_topup),
  });
  const cardPrice = trpc.order.quoteByCard.useQuery(asked, {
    ...ask,
    enabled: byCard && isOrderable(settled, info.stripe_min_topup),
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

  const startGateway = async (method: PayMethod, price: string) => {
    if (busy || amount === null || !(await agreed(method.name, price))) return;
    try {
      const form = await payByGateway.mutateAsync({ amount, payment_method: method.type });
      postForm(form);
      onStarted({ tradeNo: form.data["out_trade_no"] ?? "", form });
      void utils.order.own.invalidate();
    } catch {
      // Said by the query client.
    }
  };
  const startCard = async (price: string) => {
    if (busy || amount === null || !(await agreed(PAYMENT_PROVIDERS.stripe[currentLanguage()], price))) return;
    try {
      const { data } = await payByCard.mutateAsync({ amount });
      location.assign(data.pay_link);
    } catch {
      // Said by the query client.
    }
  };

  // What stands there belongs to what is typed: between two answers there is no price.
  const current = amount === settled;
  const gatewayText = byGateway && current && gatewayPrice.data ? moneyText(gatewayPrice.data.data, "cny") : undefined;
  const cardText =
    byCard && current && cardPrice.data ? moneyText(cardPrice.data.data, info.stripe_currency) : undefined;

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <FieldFrame id={id} label={t`充值数量（美元）`} error={complaint} className="max-w-80">
        <NumberField
          id={id}
          value={amount}
          min={least}
          step={1}
          unit="USD"
          aria-invalid={complaint ? true : undefined}
          aria-describedby={complaint ? `${id}-error` : undefined}
          // Below 1 there is nothing to order (C-448).
          onValueChange={(value) => setAmount(value !== null && value < 1 ? 1 : value)}
        />
      </FieldFrame>
      <div className="flex flex-wrap gap-2">
        {QUOTA_PICKS.map((pick) => (
          <Button
            key={pick}
            size="sm"
            disabled={pick < least}
            aria-pressed={pick === amount}
            onClick={() => setAmount(pick)}
          >
            {`$${pick}`}
          </Button>
        ))}
      </div>
      {byGateway ? (
        <Way label={t`扫码支付应付`} text={gatewayText} error={gatewayPrice.error} currency="cny">
          {methods === null ? <p role="alert" className="text-red-fg">{t`支付方式配置错误, 请联系管理员`}</p> : null}
          {methods?.map((method) => (
            <Button
              key={method.type}
              disabled={gatewayText === undefined || busy || (amount ?? 0) < (method.min_topup ?? 1)}
              onClick={() => void startGateway(method, gatewayText ?? "")}
            >
              <span
                aria-hidden
                className="size-2.5 rounded-full bg-muted"
                style={method.color ? { backgroundColor: method.color } : undefined}
              />
              {method.name}
            </Button>
          ))}
        </Way>
      ) : null}
      {byCard ? (
        <Way label={t`银行卡应付`} text={cardText} error={cardPrice.error} currency={info.stripe_currency}>
          <Button disabled={cardText === undefined || busy} onClick={() => void startCard(cardText ?? "")}>
            <CreditCard aria-hidden />
            {PAYMENT_PROVIDERS.stripe[currentLanguage()]}
          </Button>
        </Way>
      ) : null}
    </div>
  );
}

/** One provider: the price, and its buttons. A price that cannot be found out is 0, with the reason (C-587, C-588). */
function Way({
  label,
  text,
  error,
  currency,
  children,
}: {
  label: string;
  text: string | undefined;
  error: unknown;
  currency: string;
  children: ReactNode;
}) {
  const { t } = useLingui();
  const reason = error ? faultOf(error).message : "";
  return (
    <div className="grid gap-2">
      <p className="text-ink-2">
        {label}{" "}
        <output className="ml-1 font-medium text-ink tabular-nums">
          {text ?? (error ? moneyText("0", currency) : "—")}
        </output>
      </p>
      {error ? <p role="alert" className="text-xs text-red-fg">{t`错误：${reason}`}</p> : null}
      <div className="flex flex-wrap gap-2">{children}</div>
    </div>
  );
}
