import { useLingui } from "@lingui/react/macro";
import { useRef } from "react";
import { cn } from "../../lib/cn";
import { Skeleton } from "../../ui/skeleton";
import { isForControl, type RowsProps } from "./grid-body";
import { RowMenu } from "./row-menu";

const LONG_PRESS = 500;

/** The rows as cards, for phones: title and status above, two facts below; a long press selects. */
export function GridCards<R extends object>({
  table,
  columns,
  onActive,
  onOpen,
  openId,
  rowActions,
  rowButtons,
  menuId,
  onMenu,
  shaded,
  expanded,
  onExpand,
  renderExpanded,
  dimmed,
  selectable,
  boxes,
  label,
}: RowsProps<R> & { selectable: boolean; boxes: boolean; label: string }) {
  const { t } = useLingui();
  const press = useRef<{ timer: ReturnType<typeof setTimeout> | undefined; held: boolean }>({
    timer: undefined,
    held: false,
  });
  const all = [...columns.values()];
  const title = all.find((column) => column.card === "title") ?? all[0];
  const status = all.find((column) => column.card === "status");
  const facts = all.filter((column) => column.card === "fact").slice(0, 4);
  // TanStack's "some" is no longer true when all are.
  const selecting = boxes || table.getIsSomeRowsSelected() || table.getIsAllRowsSelected();

  return (
    <ul aria-label={label} className={cn("grid grid-cols-[minmax(0,1fr)] gap-2", dimmed && "opacity-50")}>
      {table.getRowModel().rows.map((row, index) => {
        const endPress = () => clearTimeout(press.current.timer);
        return (
          <li
            key={row.id}
            data-row={index}
            onPointerDown={(event) => {
              press.current.held = false;
              if (!selectable || isForControl(event)) return;
              press.current.timer = setTimeout(() => {
                press.current.held = true;
                row.toggleSelected();
              }, LONG_PRESS);
            }}
            onPointerUp={endPress}
            onPointerCancel={endPress}
            onPointerLeave={endPress}
            className={cn(
              "grid grid-cols-[minmax(0,1fr)] gap-2 rounded-lg border border-line bg-surface p-3",
              shaded?.(row.original) && "bg-sunken",
              (row.getIsSelected() || openId === row.id) && "border-accent bg-accent-soft",
            )}
          >
            <div className="flex items-center gap-2">
              {selecting ? (
                <input
                  type="checkbox"
                  aria-label={t`选择第 ${index + 1} 行`}
                  checked={row.getIsSelected()}
                  onChange={row.getToggleSelectedHandler()}
                  className="grid-check"
                />
              ) : null}
              {/* A button for the keyboard and for screen readers; cells bring their own links and buttons beside it. */}
              {onOpen ? (
                <div
                  role="button"
                  tabIndex={0}
                  className="min-h-10 min-w-0 flex-1 content-center truncate rounded-sm font-medium"
                  onClick={(event) => {
                    if (press.current.held || (event.target instanceof Element && event.target.closest("a"))) return;
                    onActive(index);
                    onOpen(row.original);
                  }}
                  onKeyDown={(event) => {
                    if (event.key === "Enter" && event.target === event.currentTarget) onOpen(row.original);
                  }}
                >
                  {title?.cell(row.original)}
                </div>
              ) : (
                <div className="min-w-0 flex-1 truncate font-medium">{title?.cell(row.original)}</div>
              )}
              {status?.cell(row.original)}
              {rowButtons?.(row.original)}
              {rowActions ? (
                <RowMenu
                  actions={menuId === row.id ? rowActions(row.original) : []}
                  open={menuId === row.id}
                  onOpenChange={(open) => onMenu(open ? row.id : null)}
                />
              ) : null}
            </div>
            {facts.length > 0 ? (
              // The button above opens the row for everybody; a thumb may also land on the facts.
              <dl
                className="grid grid-cols-2 gap-x-4 gap-y-1"
                onClick={(event) => {
                  if (!onOpen || press.current.held || isForControl(event)) return;
                  onActive(index);
                  onOpen(row.original);
                }}
              >
                {facts.map((fact) => (
                  <div key={fact.id} className="grid min-w-0 grid-rows-[auto_1fr]">
                    <dt className="text-xs text-muted">{fact.header}</dt>
                    <dd className="content-center truncate">{fact.cell(row.original)}</dd>
                  </div>
                ))}
              </dl>
            ) : null}
            {renderExpanded ? (
              <>
                <button
                  type="button"
                  aria-expanded={expanded.has(row.id)}
                  onClick={() => onExpand(row.id)}
                  className="min-h-10 text-left text-accent-text"
                >
                  {expanded.has(row.id) ? t`收起` : t`展开`}
                </button>
                {expanded.has(row.id) ? renderExpanded(row.original) : null}
              </>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}

/** Cards while the first answer is on its way. */
export function CardsSkeleton() {
  return (
    <div aria-hidden className="grid gap-2">
      {Array.from({ length: 5 }, (_, index) => (
        <Skeleton key={index} className="h-24 rounded-lg" />
      ))}
    </div>
  );
}
