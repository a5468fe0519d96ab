import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { ManagedUser } from "../../../shared/user-manage";
import { type GridColumn, timeValue } from "../../components/data-grid/types";
import { Count, Quota } from "../../components/quota";
import { deletedUser, roleLooks, userStatus } from "../../components/status";
import { LookBadge, StatusBadge } from "../../components/status-badge";
import { TimeAgo } from "../../components/time-ago";
import { Badge } from "../../ui/badge";

/** A deleted account says so, whatever its status was. */
export function UserState({ user }: { user: ManagedUser }) {
  return user.DeletedAt !== null ? (
    <LookBadge look={deletedUser} />
  ) : (
    <StatusBadge table={userStatus} value={user.status} />
  );
}

function Name({ user }: { user: ManagedUser }) {
  const { username, display_name } = user;
  return (
    <span className="flex min-w-0 items-baseline gap-2" title={user.email || undefined}>
      <span className="shrink-0 font-medium">{username}</span>
      {display_name && display_name !== username ? <span className="truncate text-muted">{display_name}</span> : null}
    </span>
  );
}

function Invites({ user }: { user: ManagedUser }) {
  const { t } = useLingui();
  const inviter = user.inviter_id === 0 ? t`无` : String(user.inviter_id);
  return (
    <span className="flex items-center gap-1">
      <Badge title={t`邀请人数`}>
        <Count value={user.aff_count} />
      </Badge>
      <Badge title={t`邀请收益`}>
        <Quota value={user.aff_history_quota} />
      </Badge>
      <Badge title={t`邀请人 ID`}>{t`邀请人：${inviter}`}</Badge>
    </span>
  );
}

/** The columns of the list. */
export function useUserColumns(): readonly GridColumn<ManagedUser>[] {
  const { t } = useLingui();
  return useMemo(
    () => [
      {
        id: "id",
        header: "ID",
        width: 56,
        fixed: true,
        sortable: true,
        exported: ({ id }) => ({ id }),
        cell: (row) => <span className="tabular-nums">{row.id}</span>,
      },
      {
        id: "username",
        header: t`用户名`,
        width: 140,
        grow: true,
        sortable: true,
        card: "title",
        exported: ({ username, display_name, email }) => ({ username, display_name, email }),
        cell: (row) => <Name user={row} />,
      },
      {
        id: "group",
        header: t`分组`,
        width: 80,
        exported: ({ group }) => ({ group }),
        cell: (row) => <Badge>{row.group}</Badge>,
      },
      {
        id: "quota",
        header: t`剩余额度`,
        width: 88,
        align: "end",
        sortable: true,
        card: "fact",
        exported: ({ quota }) => ({ quota }),
        cell: (row) => <Quota value={row.quota} />,
      },
      {
        id: "used_quota",
        header: t`已用额度`,
        width: 88,
        align: "end",
        sortable: true,
        card: "fact",
        exported: ({ used_quota }) => ({ used_quota }),
        cell: (row) => <Quota value={row.used_quota} />,
      },
      {
        id: "request_count",
        header: t`调用次数`,
        width: 88,
        align: "end",
        sortable: true,
        exported: ({ request_count }) => ({ request_count }),
        cell: (row) => <Count value={row.request_count} />,
      },
      {
        id: "invites",
        header: t`邀请信息`,
        width: 204,
        exported: ({ aff_count, aff_history_quota, inviter_id }) => ({ aff_count, aff_history_quota, inviter_id }),
        cell: (row) => <Invites user={row} />,
      },
      {
        id: "role",
        header: t`角色`,
        width: 168,
        sortable: true,
        card: "fact",
        exported: ({ role }) => ({ role }),
        cell: (row) => <StatusBadge table={roleLooks} value={row.role} />,
      },
      {
        id: "status",
        header: t`状态`,
        width: 96,
        sortable: true,
        card: "status",
        exported: ({ status, DeletedAt }) => ({ status, deleted: DeletedAt !== null }),
        cell: (row) => <UserState user={row} />,
      },
      {
        id: "last_login_at",
        header: t`最后登录`,
        width: 104,
        sortable: true,
        exported: (row) => ({ last_login_at: timeValue(row.last_login_at) }),
        cell: (row) => <TimeAgo value={row.last_login_at} />,
      },
      {
        id: "created_at",
        header: t`创建时间`,
        width: 92,
        sortable: true,
        hidden: true,
        exported: (row) => ({ created_at: timeValue(row.created_at) }),
        cell: (row) => <TimeAgo value={row.created_at} />,
      },
    ],
    [t],
  );
}
