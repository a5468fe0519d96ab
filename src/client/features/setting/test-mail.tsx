import { useLingui } from "@lingui/react/macro";
import { useState, type FormEvent } from "react";
import { FieldFrame } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Input } from "../../ui/input";

/** Tries the saved SMTP settings with a real mail; what the server answered is shown in full. */
export default function TestMail() {
  const { t } = useLingui();
  const [to, setTo] = useState("");
  const self = trpc.user.self.useQuery(undefined, { meta: { quiet: true } });
  const sending = trpc.option.testMail.useMutation({
    meta: { quiet: true },
    onSuccess: (address) => toastSuccess(t`测试邮件已发送到 ${address}`),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!sending.isPending) sending.mutate({ to: to.trim() });
  };
  return (
    <form noValidate onSubmit={submit} className="flex flex-wrap items-start gap-2">
      <FieldFrame
        id="test-mail"
        label={t`测试收件地址`}
        hint={t`使用已保存的设置发送。`}
        error={sending.error ? faultOf(sending.error).message : undefined}
        className="min-w-0 flex-1 basis-60"
      >
        <Input
          id="test-mail"
          type="email"
          autoComplete="email"
          value={to}
          placeholder={self.data?.email}
          aria-invalid={sending.error ? true : undefined}
          aria-describedby={sending.error ? "test-mail-hint test-mail-error" : "test-mail-hint"}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
      </FieldFrame>
      <Button type="submit" loading={sending.isPending} className="mt-6">{t`发送测试邮件`}</Button>
    </form>
  );
}
