import { useLingui } from "@lingui/react/macro";
import { ErrorPanel } from "../../components/error-panel";
import { TimeAgo } from "../../components/time-ago";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Skeleton } from "../../ui/skeleton";
import { deviceOf } from "./device";

/** The user's sessions, each with a button that ends it. */
export default function SessionsCard() {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const query = trpc.auth.sessions.useQuery(undefined, { meta: { quiet: true } });
  const changed = { onSettled: () => void utils.auth.sessions.invalidate() };
  const ending = trpc.auth.endSession.useMutation({ ...changed, onSuccess: () => toastSuccess(t`已退出该设备`) });
  const endingOthers = trpc.auth.endOtherSessions.useMutation({
    ...changed,
    onSuccess: () => toastSuccess(t`已退出其他设备`),
  });
  const sessions = query.data ?? [];
  return (
    <Card>
      <CardHeader
        title={t`登录设备`}
        actions={
          sessions.length > 1 ? (
            <Button loading={endingOthers.isPending} onClick={() => endingOthers.mutate()}>{t`退出其他设备`}</Button>
          ) : undefined
        }
      />
      <CardBody>
        {query.data ? (
          <ul className="divide-y divide-line">
            {sessions.map(({ id, user_agent, ip, last_seen_at, current }) => (
              <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-2 py-3 first:pt-0 last:pb-0">
                <div className="min-w-0 flex-1">
                  <p className="flex flex-wrap items-center gap-2 font-medium">
                    {deviceOf(user_agent) || t`未知设备`}
                    {current ? <Badge hue="green">{t`本设备`}</Badge> : null}
                  </p>
                  <p className="wrap-anywhere text-muted">
                    {ip} · <TimeAgo value={last_seen_at} />
                  </p>
                </div>
                {current ? null : (
                  <Button
                    loading={ending.isPending && ending.variables.id === id}
                    onClick={() => ending.mutate({ id })}
                  >{t`退出`}</Button>
                )}
              </li>
            ))}
          </ul>
        ) : query.error ? (
          <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Skeleton className="h-16" />
        )}
      </CardBody>
    </Card>
  );
}
