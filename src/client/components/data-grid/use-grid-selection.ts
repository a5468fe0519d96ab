import { useState } from "react";
import type { GridSelection } from "./grid-props";
import type { GridModel } from "./grid-table";

/** The selected rows of a page, or the wish for every row that matches. */
export function useGridSelection<R extends object>(model: GridModel<R>, total: number | null | undefined) {
  const [allMatching, setAllMatching] = useState(false);
  const rows = model.table.getRowModel().rows.filter((row) => row.getIsSelected());
  const selection: GridSelection<R> = {
    ids: rows.map((row) => row.id),
    rows: rows.map((row) => row.original),
    allMatching,
    count: allMatching ? (total ?? rows.length) : rows.length,
    clear: () => {
      setAllMatching(false);
      model.clearSelection();
    },
  };
  return { selection, selectAllMatching: () => setAllMatching(true) };
}
