import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import { FieldFrame } from "../../components/form-field";
import { QuotaField } from "../../components/quota-field";
import { quotaText } from "../../lib/quota-text";
import { useOpening } from "../../lib/once";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { amountComplaint } from "./amount-complaint";
import { FormDialog } from "./form-dialog";

/** Moves invitation earnings to the balance; at least a dollar, at most what there is. */
export function TransferDialog({ available, onClose }: { available: number; onClose: () => void }) {
  const { t } = useLingui();
  const id = useId();
  const utils = trpc.useUtils();
  const opening = useOpening();
  const transfer = trpc.invite.transfer.useMutation({ trpc: opening });
  const [amount, setAmount] = useState<number | null>(available);
  const [complaint, setComplaint] = useState<string>();
  const most = quotaText(available);

  const submit = async () => {
    if (transfer.isPending) return;
    const problem = amountComplaint("transfer", amount, available);
    setComplaint(problem);
    if (problem !== undefined || amount === null) return;
    try {
      const { message } = await transfer.mutateAsync({ quota: amount });
      toastSuccess(message);
      onClose();
    } catch {
      // The query client shows the error.
    } finally {
      void utils.user.self.invalidate();
    }
  };

  return (
    <FormDialog
      title={t`划转邀请收益`}
      description={t`划转后成为账户余额，不能再提现。可用：${most}`}
      action={t`划转`}
      pending={transfer.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <FieldFrame id={id} label={t`划转额度`} error={complaint}>
        <QuotaField
          id={id}
          value={amount}
          onValueChange={setAmount}
          aria-invalid={complaint ? true : undefined}
          aria-describedby={complaint ? `${id}-error` : undefined}
        />
      </FieldFrame>
    </FormDialog>
  );
}
