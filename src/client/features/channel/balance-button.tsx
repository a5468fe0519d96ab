import { useLingui } from "@lingui/react/macro";
import { RotateCw } from "lucide-react";
import type { ChannelView } from "../../../shared/channel";
import { channelType } from "../../../shared/channel-types";
import { formatTime } from "../../lib/format";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Spinner } from "../../ui/spinner";
import { Tooltip } from "../../ui/tooltip";
import { usePatchChannels } from "./channel-cache";

type Account = Pick<ChannelView, "id" | "name" | "type" | "balance" | "balance_currency" | "balance_updated_time">;

/** The vendor's own figure in its own unit; '' is USD. */
export function useAmount(): (balance: number, currency: string) => string {
  const { t } = useLingui();
  return (balance, currency) =>
    currency === "points" ? t`${balance} 点` : `${currency === "CNY" ? "¥" : "$"}${balance.toFixed(2)}`;
}

/** The balance of the upstream account; a press queries the upstream again, where its type supports it (C-095). */
export function BalanceButton({ channel }: { channel: Account }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const patch = usePatchChannels();
  const say = useAmount();
  const { id, name } = channel;
  const ask = trpc.channel.updateBalance.useMutation({
    onSuccess: ({ balance, currency }) => {
      patch((row) =>
        row.id === id
          ? { ...row, balance, balance_currency: currency, balance_updated_time: Math.floor(Date.now() / 1000) }
          : row,
      );
      const left = say(balance, currency);
      toastSuccess(t`渠道 ${name} 余额更新成功：${left}`);
      // An empty account may have been disabled by this.
      void utils.channel.invalidate();
    },
  });
  const known = channel.balance_updated_time > 0;
  const amount = say(channel.balance, channel.balance_currency);
  const when = formatTime(channel.balance_updated_time);

  if (!channelType(channel.type)?.balance) {
    return (
      <Tooltip content={t`该类型渠道不支持查询余额`}>
        <span tabIndex={0} className="text-muted">
          {known ? amount : "—"}
        </span>
      </Tooltip>
    );
  }
  return (
    <Tooltip content={known ? t`更新于 ${when}，点击重新查询` : t`还没有查询过余额，点击查询`}>
      <button
        type="button"
        aria-label={known ? t`剩余 ${amount}，更新 ${name} 的余额` : t`查询 ${name} 的余额`}
        aria-busy={ask.isPending || undefined}
        onClick={() => !ask.isPending && ask.mutate({ id })}
        className="inline-flex h-6 min-w-6 -outline-offset-2 items-center justify-center gap-1 rounded-sm px-1 tabular-nums underline decoration-dotted decoration-muted underline-offset-3 hover:bg-surface hover:text-accent-text pointer-coarse:h-10 pointer-coarse:min-w-10 [&_svg]:size-3"
      >
        {known ? amount : null}
        {ask.isPending ? <Spinner /> : known ? null : <RotateCw aria-hidden />}
      </button>
    </Tooltip>
  );
}
