import { useLingui } from "@lingui/react/macro";
import { ShieldCheck } from "lucide-react";
import { ROLE } from "../../../shared/roles";
import { ErrorPanel } from "../../components/error-panel";
import { Figure } from "../../components/facts";
import { Count, Quota } from "../../components/quota";
import { StatusBadge } from "../../components/status-badge";
import { roleLooks } from "../../components/status";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { Card, CardBody } from "../../ui/card";
import { Skeleton } from "../../ui/skeleton";

/** The user's name, role, balance and usage. */
export default function AccountCard() {
  const { t } = useLingui();
  const self = trpc.user.self.useQuery(undefined, { meta: { quiet: true } });
  const { data } = self;
  if (self.error && !data)
    return (
      <Card>
        <ErrorPanel error={self.error} onRetry={() => void self.refetch()} />
      </Card>
    );
  const waiting = <Skeleton className="h-5 w-20" />;
  return (
    <Card aria-label={t`账户`}>
      <CardBody className="grid gap-4">
        <div className="flex flex-wrap items-center gap-2">
          <h2 className="text-md wrap-anywhere">{data?.display_name || data?.username || t`账户`}</h2>
          {data ? (
            <>
              <span className="text-muted">
                @{data.username} · ID {data.id} · {data.group}
              </span>
              {/* The badge is the specification's; other roles have the ordinary tag (D-16). */}
              {data.role >= ROLE.root ? (
                <Badge hue="orange" icon={<ShieldCheck aria-hidden />}>{t`管理员`}</Badge>
              ) : (
                <StatusBadge table={roleLooks} value={data.role} />
              )}
            </>
          ) : null}
        </div>
        <dl className="grid grid-cols-1 gap-3 sm:grid-cols-3">
          <Figure label={t`当前余额`}>{data ? <Quota value={data.quota} /> : waiting}</Figure>
          <Figure label={t`历史消耗`}>{data ? <Quota value={data.used_quota} /> : waiting}</Figure>
          <Figure label={t`请求次数`}>{data ? <Count value={data.request_count} /> : waiting}</Figure>
        </dl>
      </CardBody>
    </Card>
  );
}
