import { useLingui } from "@lingui/react/macro";
import { useCallback, useMemo, useRef, useState, type ReactNode } from "react";
import { usePhone } from "../../lib/media";
import { readStored, writeStored } from "../../lib/storage";
import { Button } from "../../ui/button";
import { EmptyState } from "../empty-state";
import { ErrorPanel } from "../error-panel";
import { GridBody, GridSkeleton, type RowsProps } from "./grid-body";
import { CardsSkeleton, GridCards } from "./grid-cards";
import { ColumnsMenu } from "./grid-columns-menu";
import { FilterChips, FilterPanel } from "./grid-filters";
import { GridHeader, placeColumns } from "./grid-header";
import { useGridKeys } from "./grid-keys";
import { GridPager } from "./grid-pager";
import type { GridState } from "./grid-state";
import { useGridTable } from "./grid-table";
import { BulkBar, ExportMenu, RefreshButton, SearchField } from "./grid-toolbar";
import { ViewsMenu } from "./grid-views";
import {
  ROW_HEIGHT,
  type Density,
  type GridAction,
  type GridColumn,
  type GridFilter,
  type GridQuery,
  type GridView,
} from "./types";

/** The rows that a bulk action is for. */
export interface GridSelection<R> {
  ids: string[];
  rows: R[];
  /** True when the user meant every row that matches the filters, also those on other pages. */
  allMatching: boolean;
  count: number;
  clear: () => void;
}

export interface DataGridProps<R extends object, F extends string> {
  grid: GridState<F>;
  /** Names the list for assistive technology. */
  label: string;
  /** Stable (useMemo): the first one is the name of the row and stays in sight. */
  columns: readonly GridColumn<R>[];
  rows: readonly R[] | undefined;
  rowId: (row: R) => string;
  /** All rows that match; null when unknown, then `hasMore` says whether a next page exists. */
  total: number | null | undefined;
  hasMore?: boolean;
  /** False when there are more than `total`; `hasMore` then says whether a next page exists. */
  totalExact?: boolean;
  /** Pages by key: where a row stands in the list. The next page then stands behind the last row of this one. */
  placeOf?: (row: R) => string;
  /** Rows of this page as the pager counts them; fewer than `rows` when some stand below others. */
  shown?: number;
  query: GridQuery;
  /** The filter key that the search field writes, and its placeholder. */
  search?: { key: F; placeholder: string };
  filters?: readonly GridFilter[];
  views?: readonly GridView[];
  /** Further buttons of the toolbar; as a function they are told what is selected, also when nothing is. */
  toolbar?: ReactNode | ((selection: GridSelection<R>) => ReactNode);
  /** Enter and a click on the row. */
  onOpen?: (row: R) => void;
  /** E. */
  onEdit?: (row: R) => void;
  /** C. */
  onCopy?: (row: R) => void;
  rowActions?: (row: R) => readonly GridAction[];
  /** Buttons that stand in the row before its menu. */
  rowButtons?: (row: R) => ReactNode;
  /** Pixels of the column with buttons and menu. */
  actionsWidth?: number;
  /** Rows can be selected when this is given. */
  bulkActions?: (selection: GridSelection<R>) => readonly GridAction[];
  /** Rows can be selected, and the toolbar acts on them: the boxes are always shown, no bar floats. */
  selectable?: boolean;
  /** Offers "select all matching". */
  bulkAllMatching?: boolean;
  /** Rows drawn on a darker ground, such as disabled ones. */
  shaded?: (row: R) => boolean;
  renderExpanded?: (row: R) => ReactNode;
  empty?: { title: string; description?: string; action?: ReactNode };
  onExport?: (format: "csv" | "jsonl") => void;
}

const DENSITY_KEY = "grid-density";
const NO_ROWS: readonly never[] = [];
const NO_FILTERS: readonly GridFilter[] = [];
const NO_VIEWS: readonly GridView[] = [];
const NONE_EXPANDED: ReadonlySet<string> = new Set();

/**
 * A list of objects: the one component behind every list of the console (design/console.md A.4). The server sorts,
 * filters and pages; the address holds the state (useGridState); the keyboard reaches everything; on a phone each row
 * is a card.
 */
