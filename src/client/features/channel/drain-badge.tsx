import { useLingui } from "@lingui/react/macro";
import { Hourglass } from "lucide-react";
import type { ChannelView } from "../../../shared/channel";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { Tooltip } from "../../ui/tooltip";
import { formatTime } from "../../lib/format";

const RENEW_MS = 1_000;

/** A channel that drains, with the calls that still run: they are counted down while one looks. */
export function DrainBadge({ channel }: { channel: Pick<ChannelView, "id" | "drain_deadline"> }) {
  const { t } = useLingui();
  const { id, drain_deadline } = channel;
  const state = trpc.channel.drainState.useQuery({ id }, { refetchInterval: RENEW_MS, meta: { quiet: true } });
  const { running = 0, jobs = 0 } = state.data ?? {};
  const until = drain_deadline > 0 ? formatTime(drain_deadline) : "";
  const hint = [
    t`不再接受新请求；进行中的请求 ${running} 个，任务 ${jobs} 个`,
    ...(until ? [t`${until} 结束仍在进行的请求`] : []),
  ].join(" · ");
  return (
    <Tooltip content={hint}>
      <span tabIndex={0} className="inline-flex">
        <Badge hue={running > 0 ? "orange" : "grey"} icon={<Hourglass aria-hidden />}>
          {running > 0 ? t`排空中 · ${running}` : t`已排空`}
        </Badge>
      </span>
    </Tooltip>
  );
}
