import { useLingui } from "@lingui/react/macro";
import { ChartColumnStacked, Table2 } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { DashboardView, Dimension, Granularity, Measure } from "../../../shared/dashboard";
import { EmptyState } from "../../components/empty-state";
import { cn } from "../../lib/cn";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Table, Td, Th } from "../../ui/table";
import { logLink } from "./dashboard-links";
import { bucketLabel, type Range } from "./dashboard-range";
import { DOTS, measureText, REST_DOT, useDashboardWords } from "./measure";
import { StackedChart } from "./stacked-chart";

/** The key of all others. */
const REST = "\0rest";

interface CardProps {
  view: DashboardView;
  group_by: Dimension;
  measure: Measure;
  granularity: Granularity;
  username: string;
  onZoom: (range: Range) => void;
}

/** Consumption over time, as columns or as the table of the same figures; either leads to the log. */
export function ConsumptionCard({ view, group_by, measure, granularity, username, onZoom }: CardProps) {
  const { t } = useLingui();
  const [, navigate] = useLocation();
  const words = useDashboardWords();
  const by = words.dimensions[group_by];
  const what = words.measures[measure];
  const [asTable, setAsTable] = useState(false);
  /** Which series is looked at alone; by its key, so that it stays itself when the ranking changes. */
  const [alone, setAlone] = useState<string | null>(null);
  const series = (view.buckets[0]?.parts.length ?? 1) - 1;
  const items = view.items.slice(0, series);
  /** The last one is all others. */
  const names = [...items.map(words.nameOf), t`其他`];
  const keys = [...items.map(({ key }) => key), REST];
  const shown = names.slice(0, view.items.length > series ? undefined : series);
  const found = keys.findIndex((key) => key === alone);
  const only = alone === null || found < 0 ? undefined : found;
  const empty = view.totals.count === 0 && view.totals.error_count === 0 && view.totals.quota === 0;

  const linkOf = (range: Range, at?: number): string | null => {
    const item = at === undefined ? undefined : items[at];
    return logLink(range, { username, ...(item ? { dimension: group_by, item } : {}) });
  };

  return (
    <Card>
      <CardHeader
        title={t`消耗分布`}
        description={t`按${by}统计的${what}`}
        actions={
          <Button aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {asTable ? <ChartColumnStacked aria-hidden /> : <Table2 aria-hidden />}
            {asTable ? t`看图表` : t`看表格`}
          </Button>
        }
      />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-3">
        {empty ? (
          <EmptyState title={t`这段时间没有调用`} description={t`换一个时间范围，或用令牌发起一次调用。`} />
        ) : null}
        {!empty && asTable ? <FiguresTable names={shown} {...{ view, measure, granularity, linkOf }} /> : null}
        {!empty && !asTable ? (
          <>
            <StackedChart
              label={t`消耗分布`}
              buckets={view.buckets}
              {...{ names, only, measure, granularity, onZoom }}
              onOpen={(bucket, at) => {
                const link = linkOf(bucket, at ?? only) ?? linkOf(bucket);
                if (link) navigate(link);
              }}
            />
            <Legend names={shown} {...{ only, rest: series }} onOnly={(index) => setAlone(keys[index ?? -1] ?? null)} />
          </>
        ) : null}
      </CardBody>
    </Card>
  );
}

type FiguresTableProps = Pick<CardProps, "view" | "measure" | "granularity"> & {
  names: readonly string[];
  linkOf: (range: Range) => string | null;
};

/** The same figures in rows. */
function FiguresTable({ view, names, measure, granularity, linkOf }: FiguresTableProps) {
  const { t } = useLingui();
  return (
    <Table wide className="tabular-nums" aria-label={t`消耗分布`}>
      <thead>
        <tr>
          <Th>{t`时间`}</Th>
          {names.map((name, index) => (
            <Th key={index} className="text-right">
              {name}
            </Th>
          ))}
          <Th className="text-right">{t`合计`}</Th>
        </tr>
      </thead>
      <tbody>
        {view.buckets.map((bucket) => (
          <tr key={bucket.start}>
            <Td className="whitespace-nowrap">
              <Link href={linkOf(bucket) ?? "/log"} className="text-accent-text hover:underline">
                {bucketLabel(granularity, bucket.start, true)}
              </Link>
            </Td>
            {bucket.parts.slice(0, names.length).map((part, index) => (
              <Td key={index} className="text-right">
                {measureText(measure, part[measure])}
              </Td>
            ))}
            <Td className="text-right font-medium">
              {measureText(
                measure,
                bucket.parts.reduce((sum, part) => sum + part[measure], 0),
              )}
            </Td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

type LegendProps = {
  names: readonly string[];
  /** Index of the series of all others. */
  rest: number;
  /** The series that is looked at alone. */
  only: number | undefined;
  onOnly: (index: number | undefined) => void;
};

function Legend({ names, rest, only, onOnly }: LegendProps) {
  const { t } = useLingui();
  return (
    <ul className="flex flex-wrap gap-x-1 gap-y-1" aria-label={t`图例`}>
      {names.map((name, index) => (
        <li key={index}>
          <button
            type="button"
            aria-pressed={only === index}
            title={only === index ? t`显示全部` : t`只看这一项`}
            onClick={() => onOnly(only === index ? undefined : index)}
            className={cn(
              "flex h-7 max-w-60 items-center gap-1.5 rounded-md px-2 text-xs hover:bg-sunken",
              only !== undefined && only !== index && "text-muted",
            )}
          >
            <span
              aria-hidden
              className={cn(
                "size-2.5 shrink-0 rounded-sm",
                index === rest ? REST_DOT : DOTS[index],
                only !== undefined && only !== index && "opacity-40",
              )}
            />
            <span className="truncate">{name}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
