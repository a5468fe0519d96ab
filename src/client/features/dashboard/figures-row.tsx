import { useLingui } from "@lingui/react/macro";
import { TrendingDown, TrendingUp } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { DashboardView, Measure, Sums } from "../../../shared/dashboard";
import { Count, Quota } from "../../components/quota";
import { Sparkline } from "../../components/sparkline";
import { formatCount, formatNumber } from "../../lib/format";
import { trpc } from "../../lib/trpc";
import { change } from "./chart-scale";
import { logLink } from "./dashboard-links";

/** Ten years: a longer estimate is meaningless. */
const MOST_DAYS = 3650;

interface RowProps {
  view: DashboardView;
  /** The same length of time before; undefined until it is known. */
  before: Sums | undefined;
  /** The figures are the signed-in user's own: their balance can be compared with them. */
  own: boolean;
  username: string;
  /** Epoch seconds. */
  now: number;
}

/** The figures of the range: each with its course and what it was in the period before. */
export function FiguresRow({ view, before, own, username, now }: RowProps) {
  const { t } = useLingui();
  const { totals, start, end } = view;
  const minutes = Math.max(1, (Math.min(end, now) - start) / 60);
  const course = (measure: Measure) =>
    view.buckets.map(({ parts }) => parts.reduce((sum, part) => sum + part[measure], 0));
  const errorsLink = logLink(view, { username, errors: true });
  const errors = formatNumber(totals.error_count);
  const rpm = formatCount(Math.round((totals.count / minutes) * 100) / 100);
  const tpm = formatCount(Math.round(totals.tokens / minutes));
  return (
    <dl className="grid grid-cols-[repeat(auto-fit,minmax(150px,1fr))] gap-3">
      <Figure title={t`消耗`} course={course("quota")} change={before && change(totals.quota, before.quota)}>
        <Quota value={totals.quota} />
      </Figure>
      <Figure
        title={t`请求数`}
        course={course("count")}
        change={before && change(totals.count, before.count)}
        note={
          totals.error_count > 0 && errorsLink ? (
            <Link href={errorsLink} className="text-red-fg hover:underline">{t`${errors} 次出错`}</Link>
          ) : null
        }
      >
        <Count value={totals.count} />
      </Figure>
      <Figure title={t`Token 数`} course={course("tokens")} change={before && change(totals.tokens, before.tokens)}>
        <Count value={totals.tokens} />
      </Figure>
      <Figure title={t`平均 RPM / TPM`}>
        <span className="tabular-nums">
          {rpm} <span className="text-md">/ {tpm}</span>
        </span>
      </Figure>
      <Balance daily={own ? (totals.quota / minutes) * 1440 : 0} />
    </dl>
  );
}

/** The own balance, and for how many days it lasts at the pace of the range. */
function Balance({ daily }: { daily: number }) {
  const { t } = useLingui();
  const self = trpc.user.self.useQuery(undefined, { meta: { quiet: true } });
  const balance = self.data?.quota;
  if (balance === undefined) return <Figure title={t`余额`}>—</Figure>;
  const days = daily > 0 && balance > 0 ? balance / daily : undefined;
  const shown =
    days === undefined || days > MOST_DAYS
      ? undefined
      : formatNumber(days < 10 ? Math.round(days * 10) / 10 : Math.round(days));
  return (
    <Figure
      title={t`余额`}
      note={shown === undefined ? null : <span className="text-muted">{t`按此速度约可用 ${shown} 天`}</span>}
    >
      <Link href="/topup" className="hover:underline">
        <Quota value={balance} />
      </Link>
    </Figure>
  );
}

interface FigureProps {
  title: string;
  children: ReactNode;
  course?: readonly number[];
  /** As a share of the period before. */
  change?: number | undefined;
  note?: ReactNode;
}

function Figure({ title, children, course, change: by, note }: FigureProps) {
  const { t } = useLingui();
  const share = by === undefined ? "" : shareText(Math.abs(by));
  const words =
    by === undefined ? "" : by > 0 ? t`比上一时段多 ${share}` : by < 0 ? t`比上一时段少 ${share}` : t`与上一时段相同`;
  return (
    <div className="grid content-start gap-1 rounded-lg border border-line bg-surface p-3">
      <dt className="text-muted">{title}</dt>
      <dd className="grid gap-1">
        <span className="truncate text-xl">{children}</span>
        <span className="flex min-h-5 flex-wrap items-center gap-x-3 text-xs">
          {by === undefined ? null : (
            <span className="flex items-center gap-1 text-muted tabular-nums" title={words}>
              {by > 0 ? <TrendingUp aria-hidden className="size-3.5" /> : null}
              {by < 0 ? <TrendingDown aria-hidden className="size-3.5" /> : null}
              <span aria-hidden>{t`较上期 ${share}`}</span>
              <span className="sr-only">{words}</span>
            </span>
          )}
          {note}
        </span>
        {course && course.length > 1 ? <Sparkline values={course} /> : null}
      </dd>
    </div>
  );
}

const shareText = (by: number): string => {
  if (by >= 10) return ">999%";
  return by > 0 && by < 0.005 ? "<1%" : `${(by * 100).toFixed(0)}%`;
};
