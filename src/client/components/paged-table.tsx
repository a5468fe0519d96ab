import { useLingui } from "@lingui/react/macro";
import { ChevronLeft, ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import type { Page } from "../../shared/envelope";
import { EmptyState } from "./empty-state";
import { ErrorPanel } from "./error-panel";
import { IconButton } from "../ui/icon-button";
import { Skeleton } from "../ui/skeleton";
import { Table, Td, Th } from "../ui/table";

/** Rows of a page of these lists. */
export const ROWS = 10;

interface Column<R> {
  id: string;
  header: string;
  cell: (row: R) => ReactNode;
  end?: boolean;
}

type PagedTableProps<R> = {
  label: string;
  query: { data: Page<R> | undefined; error: unknown; refetch: () => unknown };
  columns: readonly Column<R>[];
  page: number;
  onPage: (page: number) => void;
  empty: string;
};

/** A small list in pages of ten. */
export function PagedTable<R extends { id: number }>({
  label,
  query,
  columns,
  page,
  onPage,
  empty,
}: PagedTableProps<R>) {
  const { t } = useLingui();
  const { data, error } = query;
  if (error && !data) return <ErrorPanel error={error} onRetry={() => void query.refetch()} />;
  if (!data) return <Skeleton className="h-32 rounded-lg" />;
  const { total } = data;
  const pages = Math.max(1, Math.ceil(total / ROWS));
  if (total === 0) return <EmptyState title={empty} />;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <Table wide aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ id, header, end }) => (
              <Th key={id} className={end ? "text-right" : undefined}>
                {header}
              </Th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.items.map((row) => (
            <tr key={row.id}>
              {columns.map(({ id, cell, end }) => (
                <Td key={id} className={end ? "text-right" : undefined}>
                  {cell(row)}
                </Td>
              ))}
            </tr>
          ))}
        </tbody>
      </Table>
      {pages > 1 || page > 1 ? (
        <div className="flex items-center justify-end gap-1">
          <p role="status" className="mr-2 text-muted tabular-nums">{t`第 ${page} / ${pages} 页，共 ${total} 条`}</p>
          <IconButton label={t`上一页`} disabled={page <= 1} onClick={() => onPage(page - 1)}>
            <ChevronLeft />
          </IconButton>
          <IconButton label={t`下一页`} disabled={page >= pages} onClick={() => onPage(page + 1)}>
            <ChevronRight />
          </IconButton>
        </div>
      ) : null}
    </div>
  );
}
