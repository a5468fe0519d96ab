import { useLingui } from "@lingui/react/macro";
import { ChevronRight } from "lucide-react";
import { Fragment, memo, type ReactNode, type Ref, type RefObject } from "react";
import { cn } from "../../lib/cn";
import { lazy, WhileLoading } from "../../lib/lazy";
import { IconButton } from "../../ui/icon-button";
import { Skeleton } from "../../ui/skeleton";
import { placeClass, placeStyle, type PlacedColumn } from "./grid-header";
import { ACTIONS_COLUMN, type GridRow, SELECT_COLUMN, type GridTable } from "./grid-table";
import { isForControl } from "./row-link";
import { RowMenu } from "./row-menu";
import type { GridAction, GridColumn } from "./types";
import type { VirtualRowsProps } from "./virtual-rows";

/** Only long lists need it. */
const VirtualRows = lazy<VirtualRowsProps>(() => import("./virtual-rows"));
/** More rows than this are drawn only where they are in sight. */
export const MOST_DRAWN = 100;

/** What the table and the cards both need to draw rows. */
export type RowsProps<R extends object> = {
  table: GridTable<R>;
  columns: ReadonlyMap<string, GridColumn<R>>;
  /** Index of the row that the keyboard is on; -1 none. */
  active: number;
  onActive: (index: number) => void;
  onOpen: ((row: R) => void) | undefined;
  /** Id of the row shown in a drawer. */
  openId: string | null;
  rowActions: ((row: R) => readonly GridAction[]) | undefined;
  rowButtons: ((row: R) => ReactNode) | undefined;
  /** Id of the row whose menu is open. */
  menuId: string | null;
  onMenu: (id: string | null) => void;
  shaded: ((row: R) => boolean) | undefined;
  expanded: ReadonlySet<string>;
  onExpand: (id: string) => void;
  renderExpanded: ((row: R) => ReactNode) | undefined;
  /** Rows of another page, until the right ones come. */
  dimmed: boolean;
  /** Rows on the pages before this one. */
  before: number;
};

type GridBodyProps<R extends object> = RowsProps<R> & {
  placed: readonly PlacedColumn[];
  rowHeight: number;
  /** The scroll area. */
  area: RefObject<HTMLElement | null>;
};

/** The rows. */
export function GridBody<R extends object>(props: GridBodyProps<R>) {
  const { table, placed, dimmed, expanded, renderExpanded, area, rowHeight, active } = props;
  const { rows } = table.getRowModel();
  const isLong = rows.length > MOST_DRAWN && !renderExpanded;
  const drawn = rows.slice(0, isLong ? MOST_DRAWN : undefined).map((row, index) => (
    <Fragment key={row.id}>
      <BodyRow {...props} row={row} index={index} />
      {renderExpanded && expanded.has(row.id) ? (
        <tr>
          <td colSpan={placed.length} className="border-b border-line bg-canvas p-0">
            {renderExpanded(row.original)}
          </td>
        </tr>
      ) : null}
    </Fragment>
  ));
  return (
    <tbody className={cn("transition-opacity duration-[120ms]", dimmed && "opacity-50")}>
      {!isLong ? (
        drawn
      ) : (
        <WhileLoading show={drawn}>
          <VirtualRows
            count={rows.length}
            columns={placed.length}
            {...{ area, rowHeight, active }}
            row={(index, measure) => {
              const row = rows[index];
              return row ? <KeptRow key={row.id} {...props} row={row} index={index} measure={measure} /> : null;
            }}
          />
        </WhileLoading>
      )}
    </tbody>
  );
}

type BodyRowProps<R extends object> = GridBodyProps<R> & {
  row: GridRow<R>;
  index: number;
  measure?: Ref<HTMLTableRowElement>;
};