export function DataGrid<R extends object, F extends string>(props: DataGridProps<R, F>) {
  const { grid, columns, query, filters = NO_FILTERS, views = NO_VIEWS } = props;
  const { t } = useLingui();
  const phone = usePhone();
  const rows = props.rows ?? NO_ROWS;
  const root = useRef<HTMLDivElement>(null);
  const tableElement = useRef<HTMLTableElement>(null);
  const searchField = useRef<HTMLInputElement>(null);
  const [density, setDensity] = useState(storedDensity);
  const [filtersOpen, setFiltersOpen] = useState(false);
  const [menuId, setMenuId] = useState<string | null>(null);
  const [expanded, setExpanded] = useState(NONE_EXPANDED);
  const [allMatching, setAllMatching] = useState(false);

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
  const { table } = model;
  const tableRows = table.getRowModel().rows;
  const selectedRows = tableRows.filter((row) => row.getIsSelected());
  const clearSelection = () => {
    setAllMatching(false);
    model.clearSelection();
  };
  const selection: GridSelection<R> = {
    ids: selectedRows.map((row) => row.id),
    rows: selectedRows.map((row) => row.original),
    allMatching,
    count: allMatching ? (props.total ?? selectedRows.length) : selectedRows.length,
    clear: clearSelection,
  };
  const { active, setActive } = useGridKeys({
    rows: tableRows,
    root,
    openId: grid.open,
    onOpen: props.onOpen,
    onEdit: props.onEdit,
    onCopy: props.onCopy,
    onMenu: props.rowActions ? (id) => setMenuId(id) : undefined,
    onSelect: selectable ? (row) => row.toggleSelected() : undefined,
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
  const searchKey = props.search?.key;
  const onSearch = useCallback(
    (text: string) => searchKey !== undefined && changeFilters({ [searchKey]: text }),
    [changeFilters, searchKey],
  );

  const placed = placeColumns(table, columns);
  const rowHeight = ROW_HEIGHT[density];
  const filtered = grid.filterKeys.some((key) => grid.filters[key] !== "");
  const firstLoad = query.isPending && !query.error;
  const nothing = !firstLoad && !query.error && rows.length === 0;

  const rowsProps: RowsProps<R> = {
    table,
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
  };

  return (
    <div ref={root} className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        {props.search ? (
          <SearchField
            ref={searchField}
            value={grid.filters[props.search.key]}
            onChange={onSearch}
            placeholder={props.search.placeholder}
            filterKeys={grid.filterKeys}
            onFilters={changeFilters}
          />
        ) : null}
        {filters.length > 0 ? (
          <FilterPanel
            filters={filters}
            values={grid.filters}
            onChange={changeFilters}
            open={filtersOpen}
            onOpenChange={setFiltersOpen}
          />
        ) : null}
        <div className="flex-1" />
        {typeof props.toolbar === "function" ? props.toolbar(selection) : props.toolbar}
        <ViewsMenu grid={grid} builtIn={views} />
        {phone ? null : (
          <ColumnsMenu
            table={table}
            columns={byId}
            orderedIds={model.orderedIds}
            pinned={model.pinned}
            onPinned={model.setPinned}
            onReset={model.resetLayout}
            density={density}
            onDensity={(next) => {
              setDensity(next);
              writeStored(DENSITY_KEY, next);
            }}
          />
        )}
        {props.onExport ? <ExportMenu onExport={props.onExport} /> : null}
        <RefreshButton busy={query.isFetching} onRefresh={() => void query.refetch()} />
      </div>
      <FilterChips filters={filters} values={grid.filters} onChange={changeFilters} />

      {query.error && props.rows === undefined ? (
        <div className="rounded-lg border border-line bg-surface">
          <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
        </div>
      ) : nothing ? (
        <div className="rounded-lg border border-line bg-surface">
          {filtered ? (
            <EmptyState
              title={t`没有符合条件的记录`}
              action={<Button onClick={grid.clearFilters}>{t`清除筛选`}</Button>}
            />
          ) : (
            <EmptyState {...(props.empty ?? { title: t`暂无数据` })} />
          )}
        </div>
      ) : phone ? (
        firstLoad ? (
          <CardsSkeleton />
        ) : (
          <GridCards {...rowsProps} selectable={selectable} boxes={props.selectable === true} label={props.label} />
        )
      ) : (
        <div
          role="region"
          aria-label={props.label}
          // Its own scroll area, so that the bar at the bottom and the head are always within reach.
          tabIndex={0}
          className="max-h-[max(320px,calc(100dvh-224px))] overflow-auto rounded-lg border border-line bg-surface -outline-offset-2"
        >
          <table
            ref={tableElement}
            aria-label={props.label}
            aria-busy={query.isFetching}
            aria-rowcount={props.total == null ? -1 : props.total + 1}
            className="w-full table-fixed border-separate border-spacing-0"
            style={{ minWidth: table.getTotalSize() }}
          >
            <colgroup>
              {placed.map((column) => (
                <col key={column.id} style={{ width: column.width }} />
              ))}
            </colgroup>
            <GridHeader
              table={table}
              columns={byId}
              placed={placed}
              sort={grid.sort}
              onSort={grid.setSort}
              body={tableElement}
            />
            {firstLoad ? (
              <GridSkeleton placed={placed} rows={grid.pageSize} rowHeight={rowHeight} />
            ) : (
              <GridBody {...rowsProps} placed={placed} rowHeight={rowHeight} />
            )}
          </table>
        </div>
      )}

      {firstLoad || (query.error && props.rows === undefined) ? null : (
        <GridPager
          page={grid.page}
          pageSize={grid.pageSize}
          shown={props.shown ?? rows.length}
          total={props.total ?? null}
          exact={props.totalExact ?? true}
          hasMore={props.hasMore ?? false}
          onPage={(page) => grid.setPage(page, props.placeOf ? besideRow(grid.page, page, rows, props.placeOf) : null)}
          onPageSize={grid.setPageSize}
        />
      )}

      {props.bulkActions && selectedRows.length > 0 ? (
        <BulkBar
          count={selection.count}
          total={props.bulkAllMatching ? (props.total ?? null) : null}
          allMatching={allMatching}
          onAllMatching={() => setAllMatching(true)}
          onClear={clearSelection}
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
      ) : null}
    </div>
  );
}

/** Where the page before or behind stands; a page further off is counted. */
function besideRow<R>(from: number, to: number, rows: readonly R[], placeOf: (row: R) => string): string | null {
  const row = to === from + 1 ? rows.at(-1) : to === from - 1 ? rows[0] : undefined;
  return row === undefined ? null : `${to > from ? "after" : "before"}:${placeOf(row)}`;
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
