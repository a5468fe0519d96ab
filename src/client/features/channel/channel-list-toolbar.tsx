import { useLingui } from "@lingui/react/macro";
import { ListChecks, Tags } from "lucide-react";
import type { ReactNode } from "react";
import { CHANNEL_STATUS_NAMES } from "../../../shared/channel";
import type { GridSelection } from "../../components/data-grid/grid-props";
import { cn } from "../../lib/cn";
import { currentLanguage } from "../../lib/i18n";
import { lazy, WhileLoading } from "../../lib/lazy";
import { Button } from "../../ui/button";
import { Checkbox } from "../../ui/checkbox";
import { IconButton } from "../../ui/icon-button";
import type { ListDialog } from "./channel-dialogs";
import type { ChannelGrid, useListMode } from "./channel-list-query";
import { channelsBehind, type ListRow } from "./channel-rows";
import type { useRun } from "./channel-runs";
import { ListMenu } from "./list-menu";

const BatchBar = lazy(() => import("./batch-bar"));

type ListToolbarProps = {
  grid: ChannelGrid;
  list: ReturnType<typeof useListMode>;
  selection: GridSelection<ListRow>;
  idSort: boolean;
  onIdSort: (on: boolean) => void;
  test: ReturnType<typeof useRun>;
  balance: ReturnType<typeof useRun>;
  onDialog: (dialog: ListDialog) => void;
};

/** The buttons above the list: which channels, in which order and manner, and what is done to all or to several. */
export function ListToolbar({ grid, list, selection, idSort, onIdSort, test, balance, onDialog }: ListToolbarProps) {
  const { t } = useLingui();
  const { mode, setMode } = list;
  return (
    <>
      <StatusChips value={grid.filters.status} onChange={(next) => grid.setFilters({ status: next })} />
      <label className="flex min-h-8 items-center gap-2 px-1 max-sm:hidden pointer-coarse:min-h-10">
        <Checkbox checked={idSort} onCheckedChange={(on) => onIdSort(on === true)} />
        {t`按 ID 排序`}
      </label>
      <ModeButton label={t`标签聚合`} on={mode.tags} onToggle={(tags) => setMode({ tags, p: "" })}>
        <Tags />
      </ModeButton>
      <ModeButton label={t`批量操作`} on={mode.batch} onToggle={(batch) => setMode({ batch })}>
        <ListChecks />
      </ModeButton>
      <ListMenu
        test={test}
        balance={balance}
        idSort={idSort}
        onIdSort={onIdSort}
        onRepaired={(report) => onDialog({ kind: "repair", report })}
        onDryRun={() => onDialog({ kind: "dry-run" })}
      />
      {mode.batch ? (
        <WhileLoading show={null}>
          <BatchBar
            channels={channelsBehind(selection.rows)}
            onClear={selection.clear}
            onTag={() => onDialog({ kind: "set-tag", channels: channelsBehind(selection.rows) })}
            onEdit={() => onDialog({ kind: "edit", channels: channelsBehind(selection.rows) })}
            onLeave={() => {
              selection.clear();
              setMode({ batch: false });
            }}
          />
        </WhileLoading>
      ) : null}
    </>
  );
}

/** A way of showing the list that is on or off. */
function ModeButton({
  label,
  on,
  onToggle,
  children,
}: {
  label: string;
  on: boolean;
  onToggle: (on: boolean) => void;
  children: ReactNode;
}) {
  return (
    <IconButton
      label={label}
      variant="secondary"
      aria-pressed={on}
      className={cn(on && "border-accent bg-accent-soft text-accent-text hover:bg-accent-soft")}
      onClick={() => onToggle(!on)}
    >
      {children}
    </IconButton>
  );
}

/** The states of channels, as choices. */
export function statusOptions(): { value: string; label: string }[] {
  return Object.entries(CHANNEL_STATUS_NAMES).map(([value, name]) => ({ value, label: name[currentLanguage()] }));
}

/** The states of channels, one press away; on a phone the filter panel has them. */
function StatusChips({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { t } = useLingui();
  const chips = [{ value: "", label: t`全部` }, ...statusOptions()];
  return (
    <div role="group" aria-label={t`状态`} className="flex gap-0.5 max-lg:hidden">
      {chips.map((chip) => (
        <Button
          key={chip.value}
          variant="ghost"
          aria-pressed={chip.value === value}
          className={cn("px-2", chip.value === value && "bg-accent-soft text-accent-text")}
          onClick={() => onChange(chip.value)}
        >
          {chip.label}
        </Button>
      ))}
    </div>
  );
}
