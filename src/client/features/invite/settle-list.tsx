import { keepPreviousData } from "@tanstack/react-query";
import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import {
  INVITE_LIMITS,
  WITHDRAWAL_STATES,
  type WithdrawalState,
  type WithdrawalToSettle,
} from "../../../shared/invite";
import { FieldFrame } from "../../components/form-field";
import { Quota } from "../../components/quota";
import { withdrawalStatus } from "../../components/status";
import { LookBadge } from "../../components/status-badge";
import { TimeAgo } from "../../components/time-ago";
import { quotaText } from "../../lib/quota-text";
import { useOpening } from "../../lib/once";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";
import { Select } from "../../ui/select";
import { PagedTable, ROWS } from "../../components/paged-table";

const ALL = "all";
type Verdict = "paid" | "refused";

/** All users' withdrawals, for administrators; by default those to settle (C-017, C-018). */
export function SettleList() {
  const { t, i18n } = useLingui();
  const [page, setPage] = useState(1);
  const [state, setState] = useState<WithdrawalState | typeof ALL>("pending");
  const [asked, setAsked] = useState<{ row: WithdrawalToSettle; verdict: Verdict } | null>(null);
  const query = trpc.invite.allWithdrawals.useQuery(
    { page, page_size: ROWS, status: state === ALL ? undefined : state },
    { placeholderData: keepPreviousData, meta: { quiet: true } },
  );
  const options = [
    ...WITHDRAWAL_STATES.map((value) => ({ value, label: i18n._(withdrawalStatus[value].text) })),
    { value: ALL, label: t`全部` },
  ];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <Select
        aria-label={t`提现状态`}
        value={state}
        options={options}
        onValueChange={(value) => {
          setState(WITHDRAWAL_STATES.find((known) => known === value) ?? ALL);
          setPage(1);
        }}
        className="w-40"
      />
      <PagedTable
        label={t`所有用户的提现`}
        query={query}
        page={page}
        onPage={setPage}
        empty={state === "pending" ? t`没有待处理的提现` : t`没有这样的提现`}
        columns={[
          { id: "time", header: t`申请时间`, cell: (row) => <TimeAgo value={row.created_at} /> },
          {
            id: "user",
            header: t`用户`,
            cell: (row) => <span className="wrap-anywhere">{row.username || row.user_id}</span>,
          },
          { id: "amount", header: t`金额`, end: true, cell: (row) => <Quota value={row.amount} /> },
          {
            id: "account",
            header: t`收款账户`,
            cell: (row) => <span className="whitespace-pre-line wrap-anywhere">{row.account}</span>,
          },
          { id: "status", header: t`状态`, cell: (row) => <LookBadge look={withdrawalStatus[row.status]} /> },
          { id: "note", header: t`备注`, cell: (row) => <span className="wrap-anywhere">{row.note}</span> },
          {
            id: "actions",
            header: t`操作`,
            end: true,
            cell: (row) =>
              row.status === "pending" ? (
                <span className="flex justify-end gap-2">
                  <Button size="sm" onClick={() => setAsked({ row, verdict: "refused" })}>{t`拒绝`}</Button>
                  <Button
                    size="sm"
                    variant="primary"
                    onClick={() => setAsked({ row, verdict: "paid" })}
                  >{t`已付款`}</Button>
                </span>
              ) : null,
          },
        ]}
      />
      {asked ? <SettleDialog {...asked} onClose={() => setAsked(null)} /> : null}
    </div>
  );
}

/** Asks once more and takes a note that the user reads. */
function SettleDialog({ row, verdict, onClose }: { row: WithdrawalToSettle; verdict: Verdict; onClose: () => void }) {
  const { t } = useLingui();
  const id = useId();
  const utils = trpc.useUtils();
  const opening = useOpening();
  const settle = trpc.invite.settle.useMutation({ trpc: opening });
  const [note, setNote] = useState("");
  const { username, account } = row;
  const amount = quotaText(row.amount);
  const pay = verdict === "paid";
  const submit = async () => {
    if (settle.isPending) return;
    try {
      await settle.mutateAsync({ id: row.id, status: verdict, note });
      toastSuccess(pay ? t`已标记为付款` : t`已拒绝并退回邀请收益`);
      onClose();
    } catch {
      // The query client shows the error.
    } finally {
      void utils.invite.invalidate();
      void utils.user.self.invalidate();
    }
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={pay ? t`确认已向 ${username} 付款 ${amount}？` : t`拒绝 ${username} 的提现 ${amount}？`}
      description={pay ? t`收款账户：${account}` : t`额度会退回到该用户的邀请收益。`}
      footer={
        <>
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button variant={pay ? "primary" : "danger"} loading={settle.isPending} onClick={() => void submit()}>
            {pay ? t`确认已付款` : t`拒绝并退回`}
          </Button>
        </>
      }
    >
      <FieldFrame id={id} label={t`备注`} hint={t`申请人会看到`} className="mt-3">
        <Input
          id={id}
          value={note}
          maxLength={INVITE_LIMITS.note}
          autoComplete="off"
          aria-describedby={`${id}-hint`}
          onChange={(event) => setNote(event.target.value)}
        />
      </FieldFrame>
    </Dialog>
  );
}
