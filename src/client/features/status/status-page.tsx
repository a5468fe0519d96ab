import { Plural, useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { type Health, healthOf } from "../../../shared/health";
import type { ModelStatus } from "../../../shared/model-status";
import { EmptyState } from "../../components/empty-state";
import { ErrorPanel } from "../../components/error-panel";
import { HEALTH_BARS, HealthDot } from "../../components/health-dot";
import { Page } from "../../components/page";
import { Quota } from "../../components/quota";
import { FigureCourse } from "../../components/sparkline";
import { cn } from "../../lib/cn";
import { formatMilliseconds, formatNumber, formatPercent, formatTime } from "../../lib/format";
import { quotaText } from "../../lib/quota-text";
import { trpc } from "../../lib/trpc";
import { Badge, type Hue } from "../../ui/badge";
import { Input } from "../../ui/input";
import { Skeleton } from "../../ui/skeleton";
import { Table, Td, Th } from "../../ui/table";

const FRESH_MS = 60_000;
const HUES: Readonly<Record<Health, Hue>> = { good: "green", poor: "yellow", bad: "red", unknown: "grey" };

/** How each model did in the last day, by the calls of all users. */
export default function StatusPage() {
  const { t } = useLingui();
  const [words, setWords] = useState("");
  const query = trpc.status.models.useQuery(undefined, {
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
    placeholderData: keepPreviousData,
    retry: false,
    meta: { quiet: true },
  });
  const board = query.data;
  const needle = words.trim().toLowerCase();
  const models = (board?.models ?? [])
    .filter(({ model }) => model.toLowerCase().includes(needle))
    // Those with calls first, each part in the order of names.
    .toSorted((a, b) => Number(a.success === null) - Number(b.success === null));
  return (
    <Page title={t`模型状态`} description={t`近 24 小时真实调用的统计；调用过少的不显示。`}>
      {query.error ? (
        <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
      ) : !board ? (
        <Skeleton className="h-64" />
      ) : (
        <>
          <Input
            type="search"
            className="w-72"
            aria-label={t`模型名称`}
            placeholder={t`模型名称`}
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
          {models.length === 0 ? <EmptyState title={t`没有模型`} /> : <Board models={models} since={board.since} />}
        </>
      )}
    </Page>
  );
}

function Board({ models, since }: { models: readonly ModelStatus[]; since: number }) {
  const { t } = useLingui();
  const amounts = models.some(({ quota_hours }) => quota_hours !== null);
  return (
    <Table wide aria-label={t`模型状态`}>
      <thead>
        <tr>
          <Th>{t`模型`}</Th>
          <Th>{t`成功率`}</Th>
          <Th>{t`首字`}</Th>
          <Th>{t`Token / 秒`}</Th>
          {amounts ? <Th>{t`费用`}</Th> : null}
          <Th>{t`近 24 小时`}</Th>
        </tr>
      </thead>
      <tbody className="[&_td]:align-middle">
        {models.map((row) => (
          <tr key={row.model}>
            {/* Without a least width a phone leaves it one letter a line. */}
            <Td className="min-w-32 font-mono text-xs wrap-anywhere">{row.model}</Td>
            <Td>
              <Success row={row} />
            </Td>
            <Td className="w-40">
              <FigureCourse
                figure={row.first_token_ms === null ? null : formatMilliseconds(row.first_token_ms)}
                values={row.first_token_hours}
                format={formatMilliseconds}
              />
            </Td>
            <Td className="w-40">
              <FigureCourse
                figure={row.tokens_per_second === null ? null : formatNumber(row.tokens_per_second)}
                values={row.speed_hours}
                format={formatNumber}
              />
            </Td>
            {amounts ? (
              <Td className="w-40">
                <Cost hours={row.quota_hours ?? []} />
              </Td>
            ) : null}
            <Td>
              <Hours hours={row.hours} since={since} />
            </Td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function Success({ row: { success, model, failed_attempts } }: { row: ModelStatus }) {
  const { t } = useLingui();
  const [health, share] = [healthOf(success), formatPercent(success ?? 0)];
  return (
    <>
      <span className="flex items-center gap-1.5">
        <HealthDot health={health} detail={success === null ? t`近 24 小时调用过少` : t`近 24 小时成功率 ${share}`} />
        {success === null ? null : <Badge hue={HUES[health]}>{share}</Badge>}
      </span>
      {failed_attempts ? (
        // The calls may have been served all the same, by another channel.
        <Link href={`/channel?model=${encodeURIComponent(model)}`} className="text-xs text-muted underline">
          <Plural value={failed_attempts} other="# 次尝试失败" />
        </Link>
      ) : null}
    </>
  );
}

function Cost({ hours }: { hours: readonly number[] }) {
  const all = hours.reduce((sum, quota) => sum + quota, 0);
  return <FigureCourse figure={all === 0 ? null : <Quota value={all} />} values={hours} format={quotaText} />;
}

/** One bar an hour; the height says the same as the colour, the title says it in words. */
function Hours({ hours, since }: { hours: readonly (number | null)[]; since: number }) {
  const { t } = useLingui();
  const known = hours.filter((share) => share !== null);
  const worst = formatPercent(Math.min(...known));
  const label = known.length === 0 ? t`近 24 小时调用过少` : t`近 24 小时，最差一小时的成功率 ${worst}`;
  return (
    <span role="img" aria-label={label} className="flex h-5 w-32 items-end gap-px">
      {hours.map((share, index) => {
        const when = formatTime(since + index * 3600).slice(5, 16);
        return (
          <span
            key={when}
            title={share === null ? when : `${when} · ${formatPercent(share)}`}
            className={cn("flex-1 rounded-[1px]", HEALTH_BARS[healthOf(share)])}
          />
        );
      })}
    </span>
  );
}
