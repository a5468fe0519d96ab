import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { CreditView } from "../../../shared/user-manage";
import { ErrorPanel } from "../../components/error-panel";
import { Quota } from "../../components/quota";
import { TimeAgo } from "../../components/time-ago";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Skeleton } from "../../ui/skeleton";

const KINDS: Readonly<Record<string, MessageDescriptor>> = {
  setup: msg`初始额度`,
  adjust: msg`管理员调整`,
  redeem: msg`兑换码`,
  order: msg`在线充值`,
  reward: msg`奖励`,
  transfer: msg`邀请额度划转`,
};

/** What came into an account or was taken back, newest first. */
export function UserLedger({ id }: { id: number }) {
  const { t } = useLingui();
  const [from, setFrom] = useState<readonly number[]>([]);
  return (
    <div className="grid gap-2">
      <LedgerPart id={id} onMore={from.length === 0 ? (next) => setFrom([next]) : undefined} first />
      {from.map((before, index) => (
        <LedgerPart
          key={before}
          id={id}
          before={before}
          onMore={index === from.length - 1 ? (next) => setFrom([...from, next]) : undefined}
        />
      ))}
      <p className="text-xs text-muted">{t`这里只有入账；每次调用的扣费见使用日志。`}</p>
    </div>
  );
}

function LedgerPart({
  id,
  before,
  onMore,
  first = false,
}: {
  id: number;
  before?: number;
  onMore: ((next: number) => void) | undefined;
  first?: boolean;
}) {
  const { t } = useLingui();
  const query = trpc.user.credits.useQuery(before === undefined ? { id } : { id, before }, { meta: { quiet: true } });
  if (query.error) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton className="h-24" />;
  const { items, next } = query.data;
  if (first && items.length === 0) return <p className="text-muted">{t`还没有入账`}</p>;
  return (
    <>
      <ul className="grid divide-y divide-line">
        {items.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </ul>
      {next !== undefined && onMore ? <Button size="sm" onClick={() => onMore(next)}>{t`更早`}</Button> : null}
    </>
  );
}

function Entry({ entry }: { entry: CreditView }) {
  const { i18n } = useLingui();
  const kind = KINDS[entry.kind];
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 py-2">
      <span className={entry.amount < 0 ? "text-red-fg" : "text-green-fg"}>
        {entry.amount > 0 ? "+" : ""}
        <Quota value={entry.amount} />
      </span>
      <span>{kind ? i18n._(kind) : entry.kind}</span>
      <span className="min-w-0 flex-1 truncate text-ink-2" title={entry.note}>
        {entry.note}
      </span>
      <TimeAgo value={entry.created_at} className="text-muted" />
    </li>
  );
}
