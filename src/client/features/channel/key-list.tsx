import { useLingui } from "@lingui/react/macro";
import { Hourglass, Play, RotateCw, Trash2, TriangleAlert } from "lucide-react";
import { CHANNEL_STATUS } from "../../../shared/channel";
import type { ChannelKeyView } from "../../../shared/channel-keys";
import { readStatusInfo } from "../../../shared/channel-operations";
import { ErrorPanel } from "../../components/error-panel";
import { TimeAgo } from "../../components/time-ago";
import { formatTime } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { IconButton } from "../../ui/icon-button";
import { Skeleton } from "../../ui/skeleton";
import { Switch } from "../../ui/switch";

/** The keys of a channel that has several: state, reason, on and off, removal. Changes hold at once, without saving. */
export default function KeyList({ channelId }: { channelId: number }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const keys = trpc.channel.keys.useQuery({ id: channelId });
  const renew = () => void utils.channel.invalidate();
  const setStatus = trpc.channel.setKeyStatus.useMutation({ onSettled: renew });
  const drain = trpc.channel.drainKey.useMutation({ onSettled: renew });
  const resume = trpc.channel.resumeKey.useMutation({ onSettled: renew });
  const remove = trpc.channel.removeKeys.useMutation({
    onSettled: renew,
    onSuccess: () => void toastSuccess(t`密钥已删除`),
  });
  const busy = [setStatus, drain, resume, remove].some(({ isPending }) => isPending);

  if (keys.isError) return <ErrorPanel error={keys.error} onRetry={() => void keys.refetch()} />;
  if (!keys.data) return <Skeleton className="h-24" />;
  const list = keys.data;
  const enabled = list.filter(({ status }) => status === CHANNEL_STATUS.enabled).length;
  const count = list.length;
  return (
    <div className="grid gap-1">
      <p className="text-xs text-muted">{t`共 ${count} 个密钥，${enabled} 个已启用`}</p>
      <ul
        aria-label={t`密钥列表`}
        className="max-h-72 divide-y divide-line overflow-y-auto rounded-md border border-line"
      >
        {list.map((key) => (
          <li key={key.id} className="flex min-h-10 items-center gap-2 px-2 py-1">
            <KeyFacts item={key} />
            <Switch
              aria-label={t`启用密钥 ${key.position}`}
              checked={key.status === CHANNEL_STATUS.enabled}
              disabled={busy}
              onCheckedChange={(on) =>
                setStatus.mutate({
                  id: channelId,
                  key_ids: [key.id],
                  status: on ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabled,
                })
              }
            />
            <IconButton
              label={key.draining_since > 0 ? t`恢复密钥 ${key.position}` : t`排空密钥 ${key.position}`}
              size="sm"
              disabled={busy || key.status !== CHANNEL_STATUS.enabled}
              onClick={() => (key.draining_since > 0 ? resume : drain).mutate({ id: channelId, key_id: key.id })}
            >
              {key.draining_since > 0 ? <Play /> : <Hourglass />}
            </IconButton>
            <IconButton
              label={t`删除密钥 ${key.position}`}
              size="sm"
              disabled={busy || list.length === 1}
              onClick={() => remove.mutate({ id: channelId, key_ids: [key.id] })}
            >
              <Trash2 />
            </IconButton>
          </li>
        ))}
      </ul>
    </div>
  );
}

function KeyFacts({ item }: { item: ChannelKeyView }) {
  const { t } = useLingui();
  const info = readStatusInfo(item.reason, currentLanguage());
  const until = formatTime(item.retires_at);
  const fallen = item.status === CHANNEL_STATUS.auto_disabled;
  return (
    <div className="min-w-0 flex-1">
      <span className="mr-2 text-muted tabular-nums">#{item.position}</span>
      <span className="mr-2 font-mono text-xs">{item.hint}</span>
      {fallen ? <Badge hue="yellow" icon={<TriangleAlert aria-hidden />}>{t`自动禁用`}</Badge> : null}
      {item.draining_since > 0 ? <Badge hue="orange" icon={<Hourglass aria-hidden />}>{t`排空中`}</Badge> : null}
      {item.retires_at > 0 ? (
        <Badge hue="blue" icon={<RotateCw aria-hidden />}>{t`轮换中，用到 ${until}`}</Badge>
      ) : null}
      {fallen && info ? (
        <p className="text-xs wrap-anywhere text-muted">
          {info.reason} <TimeAgo value={info.time} />
        </p>
      ) : null}
    </div>
  );
}
