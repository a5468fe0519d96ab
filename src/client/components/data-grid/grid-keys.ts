import { useEffect, useRef, useState, type RefObject } from "react";
import { flushSync } from "react-dom";
import { useHotkeys } from "../../lib/hotkeys";
import type { GridRow } from "./grid-table";

type GridKeysOptions<R extends object> = {
  rows: readonly GridRow<R>[];
  root: RefObject<HTMLElement | null>;
  /** Id of the row whose drawer is open: then J and K open the next and the previous one in it. */
  openId: string | null;
  onOpen: ((row: R) => void) | undefined;
  onEdit: ((row: R) => void) | undefined;
  onCopy: ((row: R) => void) | undefined;
  onMenu: ((id: string) => void) | undefined;
  onSelect: ((row: GridRow<R>) => void) | undefined;
  /** Shows the boxes of a list that has none at first: the first X does, and selects its row. */
  onStartSelecting: (() => void) | undefined;
  onRefresh: () => void;
  onFilter: (() => void) | undefined;
  onSearch: (() => void) | undefined;
};

/** The keys of a list: J K X Enter E C . / F R. The row they are for has the focus, so a screen reader reads it. */
export function useGridKeys<R extends object>(options: GridKeysOptions<R>) {
  const {
    rows,
    root,
    openId,
    onOpen,
    onEdit,
    onCopy,
    onMenu,
    onSelect,
    onStartSelecting,
    onRefresh,
    onFilter,
    onSearch,
  } = options;
  const [chosen, setActive] = useState(-1);
  // The list may have become shorter.
  const active = Math.min(chosen, rows.length - 1);
  const current = active >= 0 ? rows[active] : undefined;

  const move = (step: 1 | -1) => {
    if (rows.length === 0) return;
    const from =
      openId === null
        ? active
        : Math.max(
            active,
            rows.findIndex((row) => row.id === openId),
          );
    const next = Math.max(0, Math.min(rows.length - 1, from + step));
    // A row of a long list is drawn once the keyboard is on it.
    flushSync(() => setActive(next));
    const row = rows[next];
    const element = root.current?.querySelector<HTMLElement>(`[data-row="${next}"]`);
    if (openId === null) element?.focus({ preventScroll: true });
    else if (row) onOpen?.(row.original);
    element?.scrollIntoView({ block: "nearest" });
  };
  const withRow = (act: ((row: GridRow<R>) => void) | undefined) => () => {
    if (current) act?.(current);
  };

  // The row that the key meant, until its list can be selected from.
  const wanted = useRef<string | null>(null);
  useEffect(() => {
    if (!onSelect || wanted.current === null) return;
    const row = rows.find(({ id }) => id === wanted.current);
    wanted.current = null;
    if (row) onSelect(row);
  }, [onSelect, rows]);
  const start = (row: GridRow<R>) => {
    wanted.current = row.id;
    onStartSelecting?.();
  };

  useHotkeys({
    j: () => move(1),
    k: () => move(-1),
    r: onRefresh,
    ...(onSelect || onStartSelecting ? { x: withRow(onSelect ?? start) } : {}),
    ...(onOpen ? { Enter: withRow((row) => onOpen(row.original)) } : {}),
    ...(onEdit ? { e: withRow((row) => onEdit(row.original)) } : {}),
    ...(onCopy ? { c: withRow((row) => onCopy(row.original)) } : {}),
    ...(onMenu ? { "[Shift]+.": withRow((row) => onMenu(row.id)) } : {}),
    ...(onFilter ? { f: onFilter } : {}),
    ...(onSearch ? { "[Shift]+/": onSearch } : {}),
  });

  return { active, setActive };
}
