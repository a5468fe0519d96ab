import { useLingui } from "@lingui/react/macro";
import { Square } from "lucide-react";
import { confirm } from "../../components/confirm";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";

/** Stops a job whose vendor can. */
export function CancelButton({ id }: { id: number }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const cancel = trpc.task.cancel.useMutation();
  const stop = async () => {
    if (
      !(await confirm({
        title: t`取消这个任务？`,
        description: t`上游停止后退还它的费用；已经完成的部分可能仍会计费。`,
        action: t`取消任务`,
      }))
    )
      return;
    try {
      await cancel.mutateAsync({ id });
      toastSuccess(t`任务已取消`);
    } catch {
      // The query client shows the error.
    }
    void utils.task.invalidate();
    void utils.midjourney.invalidate();
  };
  return (
    <Button size="sm" loading={cancel.isPending} onClick={() => void stop()}>
      <Square aria-hidden />
      {t`取消任务`}
    </Button>
  );
}
