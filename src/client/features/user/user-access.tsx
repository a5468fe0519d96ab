import { useLingui } from "@lingui/react/macro";
import type { ManagedUser } from "../../../shared/user-manage";
import { confirm } from "../../components/confirm";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";

/** How an account is signed in to besides its password: what is bound elsewhere, and second factors. */
export function UserAccess({ user, refusal }: { user: ManagedUser; refusal: string | undefined }) {
  return (
    <div className="grid gap-6">
      <Bindings user={user} />
      <SecondFactors user={user} refusal={refusal} />
    </div>
  );
}

/** Read only: only the account's owner binds and unbinds. */
function Bindings({ user }: { user: ManagedUser }) {
  const { t } = useLingui();
  const bound: [string, string][] = [
    [t`邮箱`, user.email],
    ["GitHub", user.github_id],
    [t`微信`, user.wechat_id],
    ["Telegram", user.telegram_id],
    ["LinuxDO", user.linux_do_id],
    ["OIDC", user.oidc_id],
  ];
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2">
      {bound.map(([name, value]) => (
        <div key={name} className="col-span-2 grid grid-cols-subgrid">
          <dt className="text-ink-2">{name}</dt>
          <dd className="wrap-anywhere">{value || <span className="text-muted">{t`未绑定`}</span>}</dd>
        </div>
      ))}
    </dl>
  );
}

/** For a user who has lost their phone. The server asks the administrator for a step-up, and logs the removal. */
function SecondFactors({ user: { id, username }, refusal }: { user: ManagedUser; refusal: string | undefined }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const factors = trpc.user.factors.useQuery({ id });
  const removing = trpc.user.removeFactors.useMutation();
  if (!factors.data) return null;
  const { totp, passkeys } = factors.data;
  const none = !totp && passkeys === 0;

  const remove = async () => {
    const agreed = await confirm({
      title: t`移除用户 ${username} 的两步验证？`,
      description: t`一次性验证码、恢复代码和通行密钥都会失效，此后只凭密码即可登录。请先确认是本人提出的请求。`,
      action: t`移除`,
      danger: true,
    });
    if (!agreed) return;
    try {
      await removing.mutateAsync({ id });
      toastSuccess(t`操作成功完成！`);
    } catch {
      // The query client shows the error.
    } finally {
      void utils.user.factors.invalidate({ id });
    }
  };

  return (
    <section aria-label={t`两步验证`} className="grid justify-items-start gap-2 border-t border-line pt-4">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2">
        <dt className="text-ink-2">{t`两步验证`}</dt>
        <dd>{totp ? t`已开启` : <span className="text-muted">{t`未开启`}</span>}</dd>
        <dt className="text-ink-2">{t`通行密钥`}</dt>
        <dd className="tabular-nums">{passkeys}</dd>
      </dl>
      {none ? null : (
        <Button
          variant="danger"
          disabled={refusal !== undefined}
          loading={removing.isPending}
          onClick={() => void remove()}
        >
          {t`移除两步验证`}
        </Button>
      )}
    </section>
  );
}