function BodyRow<R extends object>(props: BodyRowProps<R>) {
  const { row, index, columns, placed, active, onActive, onOpen, openId, shaded, rowHeight } = props;
  const selected = row.getIsSelected();
  const isOpen = openId === row.id;
  const background = selected || isOpen ? "bg-accent-soft" : shaded?.(row.original) ? "bg-sunken" : "bg-surface";
  return (
    <tr
      ref={props.measure}
      data-row={index}
      // The head is the first.
      aria-rowindex={props.before + index + 2}
      tabIndex={index === Math.max(active, 0) ? 0 : -1}
      aria-selected={selected || undefined}
      aria-current={isOpen ? "true" : undefined}
      onFocus={(event) => event.target === event.currentTarget && onActive(index)}
      onClick={(event) => {
        if (isForControl(event) || String(getSelection() ?? "") !== "") return;
        onActive(index);
        onOpen?.(row.original);
      }}
      className={cn("group/row -outline-offset-2", onOpen && "cursor-pointer")}
      style={{ height: rowHeight }}
    >
      {placed.map((column) => (
        <td
          key={column.id}
          data-column={column.id}
          style={placeStyle(column)}
          className={cn(
            "overflow-hidden border-b border-line px-2.5 py-0",
            background,
            !selected && !isOpen && "group-hover/row:bg-sunken",
            columns.get(column.id)?.align === "end" && "text-right",
            placeClass(column),
            index === active && column === placed[0] && "shadow-[inset_2px_0_0_var(--accent)]",
          )}
        >
          <Cell {...props} id={column.id} />
        </td>
      ))}
    </tr>
  );
}

/** While a long list scrolls only what comes into sight is drawn; whatever else changes comes with new props. */
const KeptRow = memo(BodyRow) as typeof BodyRow;

/** The content of a cell: the checkbox, the buttons, or what the list's column renders. */
function Cell<R extends object>({ id, ...props }: BodyRowProps<R> & { id: string }) {
  const { row, index, columns, placed, rowActions, rowButtons, menuId, onMenu, expanded, onExpand } = props;
  const { t } = useLingui();
  if (id === SELECT_COLUMN) {
    return (
      <input
        type="checkbox"
        aria-label={t`选择第 ${index + 1} 行`}
        checked={row.getIsSelected()}
        onChange={row.getToggleSelectedHandler()}
        className="grid-check"
      />
    );
  }
  if (id === ACTIONS_COLUMN) {
    return (
      <div className="flex items-center justify-end gap-0.5">
        {rowButtons?.(row.original)}
        {rowActions ? (
          <RowMenu
            actions={rowActions(row.original)}
            open={menuId === row.id}
            onOpenChange={(open) => onMenu(open ? row.id : null)}
          />
        ) : null}
      </div>
    );
  }
  const firstOwn = placed.find((column) => column.id !== SELECT_COLUMN)?.id;
  const isExpanded = expanded.has(row.id);
  return (
    <div className="flex min-w-0 items-center gap-1">
      {props.renderExpanded && id === firstOwn ? (
        <IconButton
          label={isExpanded ? t`收起` : t`展开`}
          aria-expanded={isExpanded}
          size="sm"
          className="-ml-1.5 shrink-0"
          onClick={() => onExpand(row.id)}
        >
          <ChevronRight className={cn("transition-transform", isExpanded && "rotate-90")} />
        </IconButton>
      ) : null}
      <div className="min-w-0 flex-1 truncate">{columns.get(id)?.cell(row.original)}</div>
    </div>
  );
}

/** Rows of the true height while the first answer is on its way. */
export function GridSkeleton({
  placed,
  rows,
  rowHeight,
}: {
  placed: readonly PlacedColumn[];
  rows: number;
  rowHeight: number;
}) {
  return (
    <tbody aria-hidden>
      {Array.from({ length: rows }, (_, index) => (
        <tr key={index} style={{ height: rowHeight }}>
          {placed.map((column) => (
            <td
              key={column.id}
              className={cn("border-b border-line bg-surface px-2.5", placeClass(column))}
              style={placeStyle(column)}
            >
              {column.id === SELECT_COLUMN || column.id === ACTIONS_COLUMN ? null : (
                <Skeleton style={{ width: `${50 + ((index * 37 + column.id.length * 13) % 45)}%` }} />
              )}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}
