import { useLingui } from "@lingui/react/macro";
import { useRef, type MouseEvent, type PointerEvent, type ReactNode } from "react";
import { cn } from "../../lib/cn";
import { Skeleton } from "../../ui/skeleton";
import { useKeptScroll } from "../../lib/kept-scroll";
import { MOST_DRAWN, type RowsProps } from "./grid-body";
import type { GridRow } from "./grid-table";
import { isForControl } from "./row-link";
import { RowMenu } from "./row-menu";
import type { GridColumn } from "./types";

const LONG_PRESS = 500;

type GridCardsProps<R extends object> = RowsProps<R> & {
  selectable: boolean;
  boxes: boolean;
  label: string;
  place: string;
};

/** The rows as cards, for phones: title and status above, two facts below; a long press selects. */
export function GridCards<R extends object>(props: GridCardsProps<R>) {
  const { table, boxes, label, dimmed, place } = props;
  const list = useRef<HTMLUListElement>(null);
  useKeptScroll(list, place, true);
  const { rows } = table.getRowModel();
  // TanStack's "some" is no longer true when all are.
  const selecting = boxes || table.getIsSomeRowsSelected() || table.getIsAllRowsSelected();
  return (
    <ul
      ref={list}
      aria-label={label}
      className={cn(
        "grid grid-cols-[minmax(0,1fr)] gap-2",
        dimmed && "opacity-50",
        // Cards have no fixed height: the browser itself leaves out those that are not in sight.
        rows.length > MOST_DRAWN && "[&>li]:[contain-intrinsic-size:auto_160px] [&>li]:[content-visibility:auto]",
      )}
    >
      {rows.map((row, index) => (
        <Card key={row.id} {...props} row={row} index={index} selecting={selecting} />
      ))}
    </ul>
  );
}

/** A long press that is no tap: `held` until the next press begins. */
function useLongPress(enabled: boolean, onHold: () => void) {
  const press = useRef<{ timer: ReturnType<typeof setTimeout> | undefined; held: boolean }>({
    timer: undefined,
    held: false,
  });
  const end = () => clearTimeout(press.current.timer);
  const wiring = {
    onPointerDown: (event: PointerEvent) => {
      press.current.held = false;
      if (!enabled || isForControl(event)) return;
      press.current.timer = setTimeout(() => {
        press.current.held = true;
        onHold();
      }, LONG_PRESS);
    },
    onPointerUp: end,
    onPointerCancel: end,
    onPointerLeave: end,
  };
  return { wiring, isHeld: () => press.current.held };
}

type CardProps<R extends object> = GridCardsProps<R> & { row: GridRow<R>; index: number; selecting: boolean };

function Card<R extends object>(props: CardProps<R>) {
  const { row, index, columns, onActive, onOpen, openId, selecting, renderExpanded } = props;
  const { t } = useLingui();
  const { wiring, isHeld } = useLongPress(props.selectable, () => row.toggleSelected());
  const all = [...columns.values()];
  const title = all.find((column) => column.card === "title") ?? all[0];
  const status = all.find((column) => column.card === "status");
  const facts = all.filter((column) => column.card === "fact").slice(0, 4);
  const open = onOpen && (() => onOpen(row.original));
  /** A tap opens the row, unless it was meant for something inside. */
  const tap = (isOther: (event: MouseEvent) => boolean) => (event: MouseEvent) => {
    if (!open || isHeld() || isOther(event)) return;
    onActive(index);
    open();
  };

  return (
    <li
      data-row={index}
      {...wiring}
      className={cn(
        "grid grid-cols-[minmax(0,1fr)] gap-2 rounded-lg border border-line bg-surface p-3",
        props.shaded?.(row.original) && "bg-sunken",
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
        <Title onTap={tap(isForLink)} onOpen={open}>
          {title?.cell(row.original)}
        </Title>
        {status?.cell(row.original)}
        {props.rowButtons?.(row.original)}
        {props.rowActions ? (
          <RowMenu
            actions={props.rowActions(row.original)}
            open={props.menuId === row.id}
            onOpenChange={(shown) => props.onMenu(shown ? row.id : null)}
          />
        ) : null}
      </div>
      {/* The title opens the row for everybody; a thumb may also land on the facts. */}
      {facts.length > 0 ? <Facts facts={facts} row={row.original} onTap={tap(isForControl)} /> : null}
      {renderExpanded ? (
        <Expandable expanded={props.expanded.has(row.id)} onExpand={() => props.onExpand(row.id)}>
          {() => renderExpanded(row.original)}
        </Expandable>
      ) : null}
    </li>
  );
}

const isForLink = (event: MouseEvent): boolean => event.target instanceof Element && event.target.closest("a") !== null;

type TitleProps = { onTap: (event: MouseEvent) => void; onOpen: (() => void) | undefined; children: ReactNode };

/** A button for the keyboard and for screen readers; cells bring their own links and buttons beside it. */
function Title({ onTap, onOpen, children }: TitleProps) {
  if (!onOpen) return <div className="min-w-0 flex-1 truncate font-medium">{children}</div>;
  return (
    <div
      role="button"
      tabIndex={0}
      className="min-h-10 min-w-0 flex-1 content-center truncate rounded-sm font-medium"
      onClick={onTap}
      onKeyDown={(event) => {
        if (event.key === "Enter" && event.target === event.currentTarget) onOpen();
      }}
    >
      {children}
    </div>
  );
}

type FactsProps<R extends object> = {
  facts: readonly GridColumn<R>[];
  row: R;
  onTap: (event: MouseEvent) => void;
};

function Facts<R extends object>({ facts, row, onTap }: FactsProps<R>) {
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-1" onClick={onTap}>
      {facts.map((fact) => (
        <div key={fact.id} className="grid min-w-0 grid-rows-[auto_1fr]">
          <dt className="text-xs text-muted">{fact.header}</dt>
          <dd className="content-center truncate">{fact.cell(row)}</dd>
        </div>
      ))}
    </dl>
  );
}

type ExpandableProps = { expanded: boolean; onExpand: () => void; children: () => ReactNode };

function Expandable({ expanded, onExpand, children }: ExpandableProps) {
  const { t } = useLingui();
  return (
    <>
      <button type="button" aria-expanded={expanded} onClick={onExpand} className="min-h-10 text-left text-accent-text">
        {expanded ? t`收起` : t`展开`}
      </button>
      {expanded ? children() : null}
    </>
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
