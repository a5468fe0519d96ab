import { useLingui } from "@lingui/react/macro";
import { ChevronRight, Tag, TriangleAlert } from "lucide-react";
import { useMemo } from "react";
import { CHANNEL_STATUS, jsonObject, splitList, type ChannelView } from "../../../shared/channel";
import { readStatusInfo } from "../../../shared/channel-operations";
import { readChannelDoubt } from "../../../shared/usage-doubt";
import { Count, Quota } from "../../components/quota";
import { ResponseTimeBadge, StatusBadge } from "../../components/status-badge";
import { channelStatus } from "../../components/status";
import { UsageDoubtText } from "../../components/usage-doubts";
import { type GridColumn, type ExportedValue } from "../../components/data-grid/types";
import { cn } from "../../lib/cn";
import { formatTime } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { usePhone } from "../../lib/media";
import { Badge } from "../../ui/badge";
import { IconButton } from "../../ui/icon-button";
import { Tooltip } from "../../ui/tooltip";
import { BalanceButton, useAmount } from "./balance-button";
import { channelsOf, type ListRow, type TagListRow } from "./channel-rows";
import { TypeLogo, typeName } from "./channel-type-look";
import { DrainBadge } from "./drain-badge";
import { DayCourseCell, type DayFigure, HealthCell } from "./health-bars";
import { NumberCell } from "./number-cell";
import { ChannelResponseTime } from "./test-badge";

/** Why and when the system disabled a channel; undefined when it did not. */
export function disabledNote({ status, other_info }: Pick<ChannelView, "status" | "other_info">) {
  if (status === CHANNEL_STATUS.enabled) return undefined;
  const note = readStatusInfo(other_info, currentLanguage());
  return note && (note.reason || note.time) ? note : undefined;
}

/** The last count of its upstream that was not believed, while it is recent and the channel is not trusted anyway. */
export function doubtOf({ other_info, setting }: Pick<ChannelView, "other_info" | "setting">) {
  if (jsonObject(setting)?.trust_usage === true) return undefined;
  return readChannelDoubt(jsonObject(other_info), Date.now() / 1000);
}

/** The state of a channel; below it why the system disabled it, and on hover and focus also when (C-324). */
export function ChannelStatusCell({
  channel,
}: {
  channel: Pick<ChannelView, "id" | "status" | "other_info" | "setting" | "draining_since" | "drain_deadline">;
}) {
  const { t } = useLingui();
  const doubt = doubtOf(channel);
  const note = disabledNote(channel);
  const when = note?.time ? ` (${formatTime(note.time)})` : "";
  return (
    <span className="grid min-w-0">
      <span className="leading-none">
        {channel.draining_since > 0 && channel.status === CHANNEL_STATUS.enabled ? (
          <DrainBadge channel={channel} />
        ) : (
          <StatusBadge table={channelStatus} value={channel.status} hint={note ? `${note.reason}${when}` : undefined} />
        )}
        {doubt ? (
          <Tooltip content={<UsageDoubtText doubt={doubt} />}>
            {/* A sign alone: the column has no room for a second word. */}
            <span
              role="img"
              aria-label={t`用量可疑`}
              tabIndex={0}
              className="ml-1 inline-flex h-5 items-center rounded-sm bg-yellow-bg px-1 align-middle text-yellow-fg"
            >
              <TriangleAlert aria-hidden className="size-3" />
            </span>
          </Tooltip>
        ) : null}
      </span>
      {note ? (
        <span className="truncate text-xs leading-4 text-ink-2 max-sm:hidden">
          {note.reason}
          {note.time ? ` · ${formatTime(note.time).slice(5, 16)}` : ""}
        </span>
      ) : null}
    </span>
  );
}

/** How many channels of a tag are enabled. */
function TagStatus({ row }: { row: TagListRow }) {
  const { t } = useLingui();
  const { enabled, channels } = row.summary;
  const hue = enabled === channels ? "green" : enabled === 0 ? "grey" : "yellow";
  return <Badge hue={hue}>{t`已启用 ${enabled} / ${channels}`}</Badge>;
}

