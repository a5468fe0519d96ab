import { useCallback, type RefObject } from "react";
import { ColumnsMenu } from "./grid-columns-menu";
import { FilterPanel } from "./grid-filters";
import type { DataGridProps, GridSelection } from "./grid-props";
import type { GridModel } from "./grid-table";
import { ExportMenu, RefreshButton, SearchField } from "./grid-toolbar";
import { ViewsMenu } from "./grid-views";
import type { Density, ExportFormat, GridColumn, GridFilter, GridView } from "./types";

const NO_VIEWS: readonly GridView[] = [];

type GridToolsProps<R extends object, F extends string> = {
  /** Of the grid. */
  props: DataGridProps<R, F>;
  filters: readonly GridFilter[];
  columns: ReadonlyMap<string, GridColumn<R>>;
  model: GridModel<R>;
  phone: boolean;
  selection: GridSelection<R>;
  searchField: RefObject<HTMLInputElement | null>;
  filtersOpen: boolean;
  onFiltersOpen: (open: boolean) => void;
  density: Density;
  onDensity: (density: Density) => void;
  changeFilters: (changes: Record<string, string>) => void;
};

/** The line above a list: search, filters, the list's own buttons, views, columns, export, refresh. */
export function GridTools<R extends object, F extends string>({
  props,
  filters,
  columns,
  model,
  phone,
  selection,
  searchField,
  filtersOpen,
  onFiltersOpen,
  density,
  onDensity,
  changeFilters,
}: GridToolsProps<R, F>) {
  const { grid, query, search } = props;
  const searchKey = search?.key;
  const onSearch = useCallback(
    (text: string) => searchKey !== undefined && changeFilters({ [searchKey]: text }),
    [changeFilters, searchKey],
  );
  const { readPage } = props;
  const onExport =
    props.onExport ??
    (readPage &&
      (async (format: ExportFormat) => {
        const shown = model.orderedIds.filter((id) => phone || model.table.getColumn(id)?.getIsVisible());
        const { exportRows } = await import("./grid-export");
        void exportRows({
          name: grid.name,
          format,
          columns: shown.flatMap((id) => columns.get(id) ?? []),
          rowId: props.rowId,
          total: props.totalExact === false ? null : (props.total ?? null),
          readPage,
        });
      }));
  return (
    <div className="flex flex-wrap items-center gap-2" data-print="hide">
      {search ? (
        <SearchField
          ref={searchField}
          value={grid.filters[search.key]}
          onChange={onSearch}
          placeholder={search.placeholder}
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
          onOpenChange={onFiltersOpen}
        />
      ) : null}
      <div className="flex-1" />
      {typeof props.toolbar === "function" ? props.toolbar(selection) : props.toolbar}
      <ViewsMenu grid={grid} builtIn={props.views ?? NO_VIEWS} />
      {phone ? null : (
        <ColumnsMenu
          table={model.table}
          columns={columns}
          orderedIds={model.orderedIds}
          pinned={model.pinned}
          onPinned={model.setPinned}
          onReset={model.resetLayout}
          density={density}
          onDensity={onDensity}
        />
      )}
      {onExport ? <ExportMenu onExport={onExport} /> : null}
      <RefreshButton busy={query.isFetching} onRefresh={() => void query.refetch()} />
    </div>
  );
}
