import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import { TOKEN_LIMITS } from "../../../shared/token";
import { QuotaField } from "../../components/quota-field";
import { useOnce, useOpening } from "../../lib/once";
import { quotaText } from "../../lib/quota-text";
import { quotaPerUnit } from "../../lib/status";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Label } from "../../ui/label";

export interface RaiseDialogProps {
  /** Of the token. */
  id: number;
  name: string;
  /** Of its owner. */
  username: string;
  onClose: () => void;
}

/** Asks how much more a token may spend. */
export default function RaiseDialog({ id, name, username, onClose }: RaiseDialogProps) {
  const { t } = useLingui();
  const [amountId, formId] = [useId(), useId()];
  const [amount, setAmount] = useState<number | null>(quotaPerUnit());
  const opening = useOpening();
  const raising = trpc.token.raise.useMutation({ trpc: opening });
  const invalid = amount === null || amount < 1 || amount > TOKEN_LIMITS.quota;
  const submit = useOnce(async () => {
    if (invalid) return;
    try {
      const { remain_quota } = await raising.mutateAsync({ id, quota: amount });
      const left = quotaText(remain_quota);
      toastSuccess(t`令牌 ${name} 现在剩余 ${left}`);
      onClose();
    } catch {
      // The query client shows the error; the form keeps what was typed.
    }
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`增加令牌额度`}
      description={t`${username} 的令牌 ${name} 可以再花这些；用户的余额不变。`}
      footer={
        <>
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button type="submit" form={formId} variant="primary" disabled={invalid} loading={raising.isPending}>
            {t`增加`}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        noValidate
        className="mt-3 grid gap-1"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Label htmlFor={amountId}>{t`增加的额度`}</Label>
        <QuotaField id={amountId} value={amount} onValueChange={setAmount} aria-invalid={invalid} />
      </form>
    </Dialog>
  );
}
