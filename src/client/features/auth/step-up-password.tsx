import { useLingui } from "@lingui/react/macro";
import { useEffect, useId, useRef, useState, type FormEvent } from "react";
import { FieldFrame } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { useUser } from "../../lib/session";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { PasswordInput } from "./password-input";
import type { StepUpMethodProps } from "./step-up-method";

/** Step-up by the account's password. */
export default function StepUpPassword({ onVerified }: StepUpMethodProps) {
  const { t } = useLingui();
  const id = useId();
  const user = useUser();
  const input = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string>();
  const verify = trpc.auth.verifyPassword.useMutation({
    meta: { quiet: true },
    onSuccess: onVerified,
    onError: (error) => {
      setProblem(faultOf(error).message);
      input.current?.select();
    },
  });
  useEffect(() => input.current?.focus(), []);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const password = input.current?.value ?? "";
    if (verify.isPending) return;
    if (password === "") setProblem(t`请输入密码`);
    else verify.mutate({ password });
  };

  return (
    <form noValidate onSubmit={submit} className="grid gap-4">
      {/* Tells a password manager whose password it is. */}
      <input type="text" name="username" autoComplete="username" readOnly hidden value={user?.username ?? ""} />
      <FieldFrame id={id} label={t`密码`} error={problem}>
        <PasswordInput
          id={id}
          ref={input}
          name="password"
          autoComplete="current-password"
          aria-invalid={problem ? true : undefined}
          aria-describedby={problem ? `${id}-error` : undefined}
          onChange={() => setProblem(undefined)}
        />
      </FieldFrame>
      <Button type="submit" variant="primary" loading={verify.isPending} className="justify-self-end">{t`验证`}</Button>
    </form>
  );
}
