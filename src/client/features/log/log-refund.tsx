import { useLingui } from "@lingui/react/macro";
import { Undo2 } from "lucide-react";
import { useId, useState } from "react";
import type { LogView } from "../../../shared/log-list";
import { readParams } from "../../../shared/log-text";
import { REFUND_REASON_MAX, REFUND_UNDO_SECONDS, type CallRefund } from "../../../shared/refund";
import { Quota } from "../../components/quota";
import { QuotaField } from "../../components/quota-field";
import { TimeAgo } from "../../components/time-ago";
import { useOnce, useOpening } from "../../lib/once";
import { quotaText } from "../../lib/quota-text";
import { useUser } from "../../lib/session";
import { toastSuccess, toastUndo } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";
import { Label } from "../../ui/label";

/** The reason that the operator gave. */
const noteOf = ({ params }: LogView): string => {
  const { note } = readParams(params);
  return typeof note === "string" ? note : "";
};

/** What was given back of a charge, and the way to give back more; not for the operator's own calls. */
export function LogRefund({ row }: { row: LogView }) {
  const { t } = useLingui();
  const user = useUser();
  const [open, setOpen] = useState(false);
  const query = trpc.log.refunds.useQuery({ request_id: row.request_id }, { meta: { quiet: true } });
  const refunds = query.data;
  if (!refunds) return null;
  const own = row.user_id === user?.id;
  if (own && refunds.items.length === 0) return null;
  return (
    <section className="mt-3 grid gap-2" aria-label={t`退款`} data-testid="bill-refunds">
      {refunds.items.length > 0 ? (
        <ul className="grid gap-1">
          {refunds.items.map((item) => (
            <li key={item.id} className="flex flex-wrap items-baseline justify-between gap-x-3">
              <span className="min-w-0 break-words">
                {[item.quota < 0 ? t`撤销退款` : t`退还额度`, noteOf(item)].filter(Boolean).join(" · ")}
              </span>
              <span className="flex gap-3 whitespace-nowrap text-xs text-muted">
                <TimeAgo value={item.created_at} />
                <Quota value={item.quota} decimals={6} />
              </span>
            </li>
          ))}
        </ul>
      ) : null}
      {own || refunds.left <= 0 ? null : (
        <Button data-print="hide" size="sm" className="justify-self-start" onClick={() => setOpen(true)}>
          <Undo2 aria-hidden />
          {t`退款`}
        </Button>
      )}
      {open ? <RefundDialog row={row} left={refunds.left} onClose={() => setOpen(false)} /> : null}
    </section>
  );
}

/** Asks how much is given back, all that is left unless another amount is entered, and why. */
function RefundDialog({ row, left, onClose }: { row: LogView; left: number; onClose: () => void }) {
  const { t } = useLingui();
  const [amountId, reasonId, formId, hintId] = [useId(), useId(), useId(), useId()];
  const [amount, setAmount] = useState<number | null>(left);
  const [reason, setReason] = useState("");
  const utils = trpc.useUtils();
  const opening = useOpening();
  const refunding = trpc.log.refund.useMutation({ trpc: opening });
  const undoing = trpc.log.undoRefund.useMutation();
  const refresh = () => void utils.log.invalidate();
  const invalid = amount === null || amount < 1 || amount > left;
  const most = quotaText(left, 6);

  const undo = async ({ refund_id }: CallRefund): Promise<void> => {
    try {
      await undoing.mutateAsync({ request_id: refund_id });
      toastSuccess(t`退款已撤销`);
    } catch {
      // The query client shows the error.
    }
    refresh();
  };
  const submit = useOnce(async () => {
    if (invalid) return;
    try {
      const done = await refunding.mutateAsync({
        request_id: row.request_id,
        // All of it, also where a part was given back meanwhile.
        ...(amount !== left && { quota: amount }),
        reason,
      });
      const units = quotaText(done.quota, 6);
      toastUndo(t`已退还 ${units}`, () => void undo(done), REFUND_UNDO_SECONDS * 1000);
      onClose();
    } catch {
      // The query client shows the error; the form keeps what was typed.
    }
    refresh();
  });

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`退款`}
      description={t`额度退回用户和令牌，并记入日志。`}
      footer={
        <>
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button type="submit" form={formId} variant="primary" disabled={invalid} loading={refunding.isPending}>
            {amount === left ? t`全额退款` : t`退款`}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        noValidate
        className="mt-3 grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div className="grid gap-1">
          <Label htmlFor={amountId}>{t`金额`}</Label>
          <QuotaField
            id={amountId}
            value={amount}
            onValueChange={setAmount}
            aria-describedby={hintId}
            aria-invalid={invalid}
          />
          <p id={hintId} className={invalid ? "text-xs text-red-fg" : "text-xs text-muted"}>{t`最多 ${most}`}</p>
        </div>
        <div className="grid gap-1">
          <Label htmlFor={reasonId}>{t`原因`}</Label>
          <Input
            id={reasonId}
            value={reason}
            maxLength={REFUND_REASON_MAX}
            placeholder={t`用户可以看到`}
            autoComplete="off"
            onChange={(event) => setReason(event.target.value)}
          />
        </div>
      </form>
    </Dialog>
  );
}
