import {
  columnOrderingFeature,
  columnPinningFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  functionalUpdate,
  rowSelectionFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
  type ReactTable,
  type Row,
} from "@tanstack/react-table";
import { useEffect, useMemo, useState } from "react";
import { readStoredJson, writeStored } from "../../lib/storage";
import type { GridColumn } from "./types";

const features = tableFeatures({
  columnVisibilityFeature,
  columnOrderingFeature,
  columnSizingFeature,
  columnResizingFeature,
  columnPinningFeature,
  rowSelectionFeature,
});

export type GridTable<R extends object> = ReactTable<typeof features, R>;
export type GridRow<R extends object> = Row<typeof features, R>;

export const SELECT_COLUMN = "select";
export const ACTIONS_COLUMN = "actions";

/** How the user arranged the columns of one list; kept locally under its name. */
interface Layout {
  hidden: Record<string, boolean>;
  order: string[];
  widths: Record<string, number>;
  pinned: string[];
}

function isLayout(value: unknown): value is Layout {
  return (
    typeof value === "object" &&
    value !== null &&
    "order" in value &&
    Array.isArray(value.order) &&
    "hidden" in value &&
    "widths" in value &&
    "pinned" in value &&
    Array.isArray(value.pinned)
  );
}

/**
 * The column and selection model of a list (TanStack Table 9). Sorting, filtering and paging are the server's; the
 * grid draws the markup.
 */
export function useGridTable<R extends object>(options: {
  name: string;
  columns: readonly GridColumn<R>[];
  rows: readonly R[];
  rowId: (row: R) => string;
  selectable: boolean;
  hasActions: boolean;
  actionsWidth: number;
  /** A new value clears the selection: another page, other filters. */
  selectionKey: string;
}) {
  const { name, columns, rows, rowId, selectable, hasActions, actionsWidth, selectionKey } = options;
  const key = `grid:${name}`;
  const initial = useMemo(() => readStoredJson(key, isLayout), [key]);

  const [hidden, setHidden] = useState<Record<string, boolean>>(() => ({
    ...Object.fromEntries(columns.filter((column) => column.hidden).map((column) => [column.id, false])),
    ...initial?.hidden,
  }));
  const [order, setOrder] = useState<string[]>(initial?.order ?? []);
  const [widths, setWidths] = useState<Record<string, number>>(initial?.widths ?? {});
  const [pinned, setPinned] = useState<string[]>(initial?.pinned ?? []);
  const [selection, setSelection] = useState<Record<string, true>>({});

  useEffect(() => {
    writeStored(key, JSON.stringify({ hidden, order, widths, pinned } satisfies Layout));
  }, [key, hidden, order, widths, pinned]);
  useEffect(() => setSelection({}), [selectionKey]);

  const defs = useMemo(() => {
    const own = columns.map((column) => ({
      id: column.id,
      size: column.width ?? 140,
      minSize: column.minWidth ?? 64,
      maxSize: 800,
    }));
    const select = { id: SELECT_COLUMN, size: 36, enableResizing: false };
    const actions = { id: ACTIONS_COLUMN, size: actionsWidth, enableResizing: false };
    const all: ColumnDef<typeof features, R>[] = [
      ...(selectable ? [select] : []),
      ...own,
      ...(hasActions ? [actions] : []),
    ];
    return all;
  }, [columns, selectable, hasActions, actionsWidth]);

  const data = useMemo(() => [...rows], [rows]);
  const first = columns[0]?.id;
  const columnPinning = useMemo(
    () => ({
      start: [
        ...(selectable ? [SELECT_COLUMN] : []),
        ...(first ? [first] : []),
        ...pinned.filter((id) => id !== first && columns.some((column) => column.id === id)),
      ],
      end: hasActions ? [ACTIONS_COLUMN] : [],
    }),
    [columns, first, hasActions, pinned, selectable],
  );

  const table = useTable<typeof features, R>({
    features,
    columns: defs,
    data,
    getRowId: rowId,
    columnResizeMode: "onChange",
    state: {
      columnVisibility: hidden,
      columnOrder: order,
      columnSizing: widths,
      columnPinning,
      rowSelection: selection,
    },
    onColumnVisibilityChange: setHidden,
    onColumnOrderChange: setOrder,
    onColumnSizingChange: (updater) => setWidths((current) => ({ ...functionalUpdate(updater, current) })),
    onRowSelectionChange: setSelection,
  });

  return {
    table,
    pinned,
    setPinned,
    /** Ids of the columns in the user's order, hidden ones included. */
    orderedIds: [...columns.map((column) => column.id)].sort(
      (a, b) => place(order, columns, a) - place(order, columns, b),
    ),
    clearSelection: () => setSelection({}),
    resetLayout: () => {
      setHidden(Object.fromEntries(columns.filter((column) => column.hidden).map((column) => [column.id, false])));
      setOrder([]);
      setWidths({});
      setPinned([]);
    },
  };
}

/** A column the stored order does not know (it is new) keeps its place among the declared ones. */
function place<R>(order: readonly string[], columns: readonly GridColumn<R>[], id: string): number {
  const stored = order.indexOf(id);
  return stored >= 0 ? stored : columns.findIndex((column) => column.id === id);
}

export type GridModel<R extends object> = ReturnType<typeof useGridTable<R>>;
