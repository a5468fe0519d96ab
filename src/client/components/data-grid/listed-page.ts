import { useEffect } from "react";
import type { GridState } from "./grid-state";
import type { GridQuery } from "./types";

interface Listed {
  id: number;
}

interface PageQuery<Row> extends GridQuery {
  data: { items: Row[]; total: number; total_exact?: boolean } | undefined;
}

/** The props of a grid whose rows are one page of a list of the server, known by their ids. */
export function listedPage<Row extends Listed>(query: PageQuery<Row>, pageSize: number) {
  const { data } = query;
  return {
    query,
    rows: data?.items,
    rowId: (row: Row) => String(row.id),
    total: data?.total,
    totalExact: data?.total_exact ?? true,
    hasMore: data?.items.length === pageSize,
  };
}

/** Goes to the row beside the open one, if there is one on the page. */
export function openBeside(
  rows: readonly Listed[] | undefined,
  open: string | null,
  by: 1 | -1,
  setOpen: (id: number) => void,
): void {
  const at = rows?.findIndex((row) => String(row.id) === open) ?? -1;
  const next = at < 0 ? undefined : rows?.[at + by];
  if (next) setOpen(next.id);
}

type Counted = Pick<GridQuery, "isPlaceholderData"> & { data: { total: number } | undefined };

/** A page that became empty, because its last row was deleted, shows the one before it. */
export function useExistingPage<F extends string>(grid: GridState<F>, { data, isPlaceholderData }: Counted): void {
  const { setPage, page, pageSize } = grid;
  const lastPage = Math.max(1, Math.ceil((data?.total ?? 0) / pageSize));
  useEffect(() => {
    if (data && !isPlaceholderData && page > lastPage) setPage(lastPage);
  }, [data, isPlaceholderData, page, lastPage, setPage]);
}
