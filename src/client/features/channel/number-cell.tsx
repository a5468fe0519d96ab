import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { lazy, WhileLoading } from "../../lib/lazy";
import { Popover, PopoverContent, PopoverTrigger } from "../../ui/popover";
import { Skeleton } from "../../ui/skeleton";
import type { RoutingField } from "./channel-numbers";
import type { ListRow } from "./channel-rows";

const NumberEditor = lazy(() => import("./number-editor"));

/**
 * Priority or weight of a row, edited in place: Enter or the tick saves, Esc and the cross cancel, and leaving the
 * field saves nothing (C-085). On a tag's row it is that of all its channels, "—" while they differ.
 */
export function NumberCell({ row, field }: { row: ListRow; field: RoutingField }) {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  const value = row.kind === "tag" ? row.summary[field] : row.channel[field];
  const name = row.kind === "tag" ? row.tag : row.channel.name;
  const shown = value ?? "—";
  const what = field === "priority" ? t`优先级` : t`权重`;

  return (
    <Popover open={open} onOpenChange={setOpen}>
      <PopoverTrigger asChild>
        <button
          type="button"
          title={t`点击修改`}
          aria-label={t`修改 ${name} 的${what}：${shown}`}
          className="-mx-1.5 inline-flex h-6 -outline-offset-2 min-w-8 items-center justify-end rounded-sm max-sm:justify-start border border-transparent px-1.5 tabular-nums hover:border-line-control hover:bg-surface data-[state=open]:border-accent pointer-coarse:h-10"
        >
          {shown}
        </button>
      </PopoverTrigger>
      <PopoverContent
        align="end"
        aria-label={t`修改 ${name} 的${what}`}
        data-row-control
        className="w-60 p-2"
        // The field takes the focus and gives it back to the figure.
        onOpenAutoFocus={(event) => event.preventDefault()}
      >
        <WhileLoading show={<Skeleton className="h-14" />}>
          <NumberEditor row={row} field={field} label={what} start={value} onClose={() => setOpen(false)} />
        </WhileLoading>
      </PopoverContent>
    </Popover>
  );
}