/** The groups of a channel as chips, as many as fit one line. */
function GroupChips({ groups }: { groups: readonly string[] }) {
  const shown = groups.slice(0, groups.slice(0, 2).join("").length > 9 ? 1 : 2);
  const more = groups.length - shown.length;
  return (
    <Tooltip content={more > 0 ? groups.join(", ") : null}>
      <span className="flex min-w-0 items-center gap-1" tabIndex={more > 0 ? 0 : undefined}>
        {shown.map((name) => (
          <Badge key={name} className="min-w-0">
            {name}
          </Badge>
        ))}
        {more > 0 ? <span className="text-xs text-ink-2">+{more}</span> : null}
      </span>
    </Tooltip>
  );
}

/** What was used through a channel, and what its upstream account has left in dollars. */
export function UsedAndRemaining({ channel }: { channel: ChannelView }) {
  return (
    <span className="whitespace-nowrap tabular-nums">
      <Quota value={channel.used_quota} />
      <span className="text-muted"> / </span>
      <BalanceButton channel={channel} />
    </span>
  );
}

function TagUsed({ row }: { row: TagListRow }) {
  const amount = useAmount();
  const { balance } = row.summary;
  return (
    <span className="whitespace-nowrap tabular-nums">
      <Quota value={row.summary.used_quota} />
      <span className="text-muted"> / </span>
      <span className="text-muted">{balance ? amount(balance.balance, balance.balance_currency) : "—"}</span>
    </span>
  );
}

/** The name of a row. A tag unfolds: by a button, or, on a phone, by the card's title itself. */
function NameCell({ row, onFold }: { row: ListRow; onFold: (tag: string) => void }) {
  const { t } = useLingui();
  const phone = usePhone();
  if (row.kind === "tag") {
    const { tag, unfolded } = row;
    const turned = cn("transition-transform", unfolded && "rotate-90");
    return (
      <span className="flex min-w-0 items-center gap-1.5">
        {phone ? (
          <ChevronRight aria-hidden className={cn("size-4 shrink-0", turned)} />
        ) : (
          <IconButton
            label={unfolded ? t`收起标签 ${tag}` : t`展开标签 ${tag}`}
            aria-expanded={unfolded}
            size="sm"
            className="-ml-1.5 shrink-0"
            onClick={() => onFold(tag)}
          >
            <ChevronRight className={turned} />
          </IconButton>
        )}
        <Tag aria-hidden className="size-4 shrink-0 text-violet-fg" />
        <span className="truncate font-medium" title={tag}>
          {tag}
        </span>
        <span className="sr-only">{t`（标签）`}</span>
      </span>
    );
  }
  const { channel, child } = row;
  const note = disabledNote(channel);
  return (
    <span className={cn("grid min-w-0", child && "pl-6 max-sm:pl-3")}>
      <span className="flex min-w-0 items-center gap-2">
        <TypeLogo type={channel.type} />
        <span className="truncate font-medium" title={channel.name}>
          {channel.name}
        </span>
        {channel.tag && !child ? (
          <Badge hue="violet" className="min-w-0 shrink-2 max-sm:hidden">
            {channel.tag}
          </Badge>
        ) : null}
      </span>
      {note ? <span className="truncate text-xs font-normal text-ink-2 sm:hidden">{note.reason}</span> : null}
    </span>
  );
}

/** Of a channel; a file has no rows of tags. */
const exportedOf =
  (values: (channel: ChannelView) => Record<string, ExportedValue>) =>
  (row: ListRow): Record<string, ExportedValue> =>
    row.kind === "tag" ? {} : values(row.channel);

