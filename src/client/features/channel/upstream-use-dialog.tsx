import { useLingui } from "@lingui/react/macro";
import type { ChannelView } from "../../../shared/channel";
import { UNKNOWN_CLIENT } from "../../../shared/client-type";
import { EmptyState } from "../../components/empty-state";
import { ErrorPanel } from "../../components/error-panel";
import { Count } from "../../components/quota";
import { TimeAgo } from "../../components/time-ago";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Skeleton } from "../../ui/skeleton";

/** Who used a channel: groups, newest first, and in each the programs that called (C-089). */
export function UpstreamUseDialog({
  channel,
  onClose,
}: {
  channel: Pick<ChannelView, "id" | "name">;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const { id, name } = channel;
  const query = trpc.channel.upstreamUse.useQuery({ id }, { staleTime: 0, meta: { quiet: true } });
  const groups = query.data?.groups;

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`检测上游：${name}`}
      description={t`日志中经由此渠道的分组和客户端程序。`}
      className="w-[min(640px,calc(100vw-32px))]"
      footer={<Button onClick={onClose}>{t`关闭`}</Button>}
    >
      <div className="mt-3 grid gap-3">
        {query.error ? (
          <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
        ) : groups === undefined ? (
          <Skeleton className="h-32 rounded-lg" />
        ) : groups.length === 0 ? (
          <EmptyState title={t`还没有调用经过此渠道`} />
        ) : (
          groups.map((entry) => (
            <section key={entry.group} className="overflow-x-auto rounded-lg border border-line">
              <table className="w-full">
                <caption className="px-3 pt-2 pb-1 text-left">
                  <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
                    <Badge hue="blue">{entry.group}</Badge>
                    <span className="text-xs text-ink-2">
                      {t`首次`} <TimeAgo value={entry.first_seen} /> · {t`最近`} <TimeAgo value={entry.last_seen} />
                    </span>
                  </span>
                </caption>
                <thead>
                  <tr className="text-left text-xs text-muted [&>th]:px-3 [&>th]:py-1 [&>th]:font-medium">
                    <th scope="col">{t`客户端`}</th>
                    <th scope="col" className="text-right">{t`调用次数`}</th>
                    <th scope="col" className="text-right max-sm:hidden">{t`首次`}</th>
                    <th scope="col" className="text-right">{t`最近`}</th>
                  </tr>
                </thead>
                <tbody>
                  {entry.client_types.map((program) => (
                    <tr key={program.client_type} className="border-t border-line [&>td]:px-3 [&>td]:py-1.5">
                      <td className="font-mono text-xs wrap-anywhere">
                        {program.client_type === UNKNOWN_CLIENT ? t`未知` : program.client_type}
                      </td>
                      <td className="text-right">
                        <Count value={program.count} />
                      </td>
                      <td className="text-right whitespace-nowrap max-sm:hidden">
                        <TimeAgo value={program.first_seen} />
                      </td>
                      <td className="text-right whitespace-nowrap">
                        <TimeAgo value={program.last_seen} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          ))
        )}
      </div>
    </Dialog>
  );
}
