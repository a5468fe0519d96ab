import { t } from "@lingui/core/macro";
import { useEffect, useRef } from "react";
import type { ChannelRun, RunKind } from "../../../shared/channel-operations";
import { toastInfo, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";

const POLL_MS = 1000;

/**
 * A run over all channels: its progress, whichever administrator started it, and a function to start one. While it runs
 * the list is refetched with each step, and its end is reported once.
 */
export function useRun(kind: RunKind) {
  const utils = trpc.useUtils();
  const testAll = trpc.channel.testAll.useMutation();
  const updateBalances = trpc.channel.updateBalances.useMutation();
  const mutation = kind === "test" ? testAll : updateBalances;
  /** The run that was seen running and whose end is not yet reported. */
  const watched = useRef<string | null>(null);
  const { data: run } = trpc.channel.run.useQuery(
    { kind },
    {
      meta: { quiet: true },
      // The call for balances answers at the end of the run; its progress is asked for meanwhile.
      refetchInterval: ({ state }) => (state.data?.running || mutation.isPending ? POLL_MS : false),
    },
  );

  useEffect(() => {
    if (!run) return;
    if (run.running) {
      watched.current = run.id;
      // The rows that are done show their new figures.
      if (run.done > 0) void Promise.all([utils.channel.list.invalidate(), utils.channel.tagPage.invalidate()]);
      return;
    }
    if (watched.current !== run.id) return;
    watched.current = null;
    announce(run);
    void utils.channel.invalidate();
  }, [run, utils]);

  const start = () => {
    mutation.mutate(undefined, {
      onSuccess: (started) => {
        watched.current = started.id;
        utils.channel.run.setData({ kind }, started);
      },
    });
  };
  return { run: run?.running ? run : undefined, busy: mutation.isPending || run?.running === true, start };
}

function announce(run: ChannelRun): void {
  const { ok, failed, skipped, disabled, enabled } = run;
  if (run.finished_at === 0) {
    toastInfo(run.kind === "test" ? t`渠道测试中断了` : t`余额更新中断了`);
    return;
  }
  const counts = t`成功 ${ok} 个，失败 ${failed} 个，跳过 ${skipped} 个`;
  const changed = disabled + enabled > 0 ? t`；自动禁用 ${disabled} 个，重新启用 ${enabled} 个` : "";
  toastSuccess(run.kind === "test" ? t`渠道测试完成：${counts}${changed}` : t`余额更新完成：${counts}${changed}`);
}
