import { useLingui } from "@lingui/react/macro";
import { optionFacts, optionKeys } from "../../../shared/option-facts";
import type { OptionKey } from "../../../shared/options";
import { currentLanguage } from "../../lib/i18n";
import { loadStatus } from "../../lib/status";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { HistoryList } from "../audit/history-list";

function labelOf(key: string): string {
  const known = optionKeys.find((one) => one === key);
  return known ? optionFacts[known].label[currentLanguage()] : key;
}

/** What people changed of settings; with `member` of one member of their tables, such as a model's price. */
export default function OptionHistory({
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
