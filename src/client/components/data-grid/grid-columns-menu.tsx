import { useLingui } from "@lingui/react/macro";
import { ArrowDown, ArrowUp, Columns3, GripVertical, Pin, PinOff } from "lucide-react";
import { useState } from "react";
import { cn } from "../../lib/cn";
import { Button } from "../../ui/button";
import { IconButton } from "../../ui/icon-button";
import { Popover, PopoverContent, PopoverTrigger } from "../../ui/popover";
import { RadioGroup } from "radix-ui";
import type { GridTable } from "./grid-table";
import type { Density, GridColumn } from "./types";

type ColumnsMenuProps<R extends object> = {
  table: GridTable<R>;
  columns: ReadonlyMap<string, GridColumn<R>>;
  orderedIds: readonly string[];
  pinned: readonly string[];
  onPinned: (ids: string[]) => void;
  onReset: () => void;
  density: Density;
  onDensity: (density: Density) => void;
};

/** Which columns, in which order (drag, or the arrow buttons), which stay in sight; and how high the rows are. */
export function ColumnsMenu<R extends object>({
  table,
  columns,
  orderedIds,
  pinned,
  onPinned,
  onReset,
  density,
  onDensity,
}: ColumnsMenuProps<R>) {
  const { t } = useLingui();
  const [dragged, setDragged] = useState<string | null>(null);
  const first = orderedIds[0];

  const move = (id: string, to: number) => {
    if (to < 0 || to >= orderedIds.length) return;
    const order = orderedIds.filter((other) => other !== id);
    order.splice(to, 0, id);
    table.setColumnOrder(order);
  };

  return (
    <Popover>
      <PopoverTrigger asChild>
        <IconButton label={t`列与密度`} variant="secondary">
          <Columns3 />
        </IconButton>
      </PopoverTrigger>
      <PopoverContent align="end" aria-label={t`列与密度`} className="w-72 p-2">
        <RadioGroup.Root
          aria-label={t`行高`}
          value={density}
          onValueChange={(value) => onDensity(value === "compact" || value === "roomy" ? value : "default")}
          className="mb-2 flex rounded-md bg-sunken p-0.5"
        >
          {(
            [
              ["compact", t`紧凑`],
              ["default", t`标准`],
              ["roomy", t`宽松`],
            ] as const
          ).map(([value, label]) => (
            <RadioGroup.Item
              key={value}
              value={value}
              className="h-7 flex-1 rounded-sm text-ink-2 data-[state=checked]:bg-raised data-[state=checked]:text-ink pointer-coarse:h-9"
            >
              {label}
            </RadioGroup.Item>
          ))}
        </RadioGroup.Root>
        <ul aria-label={t`列`}>
          {orderedIds.map((id, index) => {
            const column = columns.get(id);
            const model = table.getColumn(id);
            if (!column || !model) return null;
            const header = column.header;
            const isPinned = pinned.includes(id);
            return (
              <li
                key={id}
                draggable
                onDragStart={() => setDragged(id)}
                onDragOver={(event) => event.preventDefault()}
                onDrop={() => dragged && move(dragged, index)}
                onDragEnd={() => setDragged(null)}
                className={cn("flex h-8 items-center gap-1 rounded-sm hover:bg-sunken", dragged === id && "opacity-50")}
              >
                <GripVertical aria-hidden className="size-3.5 shrink-0 cursor-grab text-muted" />
                <label className="flex min-w-0 flex-1 items-center gap-2">
                  <input
                    type="checkbox"
                    className="grid-check"
                    checked={model.getIsVisible()}
                    disabled={column.fixed}
                    onChange={(event) => model.toggleVisibility(event.target.checked)}
                  />
                  <span className="truncate">{header}</span>
                </label>
                {id === first ? null : (
                  <IconButton
                    label={isPinned ? t`取消固定 ${header}` : t`固定 ${header}`}
                    aria-pressed={isPinned}
                    size="sm"
                    className="w-6"
                    onClick={() => onPinned(isPinned ? pinned.filter((other) => other !== id) : [...pinned, id])}
                  >
                    {isPinned ? <PinOff /> : <Pin />}
                  </IconButton>
                )}
                <IconButton
                  label={t`上移 ${header}`}
                  size="sm"
                  className="w-6"
                  disabled={index === 0}
                  onClick={() => move(id, index - 1)}
                >
                  <ArrowUp />
                </IconButton>
                <IconButton
                  label={t`下移 ${header}`}
                  size="sm"
                  className="w-6"
                  disabled={index === orderedIds.length - 1}
                  onClick={() => move(id, index + 1)}
                >
                  <ArrowDown />
                </IconButton>
              </li>
            );
          })}
        </ul>
        <Button variant="ghost" size="sm" className="mt-1 w-full" onClick={onReset}>{t`恢复默认`}</Button>
      </PopoverContent>
    </Popover>
  );
}
