import { useLingui } from "@lingui/react/macro";
import type { DashboardBucket, Granularity, Measure } from "../../../shared/dashboard";
import { cn } from "../../lib/cn";
import { usePhone } from "../../lib/media";
import { labelled, labelUnit, ticks } from "./chart-scale";
import { bucketLabel, type Range } from "./dashboard-range";
import { axisText, DOTS, FILLS, measureText, REST_DOT, REST_FILL } from "./measure";
import { useColumnChoice } from "./use-column-choice";

/** Below this share of the height a part is not drawn; the figures still name it. */
const VISIBLE = 0.0005;

interface ChartProps {
  label: string;
  buckets: readonly DashboardBucket[];
  /** Names of the series; the last one is all others. */
  names: readonly string[];
  /** Series that are shown; undefined: all. */
  only: number | undefined;
  measure: Measure;
  granularity: Granularity;
  /** A column was chosen, or a part of it. */
  onOpen: (bucket: DashboardBucket, series?: number) => void;
  /** Several columns were chosen. */
  onZoom: (range: Range) => void;
}

/**
 * Stacked columns. A click opens the log of a part, a drag zooms; by keyboard the arrows go from column to column, with
 * Shift they choose several, Enter opens or zooms. The column under the pointer or the keys is announced as text too.
 */
export function StackedChart({ label, buckets, names, only, measure, granularity, onOpen, onZoom }: ChartProps) {
  const { t } = useLingui();
  const { at, chosen, wiring } = useColumnChoice({ buckets, onOpen, onZoom });
  const count = buckets.length;
  const values = buckets.map(({ parts }) =>
    parts.map((part, series) => (only === undefined || only === series ? Math.max(0, part[measure]) : 0)),
  );
  const marks = ticks(Math.max(0, ...values.map((column) => column.reduce((a, b) => a + b, 0))));
  const top = marks.at(-1) ?? 1;

  const pointed = chosen && chosen.from === chosen.to ? buckets[chosen.from] : undefined;
  const inWords = (bucket: DashboardBucket): string => {
    const shown = bucket.parts.flatMap((part, series) =>
      part[measure] === 0 || (only !== undefined && only !== series)
        ? []
        : [`${names[series]} ${measureText(measure, part[measure])}`],
    );
    return `${bucketLabel(granularity, bucket.start, true)}: ${shown.length > 0 ? shown.join(", ") : t`没有用量`}`;
  };
  const first = chosen && buckets[chosen.from];
  const end = chosen && buckets[chosen.to];
  const span =
    first && end ? `${bucketLabel(granularity, first.start, true)} – ${bucketLabel(granularity, end.end, true)}` : "";

  return (
    <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2">
      <Marks marks={marks} measure={measure} />
      <div
        role="group"
        aria-label={t`${label}，用方向键逐列查看，回车查看日志`}
        tabIndex={0}
        className="relative h-64 cursor-crosshair touch-pan-y select-none"
        {...wiring}
      >
        {marks.map((mark) => (
          <div
            key={mark}
            aria-hidden
            className="absolute inset-x-0 border-t border-line"
            style={{ top: `${100 - (mark / top) * 100}%` }}
          />
        ))}
        <Columns buckets={buckets} values={values} top={top} rest={names.length - 1} chosen={chosen} />
        {pointed ? (
          <Figures bucket={pointed} right={at !== null && at < count / 2} {...{ names, only, measure, granularity }} />
        ) : null}
        <span role="status" className="sr-only">
          {pointed ? inWords(pointed) : span}
        </span>
      </div>
      <Labels buckets={buckets} granularity={granularity} />
    </div>
  );
}

/** The figures at the left edge, largest last. */
function Marks({ marks, measure }: { marks: readonly number[]; measure: Measure }) {
  const top = marks.at(-1) ?? 1;
  const step = marks[1] ?? top;
  return (
    <div aria-hidden className="relative h-64 min-w-10 text-right text-xs text-muted tabular-nums">
      {marks.map((mark) => (
        <span key={mark} className="absolute right-0 -translate-y-1/2" style={{ top: `${100 - (mark / top) * 100}%` }}>
          {axisText(measure, mark, step)}
        </span>
      ))}
      {/* Holds the width of the widest mark. */}
      <span className="invisible">{axisText(measure, top, step)}</span>
    </div>
  );
}

type ColumnsProps = {
  buckets: readonly DashboardBucket[];
  /** Of each column, the height of each series. */
  values: readonly (readonly number[])[];
  /** The value at the upper edge. */
  top: number;
  /** The series of all others. */
  rest: number;
  chosen: { from: number; to: number } | null;
};

function Columns({ buckets, values, top, rest, chosen }: ColumnsProps) {
  return (
    <svg
      aria-hidden
      viewBox={`0 0 ${Math.max(1, buckets.length)} 1`}
      preserveAspectRatio="none"
      className="absolute inset-0 size-full"
    >
      {chosen ? (
        <rect x={chosen.from} y={0} width={chosen.to - chosen.from + 1} height={1} className="fill-accent-soft" />
      ) : null}
      {values.map((column, index) => {
        let height = 0;
        return (
          <g key={buckets[index]?.start ?? index}>
            {column.map((value, series) => {
              const share = value / top;
              height += share;
              if (share < VISIBLE) return null;
              return (
                <rect
                  key={series}
                  data-series={series}
                  x={index + 0.1}
                  y={1 - height}
                  width={0.8}
                  height={share}
                  className={series === rest ? REST_FILL : FILLS[series]}
                />
              );
            })}
          </g>
        );
      })}
    </svg>
  );
}

/** The times below the columns. */
function Labels({ buckets, granularity }: Pick<ChartProps, "buckets" | "granularity">) {
  const phone = usePhone();
  const count = buckets.length;
  // One at the right edge would be cut.
  const labels = labelled(buckets, granularity, phone ? 4 : 8).filter((index) => index < count * 0.95);
  return (
    <div aria-hidden className="relative col-start-2 h-5 overflow-hidden text-xs text-muted tabular-nums">
      {labels.map((index) => (
        <span key={index} className="absolute top-1 whitespace-nowrap" style={{ left: `${(index / count) * 100}%` }}>
          {bucketLabel(labelUnit(granularity, count), buckets[index]?.start ?? 0)}
        </span>
      ))}
    </div>
  );
}

type FiguresProps = Pick<ChartProps, "names" | "only" | "measure" | "granularity"> & {
  bucket: DashboardBucket;
  right: boolean;
};

/** The figures of one column, beside the pointer. */
function Figures({ bucket, right, names, only, measure, granularity }: FiguresProps) {
  const { t } = useLingui();
  const parts = bucket.parts
    .map((part, series) => ({ series, value: part[measure] }))
    .filter(({ series, value }) => value !== 0 && (only === undefined || only === series));
  return (
    <div
      aria-hidden
      className={cn(
        "floating pointer-events-none absolute top-2 grid max-w-72 gap-1 p-2 text-xs",
        right ? "right-2" : "left-2",
      )}
    >
      <p className="font-medium tabular-nums">{bucketLabel(granularity, bucket.start, true)}</p>
      {parts.length === 0 ? <p className="text-muted">{t`没有用量`}</p> : null}
      {parts.map(({ series, value }) => (
        <p key={series} className="flex items-center gap-2">
          <span className={cn("size-2 shrink-0 rounded-sm", series === names.length - 1 ? REST_DOT : DOTS[series])} />
          <span className="min-w-0 flex-1 truncate">{names[series]}</span>
          <span className="tabular-nums">{measureText(measure, value)}</span>
        </p>
      ))}
    </div>
  );
}
