import { useLingui } from "@lingui/react/macro";
import { ExternalLink } from "lucide-react";
import { useEffect, useRef } from "react";
import { faultOf } from "../../lib/errors";
import { quotaText } from "../../lib/quota-text";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Spinner } from "../../ui/spinner";
import { moneyText } from "./money";
import { OrderBadge } from "./order-badge";

const POLL_MS = 3000;

/** Another user's order, or none: the address was typed or is old. */
const isUnknown = (error: unknown): boolean => error !== null && faultOf(error).kind === "refused";

/** Waits for the payment of an order: asks every three seconds until its state is known, then calls back. */
export function WaitingPanel({
  tradeNo,
  onReopen,
  onClose,
}: {
  tradeNo: string;
  onReopen?: () => void;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const order = trpc.order.one.useQuery(
    { trade_no: tradeNo },
    {
      staleTime: 0,
      meta: { quiet: true },
      // A connection that fails for a while does not end the wait.
      refetchInterval: ({ state }) =>
        isUnknown(state.error) || (state.data && state.data.status !== "pending") ? false : POLL_MS,
    },
  );
  const status = order.data?.status;
  const before = useRef<string | undefined>(undefined);
  const amount = quotaText(order.data?.quota ?? 0);
  useEffect(() => {
    const waited = before.current === "pending";
    if (status === undefined || status === before.current) return;
    before.current = status;
    if (status === "pending") return;
    void utils.user.self.invalidate();
    void utils.order.own.invalidate();
    void utils.order.list.invalidate();
    // Opening the return address again shows no second message.
    if (waited && status === "success") toastSuccess(t`充值成功，到账 ${amount}`, { id: tradeNo });
  }, [status, amount, tradeNo, t, utils]);

  if (isUnknown(order.error)) return null;
  return (
    <div role="status" className="flex flex-wrap items-center gap-3 rounded-md border border-line bg-sunken p-3">
      {status === undefined || status === "pending" ? (
        <>
          <Spinner />
          <span>{t`等待支付结果`}</span>
        </>
      ) : (
        <OrderBadge status={status} />
      )}
      {order.data ? (
        <span className="text-ink-2 tabular-nums">
          {amount} · {moneyText(order.data.money, order.data.currency)}
        </span>
      ) : null}
      <code className="min-w-0 font-mono text-xs text-muted wrap-anywhere">{tradeNo}</code>
      <span className="ml-auto flex gap-2">
        {onReopen && status === "pending" ? (
          <Button size="sm" onClick={onReopen}>
            <ExternalLink aria-hidden />
            {t`重新打开支付页面`}
          </Button>
        ) : null}
        <Button size="sm" variant="ghost" onClick={onClose}>{t`关闭`}</Button>
      </span>
    </div>
  );
}
