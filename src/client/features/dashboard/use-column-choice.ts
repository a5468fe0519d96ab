import { useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import type { Range } from "./dashboard-range";

interface ChoiceOptions<Bucket extends Range> {
  buckets: readonly Bucket[];
  /** A column was chosen, or a part of it. */
  onOpen: (bucket: Bucket, series?: number) => void;
  /** Several columns were chosen. */
  onZoom: (range: Range) => void;
}

/** Which columns of a chart are pointed at, by pointer or by keys, and what opens and zooms. */
export function useColumnChoice<Bucket extends Range>({ buckets, onOpen, onZoom }: ChoiceOptions<Bucket>) {
  const area = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);
  /** The column where choosing several began. */
  const [anchor, setAnchor] = useState<number | null>(null);
  const count = buckets.length;

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
  const leave = () => {
    setAt(null);
    setAnchor(null);
  };

  return {
    at,
    chosen,
    /** For the element that the columns fill. */
    wiring: {
      ref: area,
      onPointerDown: (event: PointerEvent) => {
        if (event.button !== 0) return;
        const column = columnAt(event.clientX);
        setAt(column);
        setAnchor(column);
      },
      onPointerMove: (event: PointerEvent) => setAt(columnAt(event.clientX)),
      onPointerUp: release,
      onPointerLeave: leave,
      onPointerCancel: () => setAnchor(null),
      onBlur: leave,
      onKeyDown: keys,
    },
  };
}
