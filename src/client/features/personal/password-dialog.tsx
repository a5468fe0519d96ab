import { useLingui } from "@lingui/react/macro";
import { useState, type FormEvent } from "react";
import { errorText } from "../../../shared/errors";
import { PASSWORD_MIN } from "../../../shared/user";
import { FieldFrame } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { PasswordInput } from "../auth/password-input";
import { Problem } from "../auth/problem";

/** A new password, twice; a user who signed in long ago is asked for the old one by the step-up. */
export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const [problem, setProblem] = useState<string>();
  const changing = trpc.user.updateSelf.useMutation({
    meta: { quiet: true },
    onSuccess: () => {
      toastSuccess(t`密码修改成功！`);
      void utils.auth.sessions.invalidate();
      onClose();
    },
    onError: (error) => setProblem(faultOf(error).message),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (changing.isPending) return;
    const wrong =
      password.length < PASSWORD_MIN
        ? errorText("password_too_short", {}, currentLanguage())
        : password !== again
          ? t`两次输入的密码不一致！`
          : undefined;
    setProblem(wrong);
    if (wrong === undefined) changing.mutate({ password });
  };
  return (
    <Dialog open onOpenChange={(next) => !next && onClose()} title={t`修改密码`}>
      <form noValidate onSubmit={submit} className="mt-2 grid gap-4">
        <FieldFrame id="new-password" label={t`新密码`} hint={t`8 到 20 位`}>
          <PasswordInput
            id="new-password"
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
        </FieldFrame>
        <FieldFrame id="new-password-again" label={t`确认新密码`}>
          <PasswordInput
            id="new-password-again"
            autoComplete="new-password"
            value={again}
            onChange={(event) => setAgain(event.currentTarget.value)}
          />
        </FieldFrame>
        <Problem>{problem}</Problem>
        <Button
          type="submit"
          variant="primary"
          loading={changing.isPending}
          className="justify-self-end"
        >{t`确定修改`}</Button>
      </form>
    </Dialog>
  );
}
