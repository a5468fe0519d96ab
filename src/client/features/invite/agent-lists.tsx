import { keepPreviousData } from "@tanstack/react-query";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { Quota } from "../../components/quota";
import { withdrawalStatus } from "../../components/status";
import { LookBadge } from "../../components/status-badge";
import { TimeAgo } from "../../components/time-ago";
import { trpc } from "../../lib/trpc";
import { PagedTable, ROWS } from "../../components/paged-table";

const OPTIONS = { placeholderData: keepPreviousData, meta: { quiet: true } };

/** The users that the signed-in user invited, and the earnings from each. */
export function InvitedList() {
  const { t } = useLingui();
  const [page, setPage] = useState(1);
  const query = trpc.invite.invited.useQuery({ page, page_size: ROWS }, OPTIONS);
  return (
    <PagedTable
      label={t`被邀请用户`}
      query={query}
      page={page}
      onPage={setPage}
      empty={t`还没有人通过你的链接注册`}
      columns={[
        { id: "user", header: t`用户`, cell: (row) => <span className="wrap-anywhere">{row.username}</span> },
        { id: "time", header: t`注册时间`, cell: (row) => <TimeAgo value={row.created_at} /> },
        { id: "orders", header: t`返利订单`, end: true, cell: (row) => row.orders },
        { id: "amount", header: t`带来的返利`, end: true, cell: (row) => <Quota value={row.amount} /> },
      ]}
    />
  );
}

/** The user's shares of paid orders. */
export function DividendList() {
  const { t } = useLingui();
  const [page, setPage] = useState(1);
  const query = trpc.invite.dividends.useQuery({ page, page_size: ROWS }, OPTIONS);
  return (
    <PagedTable
      label={t`返利记录`}
      query={query}
      page={page}
      onPage={setPage}
      empty={t`还没有返利`}
      columns={[
        { id: "time", header: t`时间`, cell: (row) => <TimeAgo value={row.created_at} /> },
        {
          id: "user",
          header: t`来自用户`,
          cell: (row) => <span className="wrap-anywhere">{row.username || row.invitee_id}</span>,
        },
        { id: "amount", header: t`返利`, end: true, cell: (row) => <Quota value={row.amount} /> },
      ]}
    />
  );
}

/** The user's withdrawals and what became of them. */
export function WithdrawalList() {
  const { t } = useLingui();
  const [page, setPage] = useState(1);
  const query = trpc.invite.withdrawals.useQuery({ page, page_size: ROWS }, OPTIONS);
  return (
    <PagedTable
      label={t`提现记录`}
      query={query}
      page={page}
      onPage={setPage}
      empty={t`还没有提现`}
      columns={[
        { id: "time", header: t`申请时间`, cell: (row) => <TimeAgo value={row.created_at} /> },
        { id: "amount", header: t`金额`, end: true, cell: (row) => <Quota value={row.amount} /> },
        {
          id: "account",
          header: t`收款账户`,
          cell: (row) => <span className="whitespace-pre-line wrap-anywhere">{row.account}</span>,
        },
        { id: "status", header: t`状态`, cell: (row) => <LookBadge look={withdrawalStatus[row.status]} /> },
        { id: "settled", header: t`处理时间`, cell: (row) => <TimeAgo value={row.settled_at} /> },
        { id: "note", header: t`备注`, cell: (row) => <span className="wrap-anywhere">{row.note}</span> },
      ]}
    />
  );
}
