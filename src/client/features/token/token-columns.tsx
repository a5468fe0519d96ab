import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import { NEVER, type TokenView } from "../../../shared/token";
import { type GridColumn, timeValue } from "../../components/data-grid/types";
import { Quota } from "../../components/quota";
import { tokenStatus } from "../../components/status";
import { StatusBadge } from "../../components/status-badge";
import { TimeAgo } from "../../components/time-ago";
import { formatTime } from "../../lib/format";
import { useUser } from "../../lib/session";
import { Badge, type Hue } from "../../ui/badge";
import { Progress } from "../../ui/progress";
import { Tooltip } from "../../ui/tooltip";
import { TokenKey } from "./token-key";
import { modelsOf } from "./token-models";

/** State, group (the user's own when the token names none) and whether models are limited, in one cell. */
export function TokenStatusCell({ token }: { token: TokenView }) {
  const { t } = useLingui();
  const ownGroup = useUser()?.group ?? "";
  const models = modelsOf(token).join("\n");
  const group = token.group || ownGroup;
  return (
    <span className="flex min-w-0 items-center gap-1">
      <StatusBadge table={tokenStatus} value={token.status} />
      {group ? (
        <Badge className="min-w-10" title={token.group ? group : t`跟随用户分组`}>
          {group}
        </Badge>
      ) : null}
      {token.model_limits_enabled ? (
        <Tooltip content={<span className="whitespace-pre-line">{models || t`未选择任何模型`}</span>}>
          <Badge hue="violet" tabIndex={0} className="min-w-10">{t`限制模型`}</Badge>
        </Tooltip>
      ) : null}
    </span>
  );
}

/** Little left is yellow, next to nothing red; the amount is beside it. */
function remainingHue(share: number): Hue {
  return share > 30 ? "green" : share > 10 ? "yellow" : "red";
}

/** What a token may still spend: the amount over its share of all it ever had. */
export function Remaining({ token }: { token: TokenView }) {
  const { t } = useLingui();
  if (token.unlimited_quota) return <span className="text-ink-2">{t`无限额度`}</span>;
  const all = token.remain_quota + token.used_quota;
  const share = all > 0 ? Math.round((Math.max(0, token.remain_quota) / all) * 100) : 0;
  return (
    <span className="grid gap-1">
      <Quota value={token.remain_quota} />
      <Progress value={share} hue={remainingHue(share)} label={t`剩余 ${share}%`} className="h-1" />
    </span>
  );
}

/** When a token ends, in the user's time zone, to the minute; in full on hover. */
export function Expiry({ value }: { value: number }) {
  const { t } = useLingui();
  if (value === NEVER) return <span className="text-muted">{t`永不过期`}</span>;
  const full = formatTime(value);
  return (
    <Tooltip content={full}>
      <time dateTime={new Date(value * 1000).toISOString()} className="whitespace-nowrap">
        {full.slice(0, -":00".length)}
      </time>
    </Tooltip>
  );
}

/** The columns of the list. */
export function useTokenColumns(): readonly GridColumn<TokenView>[] {
  const { t } = useLingui();
  return useMemo(
    () => [
      {
        id: "name",
        header: t`名称`,
        width: 120,
        grow: true,
        fixed: true,
        card: "title",
        exported: ({ id, name }) => ({ id, name }),
        cell: (row) => (
          <span className="truncate font-medium" title={row.name}>
            {row.name}
          </span>
        ),
      },
      {
        id: "status",
        header: t`状态与分组`,
        width: 240,
        card: "status",
        exported: ({ status, group, model_limits_enabled, model_limits }) => ({
          status,
          group,
          model_limits: model_limits_enabled ? model_limits : "",
        }),
        cell: (row) => <TokenStatusCell token={row} />,
      },
      {
        id: "key",
        header: t`密钥`,
        width: 172,
        exported: ({ key_hint }) => ({ key_hint }),
        cell: (row) => <TokenKey token={row} />,
      },
      {
        id: "used",
        header: t`已用额度`,
        width: 72,
        align: "end",
        card: "fact",
        exported: ({ used_quota }) => ({ used_quota }),
        cell: (row) => <Quota value={row.used_quota} />,
      },
      {
        id: "remaining",
        header: t`剩余额度`,
        width: 92,
        align: "end",
        card: "fact",
        exported: ({ unlimited_quota, remain_quota }) => ({ unlimited_quota, remain_quota }),
        cell: (row) => <Remaining token={row} />,
      },
      {
        id: "created",
        header: t`创建时间`,
        width: 92,
        exported: (row) => ({ created_time: timeValue(row.created_time) }),
        cell: (row) => <TimeAgo value={row.created_time} />,
      },
      {
        id: "accessed",
        header: t`最后使用`,
        width: 92,
        card: "fact",
        exported: (row) => ({ accessed_time: timeValue(row.accessed_time) }),
        cell: (row) => <TimeAgo value={row.accessed_time} />,
      },
      {
        id: "expiry",
        header: t`过期时间`,
        width: 150,
        card: "fact",
        exported: (row) => ({ expired_time: timeValue(row.expired_time) }),
        cell: (row) => <Expiry value={row.expired_time} />,
      },
    ],
    [t],
  );
}
