import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import {
  type BoundIdentity,
  IDENTITY_PROVIDERS,
  type IdentityProvider,
  identityProviders,
  isRedirectProvider,
} from "../../../shared/identity";
import { confirm } from "../../components/confirm";
import { useStatus } from "../../lib/status";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { BindingRow } from "../personal/binding-row";
import { isOffered, providerIcons, titleOf } from "./providers";
import { TelegramWidget } from "./telegram-widget";
import { WechatDialog } from "./wechat-dialog";

/** Accounts elsewhere, a row for each provider. */
export default function IdentityBindings() {
  const list = trpc.identity.list.useQuery(undefined, { meta: { quiet: true }, refetchOnWindowFocus: "always" });
  return identityProviders.map((provider) => (
    <Row
      key={provider}
      provider={provider}
      known={list.data !== undefined}
      identity={list.data?.find((one) => one.provider === provider)}
    />
  ));
}

function Row({
  provider,
  known,
  identity,
}: {
  provider: IdentityProvider;
  known: boolean;
  identity: BoundIdentity | undefined;
}) {
  const { t } = useLingui();
  const name = titleOf(provider);
  return (
    <BindingRow icon={providerIcons[provider]} name={name} bound={identity && (identity.name || t`已绑定`)}>
      {identity ? <Unbind provider={provider} /> : known ? <Bind provider={provider} /> : null}
    </BindingRow>
  );
}

function Unbind({ provider }: { provider: IdentityProvider }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const name = titleOf(provider);
  const unbind = trpc.identity.unbind.useMutation({
    onSuccess: () => toastSuccess(t`已解绑 ${name}`),
    onSettled: () => Promise.all([utils.identity.list.invalidate(), utils.user.self.invalidate()]),
  });
  const ask = async () => {
    if (await confirm({ title: t`解绑 ${name}？`, description: t`之后将无法用它登录此账户。`, action: t`解绑` }))
      unbind.mutate({ provider });
  };
  return <Button loading={unbind.isPending} aria-label={t`解绑 ${name}`} onClick={() => void ask()}>{t`解绑`}</Button>;
}

function Bind({ provider }: { provider: IdentityProvider }) {
  const { t } = useLingui();
  const status = useStatus();
  const utils = trpc.useUtils();
  const [open, setOpen] = useState(false);
  const name = titleOf(provider);
  const bound = {
    onSuccess: () => {
      setOpen(false);
      toastSuccess(t`绑定成功！`);
      void Promise.all([utils.identity.list.invalidate(), utils.user.self.invalidate()]);
    },
  };
  const wechat = trpc.identity.wechatBind.useMutation(bound);
  const telegram = trpc.identity.telegramBind.useMutation(bound);
  // By tRPC, so that a step-up is asked for where it is required; and in this window, which comes back to
  // this page.
  const begin = trpc.identity.begin.useMutation({ onSuccess: ({ url }) => url && location.assign(url) });
  const offered = isOffered(status, provider);
  const close = () => setOpen(false);
  const start = () => {
    if (isRedirectProvider(provider)) begin.mutate({ provider });
    else setOpen(true);
  };
  return (
    <>
      {offered ? null : (
        <span id={`${provider}-off`} className="self-center text-xs text-muted">{t`管理员未开启`}</span>
      )}
      <Button
        aria-label={t`绑定 ${name}`}
        disabled={!offered}
        loading={begin.isPending}
        aria-describedby={offered ? undefined : `${provider}-off`}
        onClick={start}
      >{t`绑定`}</Button>
      {open && IDENTITY_PROVIDERS[provider].flow === "code" ? (
        <WechatDialog
          title={t`绑定微信`}
          action={t`绑定`}
          picture={status.wechat_qrcode ?? ""}
          pending={wechat.isPending}
          onCode={(code) => wechat.mutate({ code })}
          onClose={close}
        />
      ) : null}
      {open && IDENTITY_PROVIDERS[provider].flow === "widget" ? (
        <Dialog open onOpenChange={(still) => !still && close()} title={t`绑定 Telegram`}>
          <div className="mt-3">
            <TelegramWidget bot={status.telegram_bot_name ?? ""} onFacts={(facts) => telegram.mutate(facts)} />
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
