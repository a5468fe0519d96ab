import { useLingui } from "@lingui/react/macro";
import { Check, KeyRound, TriangleAlert } from "lucide-react";
import { type ChangeEvent, readChange } from "../../../shared/channel-operations";
import { LOG_TYPE } from "../../../shared/log";
import { ErrorPanel } from "../../components/error-panel";
import { formatTime } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { trpc } from "../../lib/trpc";
import { textOf } from "../log/row-text";
import { Badge, type Hue } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Skeleton } from "../../ui/skeleton";

/** How often a channel that is watched is looked at. */
const WATCH_MS = 5_000;

/**
 * What the system changed about a channel, newest first, each with reason and time. `watched`: it is looked at again
 * and again.
 */
export function ChannelChanges({ id, watched }: { id: number; watched: boolean }) {
  const { t } = useLingui();
  const looks: Record<ChangeEvent, { hue: Hue; icon: typeof Check; text: string }> = {
    channel_auto_disabled: { hue: "yellow", icon: TriangleAlert, text: t`自动禁用` },
    channel_auto_enabled: { hue: "green", icon: Check, text: t`自动启用` },
    channel_key_auto_disabled: { hue: "yellow", icon: KeyRound, text: t`密钥自动禁用` },
  };
  const query = trpc.log.list.useInfiniteQuery(
    { channel: id, type: LOG_TYPE.system, limit: 20 },
    {
      getNextPageParam: (last) => last.next ?? undefined,
      refetchInterval: watched ? WATCH_MS : false,
      meta: { quiet: true },
    },
  );
  if (query.error) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton className="h-24 rounded-lg" />;
  const rows = query.data.pages.flatMap(({ items }) => items);
  return (
    <div className="grid gap-3">
      {watched ? <p role="status" className="text-ink-2">{t`正在观察：再次失败会出现在这里`}</p> : null}
      {rows.length === 0 ? (
        <p className="py-8 text-center text-muted">{t`没有自动变更`}</p>
      ) : (
        <ul aria-label={t`变更`} className="divide-y divide-line rounded-lg border border-line bg-surface">
          {rows.map((row) => {
            const change = readChange(row, currentLanguage());
            const look = change && looks[change.event];
            return (
              <li key={row.id} className="grid gap-1 px-3 py-2">
                <span className="flex flex-wrap items-center gap-2">
                  {look ? (
                    <Badge hue={look.hue} icon={<look.icon aria-hidden />}>
                      {look.text}
                    </Badge>
                  ) : null}
                  <time className="text-xs text-muted tabular-nums">{formatTime(row.created_at)}</time>
                </span>
                <span className="wrap-anywhere">{change ? change.reason : textOf(row)}</span>
              </li>
            );
          })}
        </ul>
      )}
      {query.hasNextPage ? (
        <Button
          size="sm"
          className="justify-self-center"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >{t`更多`}</Button>
      ) : null}
    </div>
  );
}
