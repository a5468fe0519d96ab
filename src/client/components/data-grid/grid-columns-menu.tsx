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
        <DensityChoice value={density} onChange={onDensity} />
        <ul aria-label={t`列`}>
          {orderedIds.map((id, index) => {
            const column = columns.get(id);
            const model = table.getColumn(id);
            if (!column || !model) return null;
            return (
              <ColumnLine
                key={id}
                header={column.header}
                fixed={column.fixed === true}
                visible={model.getIsVisible()}
                onVisible={(visible) => model.toggleVisibility(visible)}
                {...(id === first ? {} : { pinned: pinned.includes(id) })}
                onPinned={(on) => onPinned(on ? [...pinned, id] : pinned.filter((other) => other !== id))}
                dragged={dragged === id}
                onDragged={(on) => setDragged(on ? id : null)}
                onDrop={() => dragged && move(dragged, index)}
                {...(index > 0 && { onUp: () => move(id, index - 1) })}
                {...(index < orderedIds.length - 1 && { onDown: () => move(id, index + 1) })}
              />
            );
          })}
        </ul>
        <Button variant="ghost" size="sm" className="mt-1 w-full" onClick={onReset}>{t`恢复默认`}</Button>
      </PopoverContent>
    </Popover>
  );
}

function DensityChoice({ value, onChange }: { value: Density; onChange: (density: Density) => void }) {
  const { t } = useLingui();
  return (
    <RadioGroup.Root
      aria-label={t`行高`}
      value={value}
      onValueChange={(next) => onChange(next === "compact" || next === "roomy" ? next : "default")}
      className="mb-2 flex rounded-md bg-sunken p-0.5"
    >
      {(
        [
          ["compact", t`紧凑`],
          ["default", t`标准`],
          ["roomy", t`宽松`],
        ] as const
      ).map(([choice, label]) => (
        <RadioGroup.Item
          key={choice}
          value={choice}
          className="h-7 flex-1 rounded-sm text-ink-2 data-[state=checked]:bg-raised data-[state=checked]:text-ink pointer-coarse:h-9"
        >
          {label}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}

type ColumnLineProps = {
  header: string;
  /** Cannot be hidden. */
  fixed: boolean;
  visible: boolean;
  onVisible: (visible: boolean) => void;
  /** Absent: the first column, which always stays in sight. */
  pinned?: boolean;
  onPinned: (on: boolean) => void;
  dragged: boolean;
  onDragged: (on: boolean) => void;
  onDrop: () => void;
  /** Absent at the ends. */
  onUp?: () => void;
  onDown?: () => void;
};

function ColumnLine(line: ColumnLineProps) {
  const { t } = useLingui();
  const { header, pinned, dragged } = line;
  return (
    <li
      draggable
      onDragStart={() => line.onDragged(true)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={line.onDrop}
      onDragEnd={() => line.onDragged(false)}
      className={cn("flex h-8 items-center gap-1 rounded-sm hover:bg-sunken", dragged && "opacity-50")}
    >
      <GripVertical aria-hidden className="size-3.5 shrink-0 cursor-grab text-muted" />
      <label className="flex min-w-0 flex-1 items-center gap-2">
        <input
          type="checkbox"
          className="grid-check"
          checked={line.visible}
          disabled={line.fixed}
          onChange={(event) => line.onVisible(event.target.checked)}
        />
        <span className="truncate">{header}</span>
      </label>
      {pinned === undefined ? null : (
        <IconButton
          label={pinned ? t`取消固定 ${header}` : t`固定 ${header}`}
          aria-pressed={pinned}
          size="sm"
          className="w-6"
          onClick={() => line.onPinned(!pinned)}
        >
          {pinned ? <PinOff /> : <Pin />}
        </IconButton>
      )}
      <IconButton label={t`上移 ${header}`} size="sm" className="w-6" disabled={!line.onUp} onClick={line.onUp}>
        <ArrowUp />
      </IconButton>
      <IconButton label={t`下移 ${header}`} size="sm" className="w-6" disabled={!line.onDown} onClick={line.onDown}>
        <ArrowDown />
      </IconButton>
    </li>
  );
}
