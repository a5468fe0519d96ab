import { useLingui } from "@lingui/react/macro";
import { Ellipsis, Route, Trash2, Wallet, Wrench, Zap } from "lucide-react";
import { CHANNEL_STATUS } from "../../../shared/channel";
import type { RepairReport } from "../../../shared/channel-operations";
import { confirm } from "../../components/confirm";
import { toastInfo, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import {
  DropdownMenu,
  DropdownMenuCheckboxItem,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuSeparator,
  DropdownMenuTrigger,
} from "../../ui/dropdown-menu";
import { IconButton } from "../../ui/icon-button";
import type { useRun } from "./channel-runs";

type Run = Pick<ReturnType<typeof useRun>, "busy" | "start">;

/** What can be done to all channels at once. */
export function ListMenu({
  test,
  balance,
  idSort,
  onIdSort,
  onRepaired,
  onDryRun,
}: {
  test: Run;
  balance: Run;
  /** On a phone the order is chosen here, beside a list it has a box of its own. */
  idSort: boolean;
  onIdSort: (on: boolean) => void;
  /** Called when something is left that only an operator can fix. */
  onRepaired: (report: RepairReport) => void;
  /** Wants to know where a call would go. */
  onDryRun: () => void;
}) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const deleting = trpc.channel.deleteDisabled.useMutation();
  const repairing = trpc.channel.repair.useMutation();

  const deleteDisabled = async () => {
    const counts = await utils.channel.statusCounts.fetch(undefined, { staleTime: 0 }).catch(() => null);
    if (!counts) return;
    const byHand = counts[CHANNEL_STATUS.disabled] ?? 0;
    const automatic = counts[CHANNEL_STATUS.auto_disabled] ?? 0;
    const all = byHand + automatic;
    if (all === 0) {
      toastInfo(t`没有已禁用的渠道`);
      return;
    }
    const agreed = await confirm({
      title: t`删除 ${all} 个已禁用的渠道？`,
      description: t`手动禁用 ${byHand} 个，自动禁用 ${automatic} 个。此操作无法撤销，已有的日志会保留。`,
      action: t`删除 ${all} 个渠道`,
      danger: true,
    });
    if (!agreed) return;
    deleting.mutate(undefined, {
      onSuccess: (count) => toastSuccess(t`已删除所有禁用渠道，共计 ${count} 个`),
      onSettled: () => void utils.channel.invalidate(),
    });
  };

  const repair = () =>
    repairing.mutate(undefined, {
      onSuccess: (report) => {
        const { checked, repaired, problems } = report;
        toastSuccess(t`数据库一致性修复完成：检查 ${checked} 个渠道，修复 ${repaired} 个`);
        if (problems.length > 0) onRepaired(report);
      },
      onSettled: () => void utils.channel.invalidate(),
    });

  return (
    <DropdownMenu>
      <DropdownMenuTrigger asChild>
        <IconButton label={t`更多操作`} variant="secondary">
          <Ellipsis />
        </IconButton>
      </DropdownMenuTrigger>
      <DropdownMenuContent>
        <div className="sm:hidden">
          <DropdownMenuCheckboxItem
            checked={idSort}
            onCheckedChange={onIdSort}
          >{t`按 ID 排序`}</DropdownMenuCheckboxItem>
          <DropdownMenuSeparator />
        </div>
        <DropdownMenuItem
          icon={<Zap aria-hidden />}
          disabled={test.busy}
          onSelect={test.start}
        >{t`测试所有渠道`}</DropdownMenuItem>
        <DropdownMenuItem icon={<Wallet aria-hidden />} disabled={balance.busy} onSelect={balance.start}>
          {t`更新所有渠道余额`}
        </DropdownMenuItem>
        <DropdownMenuItem icon={<Route aria-hidden />} onSelect={onDryRun}>{t`路由预演…`}</DropdownMenuItem>
        <DropdownMenuItem icon={<Wrench aria-hidden />} disabled={repairing.isPending} onSelect={repair}>
          {t`修复数据库一致性`}
        </DropdownMenuItem>
        <DropdownMenuSeparator />
        <DropdownMenuItem
          icon={<Trash2 aria-hidden />}
          danger
          disabled={deleting.isPending}
          onSelect={() => void deleteDisabled()}
        >
          {t`删除已禁用的渠道…`}
        </DropdownMenuItem>
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
