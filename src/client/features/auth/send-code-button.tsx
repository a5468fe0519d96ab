import { useLingui } from "@lingui/react/macro";
import { MAIL_PAUSE_SECONDS } from "../../../shared/user";
import { isMailbox } from "../../../shared/mailbox";
import { useCountdown } from "../../lib/countdown";
import { faultOf } from "../../lib/errors";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";

/**
 * Mails a verification code to `email` and counts down until it may be pressed again: from the moment the call is sent,
 * and not at all when it failed (D-40). `pass`: the token of the bot check, null when it is not ready; `onProblem` gets
 * the message.
 */
export function SendCodeButton({
  email,
  pass,
  renew,
  onProblem,
}: {
  email: string;
  pass: () => { turnstile?: string } | null;
  renew: () => void;
  onProblem: (problem: string | undefined) => void;
}) {
  const { t } = useLingui();
  const { seconds, start, clear } = useCountdown("code-countdown");
  const sending = trpc.auth.sendVerification.useMutation({
    meta: { quiet: true },
    onSuccess: () => toastSuccess(t`验证码发送成功，请检查邮箱！`),
    onError: (error) => {
      clear();
      onProblem(faultOf(error).message);
    },
    onSettled: renew,
  });
  const send = () => {
    const address = email.trim();
    if (!isMailbox(address)) return onProblem(t`请输入有效的邮箱地址`);
    const passed = pass();
    if (!passed) return;
    onProblem(undefined);
    start(MAIL_PAUSE_SECONDS);
    sending.mutate({ email: address, ...passed });
  };
  return (
    <Button disabled={seconds > 0} loading={sending.isPending && seconds === 0} onClick={send} className="tabular-nums">
      {seconds > 0 ? t`${seconds} 秒后重试` : t`获取验证码`}
    </Button>
  );
}
