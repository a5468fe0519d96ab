import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { DashboardItem, Dimension, Measure } from "../../../shared/dashboard";
import { formatNumber } from "../../lib/format";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { logLink } from "./dashboard-links";
import type { Range } from "./dashboard-range";
import { measureText, useDashboardWords } from "./measure";

const SHOWN = 10;

const percent = (part: number, whole: number): string => (whole > 0 ? `${((part / whole) * 100).toFixed(1)}%` : "—");

interface ShareProps {
  title: string;
  description?: string;
  items: readonly DashboardItem[];
  dimension: Dimension;
  measure: Measure;
  /** What all together are, also those not listed. */
  whole: number;
  range: Range;
  username: string;
}

/** The ten largest with their share of the whole, as bars and as figures; each leads to its log. */
export function ShareCard({ title, description, items, dimension, measure, whole, range, username }: ShareProps) {
  const { t } = useLingui();
  const words = useDashboardWords();
  const largest = items
    .filter((item) => item[measure] > 0)
    .toSorted((a, b) => b[measure] - a[measure])
    .slice(0, SHOWN);
  const rest = Math.max(0, whole - largest.reduce((sum, item) => sum + item[measure], 0));
  const row = (key: string, name: ReactNode, value: number) => (
    <li key={key} className="grid grid-cols-[minmax(0,1fr)_auto_3.5rem] items-center gap-x-3">
      <span className="truncate">{name}</span>
      <span className="tabular-nums">{measureText(measure, value)}</span>
      <span className="text-right text-muted tabular-nums">{percent(value, whole)}</span>
      <span aria-hidden className="col-span-3 h-1.5 overflow-hidden rounded-sm bg-sunken">
        <span
          className="block h-full rounded-sm bg-chart-1"
          style={{ width: `${whole > 0 ? Math.min(100, (value / whole) * 100) : 0}%` }}
        />
      </span>
    </li>
  );
  return (
    <Card>
      <CardHeader title={title} description={description} />
      <CardBody>
        {largest.length === 0 ? <p className="py-4 text-center text-muted">{t`没有数据`}</p> : null}
        <ol className="grid gap-2.5" aria-label={title}>
          {largest.map((item) => {
            const link = logLink(range, { dimension, item, username });
            const name = words.nameOf(item);
            return row(
              item.key,
              link ? (
                <Link href={link} title={name} className="hover:text-accent-text hover:underline">
                  {name}
                </Link>
              ) : (
                name
              ),
              item[measure],
            );
          })}
          {largest.length > 0 && rest > 0 ? row("\0rest", <span className="text-muted">{t`其他`}</span>, rest) : null}
        </ol>
      </CardBody>
    </Card>
  );
}

/** Error rate by channel, the worst first; the number of errors leads to them. */
export function ErrorsCard({
  items,
  range,
  username,
}: {
  items: readonly DashboardItem[];
  range: Range;
  username: string;
}) {
  const { t } = useLingui();
  const { nameOf } = useDashboardWords();
  const rate = (item: DashboardItem) => item.error_count / Math.max(1, item.error_count + item.count);
  const worst = items
    .filter((item) => item.error_count > 0)
    .toSorted((a, b) => rate(b) - rate(a) || b.error_count - a.error_count)
    .slice(0, SHOWN);
  return (
    <Card>
      <CardHeader title={t`渠道出错`} description={t`出错的调用占全部调用的比例`} />
      <CardBody>
        {worst.length === 0 ? <p className="py-4 text-center text-muted">{t`这段时间没有出错`}</p> : null}
        <ol className="grid gap-2.5" aria-label={t`渠道出错`}>
          {worst.map((item) => {
            const link = logLink(range, { dimension: "channel", item, username, errors: true });
            const errors = formatNumber(item.error_count);
            const calls = formatNumber(item.error_count + item.count);
            const words = t`${errors} / ${calls} 次`;
            return (
              <li key={item.key} className="grid grid-cols-[minmax(0,1fr)_auto_3.5rem] items-center gap-x-3">
                <span className="truncate">{nameOf(item)}</span>
                {link ? (
                  <Link href={link} className="tabular-nums hover:text-accent-text hover:underline">
                    {words}
                  </Link>
                ) : (
                  <span className="tabular-nums">{words}</span>
                )}
                <span className="text-right tabular-nums">
                  {percent(item.error_count, item.error_count + item.count)}
                </span>
                <span aria-hidden className="col-span-3 h-1.5 overflow-hidden rounded-sm bg-sunken">
                  <span className="block h-full rounded-sm bg-red-solid" style={{ width: `${rate(item) * 100}%` }} />
                </span>
              </li>
            );
          })}
        </ol>
      </CardBody>
    </Card>
  );
}
