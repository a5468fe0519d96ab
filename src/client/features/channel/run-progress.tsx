import { useLingui } from "@lingui/react/macro";
import type { ChannelRun } from "../../../shared/channel-operations";
import { Progress } from "../../ui/progress";

/** A run under way. */
export default function RunProgress({ run }: { run: ChannelRun }) {
  const { t } = useLingui();
  const { done, total, ok, failed } = run;
  const label = run.kind === "test" ? t`正在测试渠道` : t`正在更新余额`;
  return (
    <div className="grid gap-1.5 rounded-lg border border-line bg-surface px-3 py-2">
      <p role="status" className="flex flex-wrap gap-x-3 tabular-nums">
        <span className="font-medium">{label}</span>
        <span>{t`${done} / ${total}`}</span>
        <span className="text-ink-2">{t`成功 ${ok} 个，失败 ${failed} 个`}</span>
      </p>
      <Progress label={label} value={total === 0 ? null : (done / total) * 100} />
    </div>
  );
}
