import { useLingui } from "@lingui/react/macro";
import { CHANNEL_STATUS } from "../../../shared/channel-status";
import { trpc } from "../../lib/trpc";

const RENEW_MS = 60_000;

/** How many channels the system disabled, beside the menu item; nothing while there are none. */
export function AutoDisabledBadge({ collapsed }: { collapsed: boolean }) {
  const { t } = useLingui();
  const counts = trpc.channel.statusCounts.useQuery(undefined, {
    refetchInterval: RENEW_MS,
    meta: { quiet: true },
  });
  const count = counts.data?.[CHANNEL_STATUS.auto_disabled] ?? 0;
  if (count === 0) return null;
  const words = t`${count} 个渠道被自动禁用`;
  if (collapsed) {
    return (
      <span className="absolute top-0.5 right-1 size-2 rounded-full bg-yellow-solid">
        <span className="sr-only">{words}</span>
      </span>
    );
  }
  return (
    <span title={words} className="ml-auto rounded-sm bg-yellow-bg px-1.5 text-xs text-yellow-fg tabular-nums">
      <span aria-hidden>{count}</span>
      <span className="sr-only">{words}</span>
    </span>
  );
}
