import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { Fragment, type ReactNode, type RefObject, useCallback } from "react";
import { useMedia } from "../../lib/media";

export interface VirtualRowsProps {
  count: number;
  /** The scroll area; the head of its table stays at the top. */
  area: RefObject<HTMLElement | null>;
  /** Pixels of a usual row. */
  rowHeight: number;
  columns: number;
  /** Index of the row that the keyboard is on; -1 none. */
  active: number;
  /** `ref` measures the row, by its `data-row`. */
  row: (index: number, ref?: (element: HTMLElement | null) => void) => ReactNode;
}

/** The index of the row that holds the focus; -1 none. */
const focused = (area: HTMLElement | null): number => {
  const row = document.activeElement?.closest<HTMLElement>("[data-row]");
  return row && area?.contains(row) ? Number(row.dataset.row) : -1;
};

/**
 * The rows of a long list: those in sight, some beside them, and the ones that the keyboard and the focus are on. On
 * paper all of them.
 */
export default function VirtualRows({ count, area, rowHeight, columns, active, row }: VirtualRowsProps) {
  const printing = useMedia("print");
  const head = area.current?.querySelector("thead")?.offsetHeight ?? 0;
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => area.current,
    estimateSize: () => rowHeight,
    indexAttribute: "data-row",
    overscan: 8,
    scrollMargin: head,
    useFlushSync: false,
    rangeExtractor: useCallback(
      (range: Parameters<typeof defaultRangeExtractor>[0]) => {
        const more = [active, focused(area.current)].filter((index) => index >= 0 && index < count);
        return [...new Set([...defaultRangeExtractor(range), ...more])].sort((a, b) => a - b);
      },
      [active, area, count],
    ),
  });
  if (printing) return Array.from({ length: count }, (_, index) => <Fragment key={index}>{row(index)}</Fragment>);
  const items = virtual.getVirtualItems();
  const end = virtual.getTotalSize();
  return (
    <>
      {items.map(({ index, start }, at) => (
        <Fragment key={index}>
          <Gap columns={columns} height={start - head - (at === 0 ? 0 : (items[at - 1]?.end ?? 0) - head)} />
          {row(index, virtual.measureElement)}
        </Fragment>
      ))}
      <Gap columns={columns} height={end - Math.max(0, (items.at(-1)?.end ?? head) - head)} />
    </>
  );
}

/** The room of rows that are not drawn. */
function Gap({ columns, height }: { columns: number; height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden style={{ height }}>
      <td colSpan={columns} className="p-0" />
    </tr>
  );
}
