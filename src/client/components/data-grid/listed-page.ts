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
