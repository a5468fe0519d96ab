import { useLingui } from "@lingui/react/macro";
import { CircleCheck, Hourglass, Play } from "lucide-react";
import { useState } from "react";
import type { InstanceView } from "../../../shared/drain";
import { EmptyState } from "../../components/empty-state";
import { ErrorPanel } from "../../components/error-panel";
import { Page } from "../../components/page";
import { TimeAgo } from "../../components/time-ago";
import { formatTime } from "../../lib/format";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Skeleton } from "../../ui/skeleton";
import { Table, Td, Th } from "../../ui/table";
import { DrainDialog } from "./drain-dialog";

/** While one drains its calls are counted down. */
const RENEW_MS = { draining: 1_000, serving: 10_000 };

/** The processes that serve this database, and taking one of them out of service. */
export default function InstancePage() {
  const { t } = useLingui();
  const [asked, setAsked] = useState<InstanceView | null>(null);
  const utils = trpc.useUtils();
  const list = trpc.instance.list.useQuery(undefined, {
    refetchInterval: ({ state }) =>
      state.data?.some(({ draining_since }) => draining_since > 0) ? RENEW_MS.draining : RENEW_MS.serving,
    retry: false,
    meta: { quiet: true },
  });
  const onSettled = () => utils.instance.list.invalidate();
  const drain = trpc.instance.drain.useMutation({ onSettled });
  const resume = trpc.instance.resume.useMutation({ onSettled });
  const instances = list.data;
  return (
    <Page title={t`实例`} description={t`服务于同一数据库的进程。排空的实例不再接受新请求，其余请求由其他实例承担。`}>
      {list.error ? (
        <ErrorPanel error={list.error} onRetry={() => void list.refetch()} />
      ) : !instances ? (
        <Skeleton className="h-40" />
      ) : instances.length === 0 ? (
        <EmptyState title={t`没有在线的实例`} />
      ) : (
        <Table wide aria-label={t`实例`}>
          <thead>
            <tr>
              <Th>{t({ message: "实例", context: "singular" })}</Th>
              <Th>{t`状态`}</Th>
              <Th className="max-sm:hidden">{t`版本`}</Th>
              <Th className="max-sm:hidden">{t`启动`}</Th>
              <Th className="max-sm:hidden">{t`心跳`}</Th>
              <Th className="text-right">{t`操作`}</Th>
            </tr>
          </thead>
          <tbody>
            {instances.map((one) => {
              const { id } = one;
              return (
                <tr key={id}>
                  <Td className="wrap-anywhere">
                    <span className="font-mono text-xs">{id}</span> {one.self ? <Badge>{t`当前应答`}</Badge> : null}
                  </Td>
                  <Td>
                    <State instance={one} />
                  </Td>
                  <Td className="max-sm:hidden">{one.version}</Td>
                  <Td className="max-sm:hidden">
                    <TimeAgo value={one.started_at} />
                  </Td>
                  <Td className="max-sm:hidden">
                    <TimeAgo value={one.heartbeat_at} />
                  </Td>
                  <Td className="text-right">
                    {one.draining_since > 0 ? (
                      <Button
                        size="sm"
                        aria-label={t`结束实例 ${id} 的排空`}
                        loading={resume.isPending}
                        onClick={() =>
                          resume.mutate({ instance: id }, { onSuccess: () => toastSuccess(t`实例 ${id} 已恢复`) })
                        }
                      >
                        <Play aria-hidden />
                        {t`结束排空`}
                      </Button>
                    ) : (
                      <Button size="sm" aria-label={t`排空实例 ${id}`} onClick={() => setAsked(one)}>
                        <Hourglass aria-hidden />
                        {t`排空`}
                      </Button>
                    )}
                  </Td>
                </tr>
              );
            })}
          </tbody>
        </Table>
      )}
      {asked ? (
        <DrainDialog
          instance={asked}
          lone={!instances?.some(({ id, draining_since }) => id !== asked.id && draining_since === 0)}
          pending={drain.isPending}
          onClose={() => setAsked(null)}
          onDrain={(seconds) => drain.mutate({ instance: asked.id, seconds }, { onSuccess: () => setAsked(null) })}
        />
      ) : null}
    </Page>
  );
}

function State({ instance: { draining_since, drain_deadline, running } }: { instance: InstanceView }) {
  const { t } = useLingui();
  if (draining_since === 0)
    return (
      <Badge hue="green" icon={<CircleCheck aria-hidden />}>
        {t`服务中`}
      </Badge>
    );
  const until = drain_deadline > 0 ? formatTime(drain_deadline) : "";
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      <Badge hue={running > 0 ? "orange" : "grey"} icon={<Hourglass aria-hidden />}>
        {running > 0 ? t`排空中 · ${running}` : t`已排空`}
      </Badge>
      {until && running > 0 ? <span className="text-xs text-muted">{t`${until} 结束仍在进行的请求`}</span> : null}
    </span>
  );
}
