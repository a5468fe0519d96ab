import { useLingui } from "@lingui/react/macro";
import { useId, useState, type FormEvent } from "react";
import { FieldFrame } from "../../components/form-field";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";

export interface WechatDialogProps {
  title: string;
  /** The word on the button. */
  action: string;
  /** Address of the QR code's picture; "" = none. */
  picture: string;
  pending: boolean;
  onCode: (code: string) => void;
  onClose: () => void;
}

/** Scan, ask the account for a code, type it. */
export function WechatDialog({ title, action, picture, pending, onCode, onClose }: WechatDialogProps) {
  const { t } = useLingui();
  const id = useId();
  const [code, setCode] = useState("");
  const [problem, setProblem] = useState<string>();

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (pending) return;
    setProblem(code.trim() === "" ? t`请输入验证码！` : undefined);
    if (code.trim() !== "") onCode(code.trim());
  };

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={title}
      description={t`微信扫码关注公众号，输入「验证码」获取验证码（三分钟内有效）`}
      footer={
        <>
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button type="submit" form={`${id}-form`} variant="primary" loading={pending}>
            {action}
          </Button>
        </>
      }
    >
      <form id={`${id}-form`} noValidate className="mt-3 grid gap-4" onSubmit={submit}>
        {picture ? (
          <img
            src={picture}
            alt={t`公众号二维码`}
            className="mx-auto size-48 rounded-md border border-line object-contain"
          />
        ) : null}
        <FieldFrame id={id} label={t`验证码`} error={problem}>
          <Input
            id={id}
            value={code}
            autoFocus
            autoComplete="one-time-code"
            inputMode="numeric"
            maxLength={200}
            aria-invalid={problem ? true : undefined}
            aria-describedby={problem ? `${id}-error` : undefined}
            onChange={(event) => setCode(event.target.value)}
          />
        </FieldFrame>
      </form>
    </Dialog>
  );
}
