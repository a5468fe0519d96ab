import { useLingui } from "@lingui/react/macro";
import { ArrowDown, ArrowUp, ChevronsUpDown } from "lucide-react";
import type { CSSProperties, MouseEvent, RefObject } from "react";
import { cn } from "../../lib/cn";
import type { GridSort } from "./grid-state";
import { ACTIONS_COLUMN, SELECT_COLUMN, type GridTable } from "./grid-table";
import type { GridColumn } from "./types";

/** Where a column sits: sticky at the start or the end, or flowing between them. */
export interface PlacedColumn {
  id: string;
  sticky: "start" | "end" | null;
  /** Pixels from its edge when sticky. */
  offset: number;
  /** undefined: takes what is left. */
  width: number | undefined;
  lastOfStart: boolean;
}

/** The visible columns from left to right with their widths. */
export function placeColumns<R extends object>(table: GridTable<R>, columns: readonly GridColumn<R>[]): PlacedColumn[] {
  const start = table.getStartVisibleLeafColumns();
  const center = table.getCenterVisibleLeafColumns();
  const end = table.getEndVisibleLeafColumns();
  // Room is left over only while nothing scrolls sideways, so a growing column never spoils a sticky offset.
  const grow = columns.find((column) => column.grow)?.id;
  let offset = 0;
  const placed: PlacedColumn[] = [];
  for (const [index, column] of start.entries()) {
    const width = column.id === grow ? undefined : column.getSize();
    placed.push({ id: column.id, sticky: "start", offset, width, lastOfStart: index === start.length - 1 });
    offset += column.getSize();
  }
  for (const column of center) {
    const width = column.id === grow ? undefined : column.getSize();
    placed.push({ id: column.id, sticky: null, offset: 0, width, lastOfStart: false });
  }
  for (const column of end) {
    placed.push({ id: column.id, sticky: "end", offset: 0, width: column.getSize(), lastOfStart: false });
  }
  return placed;
}

/** The style of a cell in its column. */
export function placeStyle(column: PlacedColumn): CSSProperties | undefined {
  if (column.sticky === "start") return { insetInlineStart: column.offset };
  return column.sticky === "end" ? { insetInlineEnd: 0 } : undefined;
}

/** The classes of a cell in its column. */
export function placeClass(column: PlacedColumn): string {
  return cn(
    column.sticky && "sticky z-10",
    column.lastOfStart && "border-r border-r-line",
    column.sticky === "end" && "border-l border-l-line",
  );
}

type GridHeaderProps<R extends object> = {
  table: GridTable<R>;
  columns: ReadonlyMap<string, GridColumn<R>>;
  placed: readonly PlacedColumn[];
  sort: GridSort | null;
  onSort: (sort: GridSort | null) => void;
  /** Where the rows are, to measure the widest cell. */
  body: RefObject<HTMLTableElement | null>;
};

/** The head of the table: names, sorting, the handles that change a width. */
export function GridHeader<R extends object>({ table, columns, placed, sort, onSort, body }: GridHeaderProps<R>) {
  const { t } = useLingui();
  const headers = new Map(table.getLeafHeaders().map((header) => [header.column.id, header]));

  return (
    <thead>
      <tr aria-rowindex={1}>
        {placed.map((column) => {
          const className = cn(
            "group/th sticky top-0 z-10 h-8 border-b border-line bg-surface px-2.5 text-left text-xs font-medium text-muted",
            placeClass(column),
            column.sticky && "z-20",
          );
          if (column.id === SELECT_COLUMN) {
            return (
              <th key={column.id} scope="col" className={className} style={placeStyle(column)}>
                <input
                  type="checkbox"
                  aria-label={t`选择本页全部`}
                  checked={table.getIsAllPageRowsSelected()}
                  ref={(element) => {
                    if (element)
                      element.indeterminate = !table.getIsAllPageRowsSelected() && table.getIsSomePageRowsSelected();
                  }}
                  onChange={(event) => table.toggleAllPageRowsSelected(event.target.checked)}
                  className="grid-check"
                />
              </th>
            );
          }
          if (column.id === ACTIONS_COLUMN) {
            return (
              <th key={column.id} scope="col" className={className} style={placeStyle(column)}>
                <span className="sr-only">{t`操作`}</span>
              </th>
            );
          }
          const definition = columns.get(column.id);
          const header = headers.get(column.id);
          if (!definition || !header) return null;
          const sortKey = definition.sortKey ?? definition.id;
          const sorted = sort?.key === sortKey ? (sort.desc ? "descending" : "ascending") : undefined;
          return (
            <th
              key={column.id}
              scope="col"
              aria-sort={definition.sortable ? (sorted ?? "none") : undefined}
              className={cn(className, definition.align === "end" && "text-right")}
              style={placeStyle(column)}
            >
              {definition.sortable ? (
                <button
                  type="button"
                  onClick={() => onSort(nextSort(sort, sortKey))}
                  className={cn(
                    "inline-flex h-6 max-w-full items-center gap-1 rounded-sm hover:text-ink pointer-coarse:h-8",
                    sorted && "text-ink",
                  )}
                >
                  <span className="truncate">{definition.header}</span>
                  {sorted === "descending" ? (
                    <ArrowDown aria-hidden className="size-3" />
                  ) : sorted === "ascending" ? (
                    <ArrowUp aria-hidden className="size-3" />
                  ) : (
                    <ChevronsUpDown aria-hidden className="size-3 opacity-0 group-hover/th:opacity-100" />
                  )}
                </button>
              ) : (
                <span className="block truncate">{definition.header}</span>
              )}
              <span
                aria-hidden
                onMouseDown={header.getResizeHandler()}
                onTouchStart={header.getResizeHandler()}
                onDoubleClick={(event: MouseEvent) => {
                  event.preventDefault();
                  table.setColumnSizing((widths) => ({ ...widths, [column.id]: widestCell(body.current, column.id) }));
                }}
                className={cn(
                  "absolute inset-y-1 right-0 z-10 w-1.5 cursor-col-resize touch-none rounded-sm hover:bg-accent/60",
                  header.column.getIsResizing() && "bg-accent",
                )}
              />
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** First click: largest first; then smallest first; then as the server likes it. */
function nextSort(current: GridSort | null, key: string): GridSort | null {
  if (current?.key !== key) return { key, desc: true };
  return current.desc ? { key, desc: false } : null;
}

/** Pixels that the widest cell of a column needs, padding included. */
function widestCell(table: HTMLTableElement | null, id: string): number {
  let widest = 48;
  for (const cell of table?.querySelectorAll<HTMLElement>(`[data-column="${CSS.escape(id)}"] > *`) ?? []) {
    const range = document.createRange();
    range.selectNodeContents(cell);
    widest = Math.max(widest, Math.ceil(range.getBoundingClientRect().width), cell.scrollWidth);
  }
  return Math.min(widest + 24, 600);
}
