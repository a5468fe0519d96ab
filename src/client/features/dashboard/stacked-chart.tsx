import { useLingui } from "@lingui/react/macro";
import { useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import type { DashboardBucket, Granularity, Measure } from "../../../shared/dashboard";
import { cn } from "../../lib/cn";
import { usePhone } from "../../lib/media";
import { labelled, labelUnit, ticks } from "./chart-scale";
import { bucketLabel, type Range } from "./dashboard-range";
import { DOTS, FILLS, measureText, REST_DOT, REST_FILL } from "./measure";

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
 * Shift they choose several, Enter opens or zooms. What is under the pointer or the keys is told in words too.
 */
export function StackedChart({ label, buckets, names, only, measure, granularity, onOpen, onZoom }: ChartProps) {
  const { t } = useLingui();
  const phone = usePhone();
  const area = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);
  /** The column where choosing several began. */
  const [anchor, setAnchor] = useState<number | null>(null);
  const count = buckets.length;
  const last = names.length - 1;
  const values = buckets.map(({ parts }) =>
    parts.map((part, series) => (only === undefined || only === series ? Math.max(0, part[measure]) : 0)),
  );
  const marks = ticks(Math.max(0, ...values.map((column) => column.reduce((a, b) => a + b, 0))));
  const top = marks.at(-1) ?? 1;

  const chosen =
    at === null || at >= count ? null : { from: Math.min(anchor ?? at, at), to: Math.max(anchor ?? at, at) };
  const columnAt = (x: number): number => {
    const box = area.current?.getBoundingClientRect();
    if (!box || box.width === 0) return 0;
    return Math.max(0, Math.min(count - 1, Math.floor(((x - box.left) / box.width) * count)));
  };
  const finish = (series?: number) => {
    const from = chosen && buckets[chosen.from];
    const to = chosen && buckets[chosen.to];
    setAnchor(null);
    if (!from || !to) return;
    if (from === to) onOpen(from, series);
    else onZoom({ start: from.start, end: to.end });
  };
  const release = (event: PointerEvent) => {
    if (anchor === null || event.button !== 0) return;
    const series = event.target instanceof SVGElement ? event.target.dataset["series"] : undefined;
    finish(series === undefined ? undefined : Number(series));
  };
  const keys = (event: KeyboardEvent) => {
    const to = { ArrowLeft: (at ?? count) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: count - 1 }[event.key];
    if (to !== undefined) {
      setAnchor(event.shiftKey ? (anchor ?? at) : null);
      setAt(Math.max(0, Math.min(count - 1, to)));
    } else if (event.key === "Enter" && at !== null) finish();
    else if (event.key === "Escape" && at !== null) {
      setAt(null);
      setAnchor(null);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

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

  // One at the right edge would be cut.
  const labels = labelled(buckets, granularity, phone ? 4 : 8).filter((index) => index < count * 0.95);

  return (
    <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2">
      <div aria-hidden className="relative h-64 min-w-10 text-right text-xs text-muted tabular-nums">
        {marks.map((mark) => (
          <span
            key={mark}
            className="absolute right-0 -translate-y-1/2"
            style={{ top: `${100 - (mark / top) * 100}%` }}
          >
            {measureText(measure, mark)}
          </span>
        ))}
        {/* Holds the width of the widest mark. */}
        <span className="invisible">{measureText(measure, top)}</span>
      </div>
      <div
        ref={area}
        role="group"
        aria-label={t`${label}，用方向键逐列查看，回车查看日志`}
        tabIndex={0}
        className="relative h-64 cursor-crosshair touch-pan-y select-none"
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          const column = columnAt(event.clientX);
          setAt(column);
          setAnchor(column);
        }}
        onPointerMove={(event) => setAt(columnAt(event.clientX))}
        onPointerUp={release}
        onPointerLeave={() => {
          setAt(null);
          setAnchor(null);
        }}
        onPointerCancel={() => setAnchor(null)}
        onBlur={() => {
          setAt(null);
          setAnchor(null);
        }}
        onKeyDown={keys}
      >
        {marks.map((mark) => (
          <div
            key={mark}
            aria-hidden
            className="absolute inset-x-0 border-t border-line"
            style={{ top: `${100 - (mark / top) * 100}%` }}
          />
        ))}
        <svg
          aria-hidden
          viewBox={`0 0 ${Math.max(1, count)} 1`}
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
                      className={series === last ? REST_FILL : FILLS[series]}
                    />
                  );
                })}
              </g>
            );
          })}
        </svg>
        {pointed ? (
          <Figures bucket={pointed} right={at !== null && at < count / 2} {...{ names, only, measure, granularity }} />
        ) : null}
        <span role="status" className="sr-only">
          {pointed ? inWords(pointed) : span}
        </span>
      </div>
      <div aria-hidden className="relative col-start-2 h-5 overflow-hidden text-xs text-muted tabular-nums">
        {labels.map((index) => (
          <span key={index} className="absolute top-1 whitespace-nowrap" style={{ left: `${(index / count) * 100}%` }}>
            {bucketLabel(labelUnit(granularity, count), buckets[index]?.start ?? 0)}
          </span>
        ))}
      </div>
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
