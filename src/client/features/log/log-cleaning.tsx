import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import { formatNumber } from "../../lib/format";
import { faultOf } from "../../lib/errors";
import { toastError, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { DateTimeField } from "../../ui/date-time-field";
import { Label } from "../../ui/label";
import { Progress } from "../../ui/progress";

/** A month ago, to the minute. */
export function monthAgo(): number {
  const date = new Date();
  date.setMonth(date.getMonth() - 1, Math.min(date.getDate(), 28));
  date.setSeconds(0, 0);
  return Math.floor(date.getTime() / 1000);
}

/** Removes rows of the log before a time. For super administrators. */
export function LogCleaning({ onCleaned }: { onCleaned?: () => void }) {
  const { t } = useLingui();
  const id = useId();
  const [time, setTime] = useState<number | null>(monthAgo);
  const cleaning = trpc.log.clean.useMutation({ meta: { quiet: true } });
  const state = trpc.log.cleaning.useQuery(undefined, {
    refetchInterval: ({ state: { data } }) => (cleaning.isPending || data?.running ? 1000 : false),
    meta: { quiet: true },
  });
  const running = cleaning.isPending || state.data?.running === true;
  const removed = formatNumber(state.data?.running ? state.data.removed : 0);

  const clean = () => {
    if (time === null) {
      toastError(t`请选择日志记录时间`);
      return;
    }
    cleaning.mutate(
      { target_timestamp: time },
      {
        onSuccess: (count) => {
          toastSuccess(t`已清理 ${formatNumber(count)} 条日志`);
          onCleaned?.();
        },
        onError: (error) => {
          const { message } = faultOf(error);
          toastError(t`日志清理失败：${message}`);
        },
        onSettled: () => void state.refetch(),
      },
    );
  };

  return (
    <div className="grid gap-3">
      <div className="grid gap-1">
        <Label htmlFor={id}>{t`清理此时间之前的日志`}</Label>
        <DateTimeField id={id} value={time} onValueChange={setTime} disabled={running} />
      </div>
      <p className="text-muted">{t`日志行会被永久删除；余额、已用额度与统计数据不受影响。`}</p>
      {running ? (
        <div role="status" className="grid gap-1">
          <Progress value={null} label={t`正在清理`} />
          <p className="text-muted tabular-nums">{t`正在清理，已删除 ${removed} 条`}</p>
        </div>
      ) : null}
      <div>
        <Button variant="danger" disabled={running} onClick={clean}>{t`清理日志`}</Button>
      </div>
    </div>
  );
}
