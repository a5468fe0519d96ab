import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import { errorText } from "../../../shared/errors";
import { INVITE_LIMITS } from "../../../shared/invite";
import { FieldFrame } from "../../components/form-field";
import { QuotaField } from "../../components/quota-field";
import { currentLanguage } from "../../lib/i18n";
import { quotaText } from "../../lib/quota-text";
import { useOpening } from "../../lib/once";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Textarea } from "../../ui/input";
import { amountComplaint } from "./amount-complaint";
import { FormDialog } from "./form-dialog";

/** Asks for a payment of invitation earnings; they are taken at once and an administrator settles. */
export function WithdrawDialog({ available, onClose }: { available: number; onClose: () => void }) {
  const { t } = useLingui();
  const id = useId();
  const utils = trpc.useUtils();
  const opening = useOpening();
  const withdraw = trpc.invite.withdraw.useMutation({ trpc: opening });
  const [amount, setAmount] = useState<number | null>(available);
  const [account, setAccount] = useState("");
  const [complaints, setComplaints] = useState<{ amount?: string; account?: string }>({});
  const most = quotaText(available);
  const accountId = `${id}-account`;

  const submit = async () => {
    if (withdraw.isPending) return;
    const problem = amountComplaint("withdrawal", amount, available);
    const missing = account.trim() === "" ? errorText("withdrawal_account_missing", {}, currentLanguage()) : undefined;
    setComplaints({ amount: problem, account: missing });
    if (problem !== undefined || missing !== undefined || amount === null) return;
    try {
      await withdraw.mutateAsync({ amount, account });
      toastSuccess(t`提现申请已提交`);
      onClose();
    } catch {
      // The query client shows the error.
    } finally {
      void utils.user.self.invalidate();
      void utils.invite.withdrawals.invalidate();
      void utils.invite.allWithdrawals.invalidate();
    }
  };

  return (
    <FormDialog
      title={t`申请提现`}
      description={t`额度会立即从邀请收益中扣除，由管理员线下付款；被拒绝时退回。可用：${most}`}
      action={t`提交`}
      pending={withdraw.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <FieldFrame id={id} label={t`提现额度`} error={complaints.amount}>
        <QuotaField
          id={id}
          value={amount}
          onValueChange={setAmount}
          aria-invalid={complaints.amount ? true : undefined}
          aria-describedby={complaints.amount ? `${id}-error` : undefined}
        />
      </FieldFrame>
      <FieldFrame
        id={accountId}
        label={t`收款账户`}
        hint={t`例如支付宝账号或银行卡号与户名，管理员据此付款`}
        error={complaints.account}
      >
        <Textarea
          id={accountId}
          rows={2}
          value={account}
          maxLength={INVITE_LIMITS.account}
          onChange={(event) => setAccount(event.target.value)}
          aria-invalid={complaints.account ? true : undefined}
          aria-describedby={complaints.account ? `${accountId}-hint ${accountId}-error` : `${accountId}-hint`}
        />
      </FieldFrame>
    </FormDialog>
  );
}
