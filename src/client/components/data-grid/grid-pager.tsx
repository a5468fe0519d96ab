import { useLingui } from "@lingui/react/macro";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { cn } from "../../lib/cn";
import { formatNumber } from "../../lib/format";
import { IconButton } from "../../ui/icon-button";
import { Select } from "../../ui/select";
import { PAGE_SIZES } from "./types";

type GridPagerProps = {
  page: number;
  pageSize: number;
  /** Rows on this page. */
  shown: number;
  /** All rows; null when they were not counted (big tables are paged by key). */
  total: number | null;
  /** False when there are more than `total`. */
  exact: boolean;
  /** With a total that is unknown or not exact: whether a next page exists. */
  hasMore: boolean;
  onPage: (page: number) => void;
  onPageSize: (size: number) => void;
};

/** Which rows these are, and the ways to the others. */
export function GridPager({ page, pageSize, shown, total, exact, hasMore, onPage, onPageSize }: GridPagerProps) {
  const { t } = useLingui();
  const pages = total === null ? null : Math.max(1, Math.ceil(total / pageSize));
  const first = shown === 0 ? 0 : (page - 1) * pageSize + 1;
  const last = shown === 0 ? 0 : first + shown - 1;
  const more = pages === null || !exact ? hasMore : page < pages;
  // A long page of the address is a choice as long as it is there.
  const sizes = [...new Set([...PAGE_SIZES, pageSize])].map((size) => ({
    value: String(size),
    label: t`${size} 条/页`,
  }));

  return (
    <nav aria-label={t`分页`} className="flex flex-wrap items-center justify-between gap-2">
      <p role="status" className="text-muted tabular-nums">
        {total === null
          ? t`第 ${first} - ${last} 条`
          : exact
            ? t`第 ${first} - ${last} 条，共 ${total} 条`
            : t`第 ${first} - ${last} 条，共 ${formatNumber(total)}+ 条`}
      </p>
      <div className="flex items-center gap-1" data-print="hide">
        <IconButton label={t`上一页`} disabled={page <= 1} onClick={() => onPage(page - 1)}>
          <ChevronLeft />
        </IconButton>
        {pages === null ? (
          <span className="px-2">{page}</span>
        ) : (
          pageNumbers(page, pages).map((entry, index) =>
            entry === null ? (
              <span key={`gap ${index}`} aria-hidden className="px-1 text-muted max-sm:hidden">
                …
              </span>
            ) : (
              <button
                key={entry}
                type="button"
                aria-label={t`第 ${entry} 页`}
                aria-current={entry === page ? "page" : undefined}
                onClick={() => onPage(entry)}
                className={cn(
                  "h-8 min-w-8 rounded-md px-2 hover:bg-sunken pointer-coarse:h-10 pointer-coarse:min-w-10",
                  entry === page ? "bg-accent-soft font-medium text-accent-text" : "max-sm:hidden",
                )}
              >
                {entry}
              </button>
            ),
          )
        )}
        <IconButton label={t`下一页`} disabled={!more} onClick={() => onPage(page + 1)}>
          <ChevronRight />
        </IconButton>
        <Select
          aria-label={t`每页条数`}
          value={String(pageSize)}
          onValueChange={(size) => onPageSize(Number(size))}
          options={sizes}
          className="w-auto"
        />
      </div>
    </nav>
  );
}

/** 1 … 4 5 6 … 20; null is a gap. */
function pageNumbers(page: number, pages: number): (number | null)[] {
  const near = [1, page - 1, page, page + 1, pages].filter((entry) => entry >= 1 && entry <= pages);
  const numbers = [...new Set(near)].sort((a, b) => a - b);
  return numbers.flatMap((entry, index) => {
    const before = numbers[index - 1];
    return before !== undefined && entry - before > 1 ? [null, entry] : [entry];
  });
}
