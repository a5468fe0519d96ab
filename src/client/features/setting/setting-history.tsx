import { useLingui } from "@lingui/react/macro";
import { History } from "lucide-react";
import { useState } from "react";
import { optionFacts, optionKeys } from "../../../shared/option-facts";
import type { OptionKey } from "../../../shared/options";
import { currentLanguage } from "../../lib/i18n";
import { loadStatus } from "../../lib/status";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Dialog } from "../../ui/dialog";
import { IconButton } from "../../ui/icon-button";
import { HistoryList } from "../audit/history-list";

function labelOf(key: string): string {
  const known = optionKeys.find((one) => one === key);
  return known ? optionFacts[known].label[currentLanguage()] : key;
}

/** The history of one setting, or of those of a table, behind a button beside it. */
export function SettingHistory({ keys, name }: { keys: readonly OptionKey[]; name: string }) {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton label={t`${name}的修改历史`} size="sm" onClick={() => setOpen(true)}>
        <History />
      </IconButton>
      {open ? (
        <Dialog open onOpenChange={setOpen} title={t`${name}的修改历史`} className="w-[min(640px,calc(100vw-32px))]">
          <OptionHistory keys={keys} />
        </Dialog>
      ) : null}
    </>
  );
}

/** What people changed of settings; with `member` of one member of their tables, such as a model's price. */
export function OptionHistory({
  keys,
  member,
  onRestored,
}: {
  keys: readonly OptionKey[];
  member?: string;
  onRestored?: () => void;
}) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const only = member === undefined ? {} : { member };
  const query = trpc.option.history.useInfiniteQuery(
    { keys: [...keys], ...only },
    { getNextPageParam: ({ next }) => next, meta: { quiet: true } },
  );
  const restoring = trpc.option.restore.useMutation();
  const restore = async (key: string, entry: number): Promise<void> => {
    try {
      await restoring.mutateAsync({ key, entry, ...only });
      toastSuccess(t`已恢复到修改之前`);
      onRestored?.();
    } catch {
      // The query client shows why it was refused.
    }
    void utils.option.invalidate();
    void utils.pricing.invalidate();
    void loadStatus();
  };
  return (
    <HistoryList
      query={query}
      nameOf={labelOf}
      named={member === undefined ? undefined : ({ target_id }) => labelOf(target_id)}
      onRestore={({ id, target_id }) => void restore(target_id, id)}
      restoring={restoring.isPending ? restoring.variables.entry : undefined}
    />
  );
}
