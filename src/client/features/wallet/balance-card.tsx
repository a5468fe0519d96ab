import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { ErrorPanel } from "../../components/error-panel";
import { Figure } from "../../components/facts";
import { Quota } from "../../components/quota";
import { flagIsOn, useStatus } from "../../lib/status";
import { trpc } from "../../lib/trpc";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Skeleton } from "../../ui/skeleton";

const HOUR = 3600;
const DAYS = 7;

/** How long `balance` lasts when as much is spent each day as in the last week; null when nothing was spent. */
export function daysLeft(balance: number, spentInWeek: number): number | null {
  if (spentInWeek <= 0) return null;
  return Math.max(0, Math.floor((balance * DAYS) / spentInWeek));
}

/**
 * What was spent in the last week, from the roll-ups: cheap however many calls there were. No data while they are off.
 */
function useLastWeek() {
  useStatus();
  // Full hours, so that the question stays the same while the page is open.
  const [end_timestamp] = useState(() => Math.ceil(Date.now() / 1000 / HOUR) * HOUR);
  const enabled = flagIsOn("enable_data_export");
  const range = { start_timestamp: end_timestamp - DAYS * 24 * HOUR, end_timestamp };
  const { data, isLoading } = trpc.dashboard.ownTotals.useQuery(range, {
    enabled,
    meta: { quiet: true },
    staleTime: 60_000,
  });
  return { data, isLoading };
}

/** What there is, how fast it goes, and how long it will last. */
export function BalanceCard() {
  const { t } = useLingui();
  const self = trpc.user.self.useQuery(undefined, { meta: { quiet: true } });
  const week = useLastWeek();

  if (self.error && !self.data) {
    return (
      <Card>
        <ErrorPanel error={self.error} onRetry={() => void self.refetch()} />
      </Card>
    );
  }
  const left = self.data && week.data ? daysLeft(self.data.quota, week.data.quota) : null;
  return (
    <Card>
      <CardHeader title={t`余额`} />
      <CardBody className="grid gap-4">
        {self.data ? (
          <p className={self.data.quota < 0 ? "text-xl text-red-fg" : "text-xl"}>
            <Quota value={self.data.quota} />
          </p>
        ) : (
          <Skeleton className="h-8 w-32" />
        )}
        <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
          <Figure className="text-base" label={t`累计消耗`}>
            {self.data ? <Quota value={self.data.used_quota} /> : <Skeleton className="w-16" />}
          </Figure>
          <Figure className="text-base" label={t`调用次数`}>
            {self.data ? self.data.request_count : <Skeleton className="w-16" />}
          </Figure>
          <Figure className="text-base" label={t`近 7 天日均消耗`}>
            {week.data ? (
              <Quota value={Math.round(week.data.quota / DAYS)} />
            ) : week.isLoading ? (
              <Skeleton className="w-16" />
            ) : (
              "—"
            )}
          </Figure>
          <Figure className="text-base" label={t`预计还可用`}>
            {left === null ? "—" : left > 3650 ? t`十年以上` : t`约 ${left} 天`}
          </Figure>
        </dl>
      </CardBody>
    </Card>
  );
}
