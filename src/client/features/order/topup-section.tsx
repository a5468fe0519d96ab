import { useLingui } from "@lingui/react/macro";
import { CreditCard } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { errorText } from "../../../shared/errors";
import { PAYMENT_PROVIDERS, type PaymentForm, type TopupInfo } from "../../../shared/order";
import { QUOTA_PICKS } from "../../../shared/quota";
import { knownName } from "../../../shared/known-names";
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
import { useTopup } from "./use-topup";
import { WaitingPanel } from "./waiting-panel";

/**
 * The payment gateway sends the payer back with the order's number, and with other parameters that are not used here.
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

function TopupForm({
  info,
  onStarted,
}: {
  info: TopupInfo;
  onStarted: (order: { tradeNo: string; form?: PaymentForm }) => void;
}) {
  const { t } = useLingui();
  const id = useId();
  const { amount, setAmount, least, complaint, busy, gateway, card } = useTopup(info, onStarted);
  const methods = usePayMethods();

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
      {info.enable_online_topup ? (
        <Way label={t`扫码支付应付`} text={gateway.text} error={gateway.error} currency="cny">
          {methods === null ? <p role="alert" className="text-red-fg">{t`支付方式配置错误, 请联系管理员`}</p> : null}
          {methods?.map((method) => (
            <Button
              key={method.type}
              disabled={gateway.text === undefined || busy || (amount ?? 0) < (method.min_topup ?? 1)}
              onClick={() => void gateway.start(method, gateway.text ?? "")}
            >
              <span
                aria-hidden
                className="size-2.5 rounded-full bg-muted"
                style={method.color ? { backgroundColor: method.color } : undefined}
              />
              {knownName(method.name, currentLanguage())}
            </Button>
          ))}
        </Way>
      ) : null}
      {info.enable_stripe_topup ? (
        <Way label={t`银行卡应付`} text={card.text} error={card.error} currency={info.stripe_currency}>
          <Button disabled={card.text === undefined || busy} onClick={() => void card.start(card.text ?? "")}>
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
