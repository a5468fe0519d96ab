import { useLingui } from "@lingui/react/macro";
import { RotateCw } from "lucide-react";
import { EmptyState } from "../../components/empty-state";
import { ErrorPanel } from "../../components/error-panel";
import { Page } from "../../components/page";
import { flagIsKnown, flagIsOn, loadStatus, useStatus, useStatusFailure } from "../../lib/status";
import { cn } from "../../lib/cn";
import { Button } from "../../ui/button";
import { Skeleton } from "../../ui/skeleton";
import { Attention } from "./attention";
import { ConsumptionCard } from "./consumption-card";
import { DashboardToolbar } from "./dashboard-toolbar";
import { FiguresRow } from "./figures-row";
import { MarginCard } from "./margin-card";
import { useDashboardWords } from "./measure";
import { ErrorsCard, ShareCard } from "./share-card";
import { useDashboard } from "./use-dashboard";

/** The data dashboard: the user's own consumption, all users' for administrators. */
export default function DashboardPage() {
  const { t } = useLingui();
  useStatus();
  const failure = useStatusFailure();
  if (!flagIsKnown("enable_data_export")) {
    return (
      <Page title={t`数据看板`}>
        {failure === undefined ? (
          <Skeleton className="h-64" />
        ) : (
          <ErrorPanel error={failure} onRetry={() => void loadStatus()} />
        )}
      </Page>
    );
  }
  if (!flagIsOn("enable_data_export")) {
    return (
      <Page title={t`数据看板`}>
        <EmptyState title={t`管理员关闭了数据看板`} />
      </Page>
    );
  }
  return <OpenDashboard />;
}

function OpenDashboard() {
  const { t } = useLingui();
  const words = useDashboardWords();
  const dashboard = useDashboard();
  const { admin, url, patch, main, granularity, group_by, username } = dashboard;
  const view = main.data;
  const by = words.dimensions[group_by];

  return (
    <Page
      title={t`数据看板`}
      actions={
        <Button loading={dashboard.fetching} onClick={dashboard.refresh}>
          <RotateCw aria-hidden />
          {t`刷新`}
        </Button>
      }
    >
      {admin ? <Attention /> : null}
      <DashboardToolbar dashboard={dashboard} />
      {dashboard.valid ? null : <EmptyState title={t`结束时间必须晚于开始时间`} />}
      {main.error ? <ErrorPanel error={main.error} onRetry={() => void main.refetch()} /> : null}
      {dashboard.valid && !view && !main.error ? <Loading /> : null}
      {dashboard.valid && view && !main.error ? (
        <div
          className={cn(
            "grid grid-cols-[minmax(0,1fr)] gap-4",
            main.isPlaceholderData && "pointer-events-none opacity-60",
          )}
          aria-busy={main.isPlaceholderData}
        >
          <FiguresRow
            view={view}
            before={dashboard.before}
            own={!admin}
            username={username}
            now={dashboard.now.getTime() / 1000}
          />
          <ConsumptionCard
            {...{ view, group_by, granularity, username }}
            measure={url.measure}
            onZoom={({ start, end }) => patch({ range: "custom", from: start, to: end }, { push: true })}
          />
          <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,300px),1fr))] items-start gap-4">
            <ShareCard
              title={t`调用占比`}
              description={t`按${by}统计的请求数`}
              items={view.items}
              dimension={group_by}
              measure="count"
              whole={view.totals.count}
              range={view}
              username={username}
            />
            {admin && dashboard.users ? (
              <ShareCard
                title={t`用户消耗排行`}
                description={words.measures[url.measure]}
                items={dashboard.users}
                dimension="user"
                measure={url.measure}
                range={view}
                username=""
                whole={
                  username
                    ? dashboard.users.reduce((sum, item) => sum + item[url.measure], 0)
                    : view.totals[url.measure]
                }
              />
            ) : null}
            {admin && dashboard.channels ? (
              <ErrorsCard items={dashboard.channels} range={view} username={username} />
            ) : null}
          </div>
          {admin && username === "" ? <MarginCard range={view} group_by={group_by} /> : null}
        </div>
      ) : null}
    </Page>
  );
}

function Loading() {
  return (
    <div className="grid gap-4">
      <Skeleton className="h-28" />
      <Skeleton className="h-80" />
    </div>
  );
}
