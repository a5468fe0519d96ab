import { useLingui } from "@lingui/react/macro";
import { useRef, type ReactNode } from "react";
import { CallError } from "../../lib/http";
import { useKeptScroll } from "../../lib/kept-scroll";
import { Button } from "../../ui/button";
import { EmptyState } from "../empty-state";
import { ErrorPanel } from "../error-panel";
import { GridBody, GridSkeleton, type RowsProps } from "./grid-body";
import { CardsSkeleton, GridCards } from "./grid-cards";
import { GridHeader, placeColumns } from "./grid-header";
import type { DataGridProps } from "./grid-props";
import type { GridState } from "./grid-state";

type GridContentProps<R extends object, F extends string> = {
  /** Of the grid. */
  props: DataGridProps<R, F>;
  rowsProps: RowsProps<R>;
  phone: boolean;
  selectable: boolean;
  /** The first load went wrong. */
  failed: boolean;
  rowHeight: number;
};

/** The rows as a table, on a phone as cards; or why there are none. */
export function GridContent<R extends object, F extends string>(content: GridContentProps<R, F>) {
  const { props, rowsProps, phone, selectable, failed } = content;
  const { query, label } = props;
  const firstLoad = query.isPending && !query.error;
  if (failed) {
    return (
      <Framed>
        <ErrorPanel error={query.error ?? new CallError("", 0, null)} onRetry={() => void query.refetch()} />
      </Framed>
    );
  }
  if (!firstLoad && !query.error && !props.rows?.length) return <NoRows {...props} />;
  if (!phone) return <RowsTable {...content} firstLoad={firstLoad} />;
  if (firstLoad) return <CardsSkeleton />;
  return (
    <GridCards
      {...rowsProps}
      selectable={selectable}
      boxes={props.selectable === true}
      label={label}
      place={listPlace(props.grid)}
    />
  );
}

/** Which rows of which list these are, whatever is open beside them. */
const listPlace = ({ name, page, pageSize, viewSearch }: ListPlace): string =>
  [name, page, pageSize, viewSearch].join(" ");
type ListPlace = Pick<GridState<string>, "name" | "page" | "pageSize" | "viewSearch">;

const Framed = ({ children }: { children: ReactNode }) => (
  <div className="rounded-lg border border-line bg-surface">{children}</div>
);

function NoRows<R extends object, F extends string>({ grid, empty }: DataGridProps<R, F>) {
  const { t } = useLingui();
  const filtered = grid.filterKeys.some((key) => grid.filters[key] !== "");
  return (
    <Framed>
      {filtered ? (
        <EmptyState title={t`没有符合条件的记录`} action={<Button onClick={grid.clearFilters}>{t`清除筛选`}</Button>} />
      ) : (
        <EmptyState {...(empty ?? { title: t`暂无数据` })} />
      )}
    </Framed>
  );
}

function RowsTable<R extends object, F extends string>({
  props,
  rowsProps,
  rowHeight,
  firstLoad,
}: GridContentProps<R, F> & { firstLoad: boolean }) {
  const { grid, query, label, total, columns } = props;
  const { table } = rowsProps;
  const element = useRef<HTMLTableElement>(null);
  const area = useRef<HTMLDivElement>(null);
  useKeptScroll(area, listPlace(grid), !firstLoad);
  const placed = placeColumns(table, columns);
  return (
    <div
      ref={area}
      role="region"
      aria-label={label}
      // Its own scroll area, so that the bar at the bottom and the head are always within reach. `relative`: texts for
      // screen readers are placed absolutely, and would widen the page where they are scrolled out of sight.
      tabIndex={0}
      className="relative max-h-[max(320px,calc(100dvh-224px))] overflow-auto print:max-h-none print:overflow-visible rounded-lg border border-line bg-surface -outline-offset-2"
    >
      <table
        ref={element}
        aria-label={label}
        aria-busy={query.isFetching}
        aria-rowcount={total == null ? -1 : total + 1}
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
          columns={rowsProps.columns}
          placed={placed}
          sort={grid.sort}
          onSort={grid.setSort}
          body={element}
        />
        {firstLoad ? (
          <GridSkeleton placed={placed} rows={grid.pageSize} rowHeight={rowHeight} />
        ) : (
          <GridBody {...rowsProps} {...{ placed, rowHeight, area }} />
        )}
      </table>
    </div>
  );
}
