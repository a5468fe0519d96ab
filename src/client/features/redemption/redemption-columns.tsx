import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import { Link } from "wouter";
import { isRedemptionExpired, REDEMPTION_STATUS, type RedemptionView } from "../../../shared/redemption";
import { type GridColumn, timeValue } from "../../components/data-grid/types";
import { Quota } from "../../components/quota";
import { expiredRedemption, redemptionStatus } from "../../components/status";
import { LookBadge, StatusBadge } from "../../components/status-badge";
import { TimeAgo, useNow } from "../../components/time-ago";
import { formatTime } from "../../lib/format";

/** 1 to 3, and an unused code past its time as expired. */
export function RedemptionStatus({ row }: { row: RedemptionView }) {
  const now = useNow();
  const late = row.status === REDEMPTION_STATUS.unused && isRedemptionExpired(row, now);
  return late ? <LookBadge look={expiredRedemption} /> : <StatusBadge table={redemptionStatus} value={row.status} />;
}

/** Who used the code; leads to that user. */
export function Redeemer({ id }: { id: number }) {
  const { t } = useLingui();
  if (id === 0) return <span className="text-muted">{t`无`}</span>;
  return (
    <Link href={`/user?open=${id}`} className="text-accent-text tabular-nums hover:underline">
      {id}
    </Link>
  );
}

export function Never() {
  const { t } = useLingui();
  return <span className="text-muted">{t`永不过期`}</span>;
}

export function useRedemptionColumns(): readonly GridColumn<RedemptionView>[] {
  const { t } = useLingui();
  return useMemo(
    () => [
      {
        id: "name",
        header: t`名称`,
        width: 180,
        grow: true,
        fixed: true,
        card: "title",
        exported: ({ name }) => ({ name }),
        cell: (row) => <span className="truncate">{row.name}</span>,
      },
      {
        id: "id",
        header: "ID",
        width: 72,
        align: "end",
        exported: ({ id }) => ({ id }),
        cell: (row) => <span className="tabular-nums">{row.id}</span>,
      },
      {
        id: "status",
        header: t`状态`,
        width: 110,
        card: "status",
        exported: ({ status }) => ({ status }),
        cell: (row) => <RedemptionStatus row={row} />,
      },
      {
        id: "quota",
        header: t`面额`,
        width: 110,
        align: "end",
        card: "fact",
        exported: ({ quota }) => ({ quota }),
        cell: (row) => <Quota value={row.quota} />,
      },
      {
        id: "created",
        header: t`创建时间`,
        width: 120,
        exported: (row) => ({ created_time: timeValue(row.created_time) }),
        cell: (row) => <TimeAgo value={row.created_time} />,
      },
      {
        id: "expires",
        header: t`过期时间`,
        width: 170,
        card: "fact",
        exported: (row) => ({ expired_time: timeValue(row.expired_time) }),
        cell: (row) =>
          row.expired_time === 0 ? <Never /> : <span className="tabular-nums">{formatTime(row.expired_time)}</span>,
      },
      {
        id: "redeemed",
        header: t`兑换时间`,
        width: 120,
        card: "fact",
        exported: (row) => ({ redeemed_time: timeValue(row.redeemed_time) }),
        cell: (row) => <TimeAgo value={row.redeemed_time} />,
      },
      {
        id: "redeemer",
        header: t`兑换人 ID`,
        width: 100,
        align: "end",
        exported: ({ used_user_id }) => ({ used_user_id: used_user_id || null }),
        cell: (row) => <Redeemer id={row.used_user_id} />,
      },
    ],
    [t],
  );
}
