import { Trans, useLingui } from "@lingui/react/macro";
import { Button } from "../ui/button";
import { TimeAgo } from "./time-ago";

/** Offers what was typed into a form earlier and never saved; the props are the answer of `useFormDraft`. */
export function DraftNotice({
  savedAt,
  restore,
  discard,
}: {
  savedAt: number | null;
  restore: () => void;
  discard: () => void;
}) {
  const { t } = useLingui();
  if (savedAt === null) return null;
  return (
    <div
      role="status"
      className="mb-4 flex flex-wrap items-center gap-2 rounded-lg bg-yellow-bg px-3 py-2 text-yellow-fg"
    >
      <span className="flex-1">
        <Trans>
          有一份未保存的草稿（
          <TimeAgo value={savedAt} />）
        </Trans>
      </span>
      <Button size="sm" onClick={restore}>{t`恢复`}</Button>
      <Button size="sm" variant="ghost" className="text-current" onClick={discard}>{t`丢弃`}</Button>
    </div>
  );
}
