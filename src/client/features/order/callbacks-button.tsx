import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { VERDICTS } from "../../../shared/order";
import { EmptyState } from "../../components/empty-state";
import { ErrorPanel } from "../../components/error-panel";
import { formatTime } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Skeleton } from "../../ui/skeleton";

/** A verdict in words. */
export const verdictText = (verdict: string): string =>
  Object.entries(VERDICTS).find(([name]) => name === verdict)?.[1][currentLanguage()] ?? verdict;

/** Opens what payment providers reported about an order. */
export function CallbacksButton({ tradeNo }: { tradeNo: string }) {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button size="sm" variant="ghost" onClick={() => setOpen(true)}>{t`通知记录`}</Button>
      {open ? (
        <Dialog open onOpenChange={setOpen} title={t`通知记录`} description={tradeNo}>
          <Callbacks tradeNo={tradeNo} />
        </Dialog>
      ) : null}
    </>
  );
}

function Callbacks({ tradeNo }: { tradeNo: string }) {
  const { t } = useLingui();
  const { data, error, refetch } = trpc.order.callbacks.useQuery(
    { trade_no: tradeNo },
    { meta: { quiet: true }, staleTime: 0 },
  );
  if (error && !data) return <ErrorPanel error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="mt-3 h-24 rounded-lg" />;
  if (data.length === 0) return <EmptyState title={t`支付平台还没有通知过这个订单`} />;
  return (
    <ol className="mt-3 grid gap-3">
      {data.map((row) => (
        <li key={row.id} className="grid gap-1 rounded-md border border-line p-2">
          <p className="flex flex-wrap gap-x-3">
            <span className="font-medium">{verdictText(row.verdict)}</span>
            <span className="text-muted tabular-nums">{formatTime(row.received_at)}</span>
            <span className="text-muted">{row.ip}</span>
          </p>
          <code className="max-h-40 overflow-y-auto font-mono text-xs wrap-anywhere" tabIndex={0}>
            {row.body}
          </code>
        </li>
      ))}
    </ol>
  );
}
