import { useCallback, useMemo, useRef, useState } from "react";
import { usePhone } from "../../lib/media";
import { readStored, writeStored } from "../../lib/storage";
import { Button } from "../../ui/button";
import type { RowsProps } from "./grid-body";
import { GridContent } from "./grid-content";
import { FilterChips } from "./grid-filters";
import { useGridKeys } from "./grid-keys";
import { GridPager } from "./grid-pager";
import type { DataGridProps, GridSelection } from "./grid-props";
import { useGridTable } from "./grid-table";
import { GridTools } from "./grid-tools";
import { BulkBar } from "./grid-toolbar";
import { useGridSelection } from "./use-grid-selection";
import { type Density, type GridFilter, ROW_HEIGHT } from "./types";

const DENSITY_KEY = "grid-density";
const NO_ROWS: readonly never[] = [];
const NO_FILTERS: readonly GridFilter[] = [];
const NONE_EXPANDED: ReadonlySet<string> = new Set();

/**
 * A list of objects: the one component behind every list of the console. The server sorts, filters and pages; the URL
 * holds the state (useGridState); the keyboard reaches everything; on a phone each row is a card.
 */
export function DataGrid<R extends object, F extends string>(props: DataGridProps<R, F>) {
  const { grid, columns, query, filters = NO_FILTERS } = props;
  const phone = usePhone();
  const rows = props.rows ?? NO_ROWS;
  const root = useRef<HTMLDivElement>(null);
  const searchField = useRef<HTMLInputElement>(null);
  const [density, setDensity] = useDensity();
  const [filtersOpen, setFiltersOpen] = useState(false);
  const [menuId, setMenuId] = useState<string | null>(null);
  const [expanded, setExpanded] = useState(NONE_EXPANDED);

  const byId = useMemo(() => new Map(columns.map((column) => [column.id, column])), [columns]);
  const selectable = props.bulkActions !== undefined || props.selectable === true;
  const model = useGridTable({
    name: grid.name,
    columns,
    rows,
    rowId: props.rowId,
    selectable,
    hasActions: props.rowActions !== undefined || props.rowButtons !== undefined,
    actionsWidth: props.actionsWidth ?? 52,
    selectionKey: `${grid.page} ${grid.pageSize} ${grid.viewSearch}`,
  });
  const { selection, selectAllMatching } = useGridSelection(model, props.total);
  const { active, setActive } = useGridKeys({
    rows: model.table.getRowModel().rows,
    root,
    openId: grid.open,
    onOpen: props.onOpen,
    onEdit: props.onEdit,
    onCopy: props.onCopy,
    onMenu: props.rowActions ? (id) => setMenuId(id) : undefined,
    onSelect: selectable ? (row) => row.toggleSelected() : undefined,
    onStartSelecting: props.onStartSelecting,
    onRefresh: () => void query.refetch(),
    onFilter: filters.length > 0 ? () => setFiltersOpen(true) : undefined,
    onSearch: props.search ? () => searchField.current?.focus() : undefined,
  });

  const { setFilters } = grid;
  // The filters of a list are declared with the same keys as its state; the panel knows them as plain text.
  const changeFilters = useCallback(
    (changes: Record<string, string>) => setFilters(changes as Partial<Record<F, string>>),
    [setFilters],
  );
  // Rows of another page never stand under this page's number once they cannot be replaced.
  const unreachable = query.isPlaceholderData === true && query.isPaused === true;
  const failed = unreachable || (Boolean(query.error) && props.rows === undefined);
  const rowsProps: RowsProps<R> = {
    table: model.table,
    columns: byId,
    active,
    onActive: setActive,
    onOpen: props.onOpen,
    openId: grid.open,
    rowActions: props.rowActions,
    rowButtons: props.rowButtons,
    menuId,
    onMenu: setMenuId,
    shaded: props.shaded,
    expanded,
    onExpand: (id) => setExpanded((current) => toggled(current, id)),
    renderExpanded: props.renderExpanded,
    dimmed: query.isPlaceholderData === true,
    before: (grid.page - 1) * grid.pageSize,
  };

  return (
    <div ref={root} className="flex min-w-0 flex-col gap-3">
      <GridTools
        {...{ props, filters, model, phone, selection, searchField, filtersOpen, density, changeFilters }}
        columns={byId}
        onFiltersOpen={setFiltersOpen}
        onDensity={setDensity}
      />
      <FilterChips filters={filters} values={grid.filters} onChange={changeFilters} />
      <GridContent {...{ props, phone, failed, selectable, rowsProps }} rowHeight={ROW_HEIGHT[density]} />
      {(query.isPending && !query.error) || failed ? null : (
        <GridPager
          page={grid.page}
          pageSize={grid.pageSize}
          shown={props.shown ?? rows.length}
          total={props.total ?? null}
          exact={props.totalExact ?? true}
          hasMore={props.hasMore ?? false}
          onPage={(page) =>
            grid.setPage(page, props.destinationOf ? besideRow(grid.page, page, rows, props.destinationOf) : null, true)
          }
          onPageSize={grid.setPageSize}
        />
      )}
      <BulkActions props={props} selection={selection} onAllMatching={selectAllMatching} />
    </div>
  );
}

/** What can be done to the selected rows, while there are some. */
function BulkActions<R extends object, F extends string>({
  props,
  selection,
  onAllMatching,
}: {
  props: DataGridProps<R, F>;
  selection: GridSelection<R>;
  onAllMatching: () => void;
}) {
  if (!props.bulkActions || selection.rows.length === 0) return null;
  return (
    <BulkBar
      count={selection.count}
      total={props.bulkAllMatching ? (props.total ?? null) : null}
      allMatching={selection.allMatching}
      onAllMatching={onAllMatching}
      onClear={selection.clear}
    >
      {props.bulkActions(selection).map((action) => (
        <Button
          key={action.id}
          size="sm"
          disabled={action.disabled}
          title={action.hint}
          onClick={action.onSelect}
          className={action.danger ? "text-red-fg" : undefined}
        >
          {action.icon ? <action.icon aria-hidden /> : null}
          {action.label}
        </Button>
      ))}
    </BulkBar>
  );
}

/** The height of rows, the same for every list, remembered. */
function useDensity(): [Density, (next: Density) => void] {
  const [density, setDensity] = useState(storedDensity);
  const change = (next: Density) => {
    setDensity(next);
    writeStored(DENSITY_KEY, next);
  };
  return [density, change];
}

/** The cursor of the previous or next page; a page further away is addressed by its number. */
function besideRow<R>(from: number, to: number, rows: readonly R[], destinationOf: (row: R) => string): string | null {
  const row = to === from + 1 ? rows.at(-1) : to === from - 1 ? rows[0] : undefined;
  return row === undefined ? null : `${to > from ? "after" : "before"}:${destinationOf(row)}`;
}

function storedDensity(): Density {
  const stored = readStored(DENSITY_KEY);
  return stored === "compact" || stored === "roomy" ? stored : "default";
}

function toggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}
