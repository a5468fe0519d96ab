import { useLingui } from "@lingui/react/macro";
import { Link, useSearch } from "wouter";
import { errorText } from "../../../shared/errors";
import { FieldFrame } from "../../components/form-field";
import { copyText } from "../../lib/clipboard";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { clearUser } from "../../lib/session";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy-button";
import { Input } from "../../ui/input";
import { AuthCard } from "./auth-card";
import { Problem } from "./problem";

/**
 * `/user/reset?email=&token=`, where the mail leads. Nothing happens before the button is pressed: mail scanners open
 * links (D-11).
 */
export default function ResetConfirmPage() {
  const { t } = useLingui();
  const search = new URLSearchParams(useSearch());
  const email = search.get("email") ?? "";
  const token = search.get("token") ?? "";
  const reset = trpc.auth.resetPassword.useMutation({
    meta: { quiet: true },
    onSuccess: async (password) => {
      // The reset ended every session, the one in this browser too.
      clearUser();
      if (await copyText(password)) toastSuccess(t`密码已重置并已复制到剪贴板`);
    },
  });
  const invalid = email === "" || token === "" ? errorText("reset_link_invalid", {}, currentLanguage()) : undefined;
  const password = reset.data;

  return (
    <AuthCard title={t`密码重置确认`}>
      {invalid ? (
        <Problem>{invalid}</Problem>
      ) : (
        <div className="grid gap-4">
          <FieldFrame id="confirm-email" label={t`邮箱`}>
            <Input id="confirm-email" readOnly value={email} />
          </FieldFrame>
          {password === undefined ? null : (
            <FieldFrame id="confirm-password" label={t`新密码`} hint={t`请妥善保存，并在登录后修改。`}>
              <div className="flex items-center gap-2">
                <Input
                  id="confirm-password"
                  readOnly
                  value={password}
                  onFocus={(event) => event.currentTarget.select()}
                  className="min-w-0 flex-1 font-mono"
                />
                <CopyButton text={password} label={t`复制新密码`} />
              </div>
            </FieldFrame>
          )}
          <Problem>{reset.error ? faultOf(reset.error).message : undefined}</Problem>
          {password === undefined ? (
            <Button
              variant="primary"
              size="lg"
              loading={reset.isPending}
              onClick={() => reset.mutate({ email, token })}
            >{t`重置密码`}</Button>
          ) : (
            <Button asChild variant="primary" size="lg">
              <Link href="/login">{t`去登录`}</Link>
            </Button>
          )}
        </div>
      )}
      {password === undefined ? (
        <Link href="/reset" className="text-accent-text hover:underline">{t`重新申请重置邮件`}</Link>
      ) : null}
    </AuthCard>
  );
}
