import { useLingui } from "@lingui/react/macro";
import { AudioLines } from "lucide-react";
import { Fragment, useMemo } from "react";
import { LOG_TYPE } from "../../../shared/log";
import type { LogView } from "../../../shared/log-list";
import { Count, Quota } from "../../components/quota";
import { durationHue, firstTokenHue, groupRatioHue, logType } from "../../components/status";
import { StatusBadge } from "../../components/status-badge";
import { TimeAgo } from "../../components/time-ago";
import type { GridColumn } from "../../components/data-grid/types";
import { formatMilliseconds } from "../../lib/format";
import { Badge } from "../../ui/badge";
import { attemptsOf, readDetails } from "./log-details";
import { ChannelLink, ChannelNumberLink, GroupLink, ModelLink, RequestLink, Seconds, TokenLink } from "./log-links";
import { LogUser } from "./log-user";
import { textOf } from "./row-text";

/** Rows of calls; the others are of money and of administration, and took no time and no tokens. */
const isCall = ({ type }: LogView): boolean => type === LOG_TYPE.consume || type === LOG_TYPE.error;

const None = () => <span className="text-muted">—</span>;

/** Seconds of the call, milliseconds to its first token, and whether it was streamed. */
function Timing({ row }: { row: LogView }) {
  const { t } = useLingui();
  if (!isCall(row)) return <None />;
  const { frt = -1 } = readDetails(row.other);
  const hue = frt >= 0 ? firstTokenHue(frt) : null;
  return (
    <span className="flex items-center gap-1">
      <Badge hue={durationHue(row.use_time)}>
        <Seconds value={row.use_time} />
      </Badge>
      {hue ? <Badge hue={hue}>{formatMilliseconds(frt)}</Badge> : null}
      {row.is_stream ? (
        <span title={t`流`} className="shrink-0 text-blue-fg">
          <AudioLines aria-hidden className="size-4" />
          <span className="sr-only">{t`流`}</span>
        </span>
      ) : null}
    </span>
  );
}

/** The channel that served and how many were tried before it. */
function Served({ row }: { row: LogView }) {
  const tried = attemptsOf(readDetails(row.other)).map((attempt) => attempt.channel);
  if (tried.length > 1)
    return (
      <span className="truncate">
        {tried.map((id, place) => (
          <Fragment key={place}>
            {place > 0 ? " → " : null}
            <ChannelNumberLink id={id}>{id}</ChannelNumberLink>
          </Fragment>
        ))}
      </span>
    );
  if (row.channel !== 0) return <ChannelLink row={row} />;
  return tried[0] === undefined ? <None /> : <ChannelNumberLink id={tried[0]}>{tried[0]}</ChannelNumberLink>;
}

function Model({ row }: { row: LogView }) {
  const { is_model_mapped: mapped, upstream_model_name: upstream, asked_model } = readDetails(row.other);
  const names = [asked_model, row.model_name, mapped && upstream];
  const model = row.model_name ? <ModelLink row={row}>{names.filter(Boolean).join(" → ")}</ModelLink> : null;
  if (row.type !== LOG_TYPE.error) return model;
  // The code first: it tells causes apart where the rest of the line is cut.
  const cause = [row.code, textOf(row)].filter(Boolean).join(" · ");
  return (
    <span className="grid min-w-0 leading-4" title={cause}>
      {model}
      <span className="truncate text-xs text-red-fg">{cause}</span>
    </span>
  );
}

/** What was charged; what was given back has its sign; other rows move no charge. */
function Cost({ row }: { row: LogView }) {
  if (row.type === LOG_TYPE.refund && row.quota > 0)
    return (
      <span className="whitespace-nowrap text-green-fg">
        +<Quota value={row.quota} decimals={6} />
      </span>
    );
  return isCall(row) || row.quota !== 0 ? <Quota value={row.quota} decimals={6} /> : <None />;
}

/** Tokens of a call. */
const Tokens = ({ row, count }: { row: LogView; count: number }) => (isCall(row) ? <Count value={count} /> : <None />);

/** The group, in the colour of the ratio that the row was charged by; without one it has none. */
function Group({ row }: { row: LogView }) {
  if (!row.group) return null;
  const { group_ratio, user_group_ratio = -1 } = readDetails(row.other);
  const ratio = user_group_ratio >= 0 ? user_group_ratio : group_ratio;
  return (
    <GroupLink group={row.group}>
      {row.type === LOG_TYPE.consume && ratio !== undefined ? (
        <Badge hue={groupRatioHue(ratio)}>{row.group}</Badge>
      ) : (
        <Badge>{row.group}</Badge>
      )}
    </GroupLink>
  );
}

/** The columns of the usage log; channel and user are the administrators'. */
export function useLogColumns(admin: boolean): readonly GridColumn<LogView>[] {
  const { t } = useLingui();
  return useMemo(() => {
    const columns: (GridColumn<LogView> | false)[] = [
      {
        id: "time",
        header: t`时间`,
        width: 100,
        fixed: true,
        card: "title",
        cell: (row) => <TimeAgo value={row.created_at} />,
      },
      {
        id: "type",
        header: t`类型`,
        width: 96,
        card: "status",
        cell: (row) => <StatusBadge table={logType} value={row.type} />,
      },
      admin && {
        id: "channel",
        header: t({ message: "渠道", context: "singular" }),
        width: 112,
        cell: (row) => <Served row={row} />,
      },
      admin && {
        id: "user",
        header: t`用户`,
        width: 92,
        cell: (row) => <LogUser id={row.user_id} name={row.username} />,
      },
      { id: "token", header: t`令牌`, width: 92, cell: (row) => <TokenLink row={row} /> },
      { id: "group", header: t`分组`, width: 84, cell: (row) => <Group row={row} /> },
      { id: "model", header: t`模型`, width: 150, grow: true, card: "fact", cell: (row) => <Model row={row} /> },
      { id: "timing", header: t`用时 / 首字`, width: 156, cell: (row) => <Timing row={row} /> },
      {
        id: "in",
        header: t`输入`,
        width: 80,
        align: "end",
        cell: (row) => <Tokens row={row} count={row.prompt_tokens} />,
      },
      {
        id: "out",
        header: t`输出`,
        width: 80,
        align: "end",
        cell: (row) => <Tokens row={row} count={row.completion_tokens} />,
      },
      {
        id: "cost",
        header: t`花费`,
        width: 100,
        align: "end",
        card: "fact",
        cell: (row) => <Cost row={row} />,
      },
      {
        id: "content",
        header: t`详情`,
        width: 280,
        hidden: true,
        cell: (row) => <span className="truncate">{textOf(row)}</span>,
      },
      {
        id: "request",
        header: t`请求 ID`,
        width: 240,
        hidden: true,
        cell: (row) => <RequestLink id={row.request_id} />,
      },
    ];
    return columns.filter((column) => column !== false);
  }, [admin, t]);
}
