import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import type { LogHistogram } from "../../../shared/log-list";
import { cn } from "../../lib/cn";
import { formatTime } from "../../lib/format";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Skeleton } from "../../ui/skeleton";
import type { Range } from "../dashboard/dashboard-range";
import { useColumnChoice } from "../dashboard/use-column-choice";
import type { AskedFilter } from "./log-filter";
import { LOG_RANGES, type LogRange } from "./log-range";

/** Below this share of the height a bar would not be seen. */
const LEAST = 0.04;
/** Milliseconds between two counts while live rows come. */
const COUNT_MS = 3000;

/** What figures of the filtered rows depend on. */
export interface Counted {
  admin: boolean;
  filter: AskedFilter;
  /** The list comes first: counting may take longer. */
  ready: boolean;
  /** When the latest row of the live log came; 0: none did. */
  came: number;
}

/** Figures are counted again while live rows come, though not with each. */
export const countedOptions = (came: number) => ({
  placeholderData: keepPreviousData,
  meta: { quiet: true },
  refetchInterval: ({ state }: { state: { dataUpdatedAt: number } }) => (came > state.dataUpdatedAt ? COUNT_MS : false),
});

/** The rows of the list over time, failed calls apart. A drag, or the keys, choose a part of the range. */
export function LogChart({ admin, filter, ready, came, onZoom }: Counted & { onZoom: (range: Range) => void }) {
  const options = countedOptions(came);
  const all = trpc.log.histogram.useQuery(filter, { ...options, enabled: ready && admin });
  const own = trpc.log.ownHistogram.useQuery(filter, { ...options, enabled: ready && !admin });
  const { data, isError } = admin ? all : own;
  if (isError) return null;
  return data ? <Bars chart={data} onZoom={onZoom} /> : <Skeleton className="h-19" />;
}

function Bars({ chart, onZoom }: { chart: LogHistogram; onZoom: (range: Range) => void }) {
  const { t } = useLingui();
  const { start, step, counted_from } = chart;
  const buckets = chart.bars.map((bar, index) => ({
    ...bar,
    start: start + index * step,
    end: start + (index + 1) * step,
  }));
  // The log's end is a moment that still counts.
  const zoom = (range: Range) => onZoom({ start: range.start, end: range.end - 1 });
  const { chosen, wiring } = useColumnChoice({ buckets, onOpen: zoom, onZoom: zoom });
  const top = Math.max(1, ...buckets.map(({ errors, others }) => errors + others));
  const [first, last] = [buckets[0], buckets.at(-1)];
  if (!first || !last) return null;

  const part = chosen ? buckets.slice(chosen.from, chosen.to + 1) : buckets;
  const errors = part.reduce((sum, bar) => sum + bar.errors, 0);
  const rows = part.reduce((sum, bar) => sum + bar.errors + bar.others, 0);
  const span = `${formatTime(part[0]?.start ?? start)} – ${formatTime(part.at(-1)?.end ?? start)}`;
  const words =
    errors > 0
      ? t`${span}：${plural(rows, { other: "# 行" })}，${plural(errors, { other: "# 个错误" })}`
      : t`${span}：${plural(rows, { other: "# 行" })}`;
  const unknown = counted_from === undefined ? 0 : Math.max(0, (counted_from - start) / step);
  const since = counted_from === undefined ? "" : formatTime(counted_from);

  return (
    <div className="grid gap-1" data-print="hide">
      <div
        role="group"
        aria-label={t`各时段的行数，用方向键逐段查看，按住 Shift 选择多段，回车放大`}
        tabIndex={0}
        className="relative h-14 cursor-crosshair touch-pan-y rounded-sm border-b border-line select-none"
        {...wiring}
      >
        <svg
          aria-hidden
          viewBox={`0 0 ${buckets.length} 1`}
          preserveAspectRatio="none"
          className="absolute inset-0 size-full"
        >
          {unknown > 0 ? <rect x={0} y={0} width={unknown} height={1} className="fill-sunken" /> : null}
          {chosen ? (
            <rect x={chosen.from} y={0} width={chosen.to - chosen.from + 1} height={1} className="fill-accent-soft" />
          ) : null}
          {buckets.map((bar, index) => (
            <g key={bar.start}>
              <Rect at={index} from={0} share={bar.errors / top} className="fill-red-solid" />
              <Rect at={index} from={shareOf(bar.errors / top)} share={bar.others / top} className="fill-accent" />
            </g>
          ))}
        </svg>
      </div>
      <p className="flex flex-wrap justify-between gap-x-4 text-xs text-muted tabular-nums">
        <span role="status">{words}</span>
        {since ? <span>{t`行数太多，只数了 ${since} 之后的`}</span> : null}
      </p>
    </div>
  );
}

const shareOf = (share: number): number => (share === 0 ? 0 : Math.max(LEAST, share));

function Rect({ at, from, share, className }: { at: number; from: number; share: number; className: string }) {
  if (share === 0) return null;
  const height = Math.min(1 - from, shareOf(share));
  return <rect x={at + 0.1} y={1 - from - height} width={0.8} height={height} className={className} />;
}

/** The ranges that end now, a press each. */
export function RangeButtons({
  range,
  onChange,
}: {
  range: LogRange | undefined;
  onChange: (range: LogRange) => void;
}) {
  const { t } = useLingui();
  const titles: Record<LogRange, string> = {
    today: t`今天`,
    "1h": t`1 小时`,
    "24h": t`24 小时`,
    "3d": t`3 天`,
    "7d": t`7 天`,
    "30d": t`30 天`,
  };
  return (
    <div role="group" aria-label={t`时间范围`} className="flex flex-wrap gap-1" data-print="hide">
      {LOG_RANGES.map((one) => (
        <Button
          key={one}
          size="sm"
          variant="ghost"
          aria-pressed={one === range}
          className={cn(one === range && "bg-accent-soft text-accent-text")}
          onClick={() => onChange(one)}
        >
          {titles[one]}
        </Button>
      ))}
    </div>
  );
}
