import { useLingui } from "@lingui/react/macro";
import { useState, type FormEvent } from "react";
import { Link } from "wouter";
import { errorText } from "../../../shared/errors";
import { isMailbox } from "../../../shared/mailbox";
import { MAIL_PAUSE_SECONDS } from "../../../shared/user";
import { FieldFrame } from "../../components/form-field";
import { useCountdown } from "../../lib/countdown";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Input } from "../../ui/input";
import { AuthCard } from "./auth-card";
import { Problem } from "./problem";
import { useBotCheck } from "./use-bot-check";

/** `/reset`: requests a mail with a link that resets the password. The response reveals no account. */
export default function ResetPage() {
  const { t } = useLingui();
  const [email, setEmail] = useState("");
  const [problem, setProblem] = useState<string>();
  const { seconds, start, clear } = useCountdown("reset-countdown");
  const { widget, pass, renew } = useBotCheck();
  const asking = trpc.auth.sendReset.useMutation({
    meta: { quiet: true },
    onSuccess: () => toastSuccess(t`如果该邮箱已注册，重置邮件将很快送达，请检查邮箱！`),
    onError: (error) => {
      clear();
      setProblem(faultOf(error).message);
    },
    onSettled: renew,
  });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (asking.isPending || seconds > 0) return;
    const address = email.trim();
    if (!isMailbox(address)) return setProblem(errorText("mail_address_invalid", {}, currentLanguage()));
    const passed = pass();
    if (!passed) return;
    setProblem(undefined);
    start(MAIL_PAUSE_SECONDS);
    asking.mutate({ email: address, ...passed });
  };

  return (
    <AuthCard title={t`重置密码`}>
      <form onSubmit={submit} noValidate className="grid gap-4">
        <FieldFrame id="reset-email" label={t`邮箱`} hint={t`我们会发送一封带有重置链接的邮件，链接 30 分钟内有效。`}>
          <Input
            id="reset-email"
            type="email"
            name="email"
            autoComplete="email"
            autoFocus
            value={email}
            onChange={(event) => {
              setEmail(event.currentTarget.value);
              setProblem(undefined);
            }}
          />
        </FieldFrame>
        {widget}
        <Problem>{problem}</Problem>
        <Button
          type="submit"
          variant="primary"
          size="lg"
          disabled={seconds > 0}
          loading={asking.isPending && seconds === 0}
          className="tabular-nums"
        >
          {seconds > 0 ? t`${seconds} 秒后重试` : t`发送重置邮件`}
        </Button>
      </form>
      <Link href="/login" className="text-accent-text hover:underline">{t`返回登录`}</Link>
    </AuthCard>
  );
}
