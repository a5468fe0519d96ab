import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { cn } from "../lib/cn";

/** A value a step, the oldest first; null where there is none, which leaves a gap. */
export type Course = readonly (number | null)[];

/** The course of a figure, without axes; its highest and lowest values are read out where `format` says how. */
export function Sparkline({
  values,
  format,
  className,
}: {
  values: Course;
  format?: (value: number) => string;
  className?: string;
}) {
  const { t } = useLingui();
  const known = values.filter((value) => value !== null);
  const top = Math.max(...known, 0) || 1;
  const step = 100 / Math.max(1, values.length - 1);
  const [low, high] = format && known.length > 0 ? [format(Math.min(...known)), format(Math.max(...known))] : ["", ""];
  const label = known.length === 0 ? t`没有数据` : t`最低 ${low}，最高 ${high}`;
  return (
    <svg
      {...(format ? { role: "img", "aria-label": label } : { "aria-hidden": true })}
      viewBox="0 0 100 24"
      preserveAspectRatio="none"
      className={cn("h-6 w-full", className)}
    >
      {format && known.length > 0 ? <title>{label}</title> : null}
      {[false, true].map((alone) => (
        <path
          key={String(alone)}
          d={pathOf(values, step, top, alone)}
          fill="none"
          vectorEffect="non-scaling-stroke"
          strokeLinecap="round"
          className={cn("stroke-chart-1", alone ? "stroke-[3px]" : "stroke-[1.5px]")}
        />
      ))}
    </svg>
  );
}

/** Lines through neighbours that have values; `alone`: those without, as lines of no length whose ends make a dot. */
function pathOf(values: Course, step: number, top: number, alone: boolean): string {
  const known = (index: number) => (values[index] ?? null) !== null;
  let path = "";
  for (const [index, value] of values.entries()) {
    const [before, after] = [known(index - 1), known(index + 1)];
    if (value === null || alone === (before || after)) continue;
    const point = `${(index * step).toFixed(2)},${(23 - (Math.max(0, value) / top) * 22).toFixed(2)}`;
    path += alone ? `M${point}L${point}` : `${before ? "L" : "M"}${point}`;
  }
  return path;
}

/** A figure with its course beside or below it; a dash without one. */
export function FigureCourse({
  figure,
  values,
  format,
  className,
}: {
  figure: ReactNode;
  values: Course;
  format: (value: number) => string;
  className?: string;
}) {
  return (
    <span className={cn("flex min-w-0 items-center gap-2 tabular-nums", className)}>
      <span className="min-w-12 shrink-0">{figure ?? <span className="text-muted">—</span>}</span>
      {figure !== null && values.some((value) => value !== null) ? (
        <Sparkline values={values} format={format} className="h-4 min-w-8 flex-1" />
      ) : null}
    </span>
  );
}
