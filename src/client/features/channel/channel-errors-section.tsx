import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useMemo, useState } from "react";
import { Link } from "wouter";
import { addUp } from "../../../shared/health";
import { LOG_TYPE } from "../../../shared/log";
import { ErrorPanel } from "../../components/error-panel";
import { TimeAgo } from "../../components/time-ago";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { Skeleton } from "../../ui/skeleton";
import { groupErrors } from "./channel-errors";
import { useHealth } from "./health-bars";

const DAY = 86_400;
/** Rows that are looked at, and groups that are shown. */
const ROWS = 50;
const SHOWN = 5;

/** What went wrong at a channel within a day: the upstream's words, how often, and when last. */
export function ChannelErrors({ id }: { id: number }) {
  const { t } = useLingui();
  // The start stays while the drawer is open, so that the question does.
  const [start_timestamp] = useState(() => Math.floor(Date.now() / 1000) - DAY);
  const query = trpc.log.list.useQuery(
    { channel: id, type: LOG_TYPE.error, limit: ROWS, start_timestamp },
    { meta: { quiet: true } },
  );
  const hours = useHealth(id).data?.[id] ?? [];
  // Rows are of calls that failed in the end; what another channel answered after it failed here is counted alone.
  const attempts = addUp(hours).errors;
  const groups = useMemo(() => groupErrors(id, query.data?.items ?? []).slice(0, SHOWN), [id, query.data]);
  if (query.error) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton className="h-16 rounded-lg" />;
  return (
    <section
      aria-labelledby={`errors-${id}`}
      className="grid grid-cols-[minmax(0,1fr)] gap-2 rounded-lg border border-line bg-surface p-3"
    >
      <div className="flex items-baseline justify-between gap-3">
        <h3 id={`errors-${id}`} className="font-medium">{t`最近的错误`}</h3>
        {groups.length > 0 ? (
          <Link
            href={`/log?channel=${id}&type=${LOG_TYPE.error}`}
            className="text-accent-text hover:underline"
          >{t`查看全部错误`}</Link>
        ) : null}
      </div>
      {groups.length === 0 ? (
        <p className="text-muted">
          {attempts > 0
            ? t`最近 24 小时这里有 ${plural(attempts, { other: "# 次尝试" })}失败，调用都由其他渠道完成`
            : t`最近 24 小时没有错误`}
        </p>
      ) : (
        <ul className="divide-y divide-line">
          {groups.map(({ status, message, count, last }) => (
            <li key={`${status} ${message}`} className="grid gap-1 py-2 first:pt-0 last:pb-0">
              <span className="line-clamp-3 wrap-anywhere" title={message}>
                {message}
              </span>
              <span className="flex flex-wrap items-center gap-2 text-xs text-muted">
                {status > 0 ? <Badge hue="red">{status}</Badge> : null}
                <span className="tabular-nums">{t`${count} 次`}</span>
                <TimeAgo value={last} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