/** The columns of the list. `onFold` folds and unfolds a tag; stable. */
export function useChannelColumns(onFold: (tag: string) => void): readonly GridColumn<ListRow>[] {
  const { t, i18n } = useLingui();
  return useMemo(
    (): readonly GridColumn<ListRow>[] => {
      const courses: readonly [DayFigure, string][] = [
        ["success", t`成功率`],
        ["first_token", t`首字`],
        ["speed", t`Token / 秒`],
        ["cost", t`24 小时费用`],
      ];
      return [
        {
          id: "id",
          header: t`ID`,
          width: 48,
          minWidth: 48,
          fixed: true,
          exported: exportedOf((channel) => ({ id: channel.id })),
          cell: (row) => <span className="text-ink-2">{row.kind === "tag" ? "" : row.channel.id}</span>,
        },
        {
          id: "name",
          header: t`名称`,
          width: 172,
          grow: true,
          fixed: true,
          card: "title",
          exported: exportedOf((channel) => ({ name: channel.name, tag: channel.tag })),
          cell: (row) => <NameCell row={row} onFold={onFold} />,
        },
        {
          id: "type",
          header: t`类型`,
          width: 112,
          exported: exportedOf((channel) => ({ type: channel.type, type_name: typeName(channel.type) })),
          cell: (row) => {
            const types = [...new Set(channelsOf(row).map((channel) => typeName(channel.type)))].join(", ");
            return <span title={types}>{types}</span>;
          },
        },
        {
          id: "group",
          header: t`分组`,
          width: 92,
          exported: exportedOf((channel) => ({ group: channel.group })),
          cell: (row) => <GroupChips groups={row.kind === "tag" ? row.summary.groups : splitList(row.channel.group)} />,
        },
        {
          id: "status",
          header: t`状态`,
          width: 132,
          card: "status",
          exported: exportedOf((channel) => ({ status: channel.status })),
          cell: (row) => (row.kind === "tag" ? <TagStatus row={row} /> : <ChannelStatusCell channel={row.channel} />),
        },
        {
          id: "health",
          header: t`近 24 小时`,
          width: 120,
          minWidth: 118,
          card: "fact",
          cell: (row) => <HealthCell ids={channelsOf(row).map((channel) => channel.id)} />,
        },
        ...courses.map(([figure, header]) => ({
          id: `health_${figure}`,
          header,
          width: 148,
          hidden: true,
          cell: (row: ListRow) => <DayCourseCell figure={figure} ids={channelsOf(row).map((channel) => channel.id)} />,
        })),
        {
          id: "response_time",
          header: t`响应时间`,
          width: 108,
          card: "fact",
          exported: exportedOf((channel) => ({ response_time: channel.response_time })),
          cell: (row) =>
            row.kind === "tag" ? (
              <ResponseTimeBadge value={row.summary.response_time} />
            ) : (
              <ChannelResponseTime id={row.channel.id} stored={row.channel.response_time} />
            ),
        },
        {
          id: "used",
          header: t`已用 / 剩余`,
          width: 128,
          align: "end",
          card: "fact",
          exported: exportedOf(({ used_quota, balance, balance_currency }) => ({
            used_quota,
            balance,
            balance_currency,
          })),
          cell: (row) => (row.kind === "tag" ? <TagUsed row={row} /> : <UsedAndRemaining channel={row.channel} />),
        },
        {
          id: "models",
          header: t`模型数`,
          width: 72,
          align: "end",
          hidden: true,
          exported: exportedOf((channel) => ({ models: channel.models })),
          cell: (row) => (
            <Count value={new Set(channelsOf(row).flatMap((channel) => splitList(channel.models))).size} />
          ),
        },
        {
          id: "priority",
          header: t`优先级`,
          width: 66,
          align: "end",
          card: "fact",
          exported: exportedOf((channel) => ({ priority: channel.priority })),
          cell: (row) => <NumberCell row={row} field="priority" />,
        },
        {
          id: "weight",
          header: t`权重`,
          width: 62,
          align: "end",
          exported: exportedOf((channel) => ({ weight: channel.weight })),
          cell: (row) => <NumberCell row={row} field="weight" />,
        },
      ];
    },
    // The names of types follow the language as well.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [t, i18n.locale, onFold],
  );
}
