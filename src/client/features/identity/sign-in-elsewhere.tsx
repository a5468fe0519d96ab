import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { IDENTITY_PROVIDERS, type IdentityProvider, isRedirectProvider } from "../../../shared/identity";
import { reportError } from "../../lib/errors";
import { lazy, WhileLoading } from "../../lib/lazy";
import { useStatus } from "../../lib/status";
import { readStored } from "../../lib/storage";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { useSignedIn } from "../auth/use-signed-in";
import { openProvider } from "./leave";
import { isOffered, offeredProviders, providerIcons, titleOf } from "./providers";
import type { TelegramWidgetProps } from "./telegram-widget";
import type { WechatDialogProps } from "./wechat-dialog";

const TelegramWidget = lazy<TelegramWidgetProps>(async () => ({
  default: (await import("./telegram-widget")).TelegramWidget,
}));
const WechatDialog = lazy<WechatDialogProps>(async () => ({ default: (await import("./wechat-dialog")).WechatDialog }));

/** The other ways to sign in, or to register: those that the operator offers; nothing when there are none. */
export function SignInElsewhere() {
  const { t } = useLingui();
  const status = useStatus();
  const offered = offeredProviders(status);
  const [going, setGoing] = useState<IdentityProvider | null>(null);
  const [wechat, setWechat] = useState(false);
  if (offered.length === 0) return null;

  const go = async (provider: IdentityProvider) => {
    if (!isRedirectProvider(provider)) return setWechat(true);
    setGoing(provider);
    try {
      await openProvider(provider);
    } catch (error) {
      reportError(error);
    } finally {
      setGoing(null);
    }
  };

  return (
    <div className="grid gap-3">
      <p className="flex items-center gap-3 text-xs text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">{t`其他方式`}</p>
      {offered
        .filter((provider) => IDENTITY_PROVIDERS[provider].flow !== "widget")
        .map((provider) => {
          const Icon = providerIcons[provider];
          const name = titleOf(provider);
          return (
            <Button key={provider} size="lg" loading={going === provider} onClick={() => void go(provider)}>
              <Icon aria-hidden />
              {t`使用 ${name} 登录`}
            </Button>
          );
        })}
      <WhileLoading show={null}>
        {isOffered(status, "telegram") ? <TelegramSignIn bot={status.telegram_bot_name ?? ""} /> : null}
        {wechat ? <WechatSignIn picture={status.wechat_qrcode ?? ""} onClose={() => setWechat(false)} /> : null}
      </WhileLoading>
    </div>
  );
}

const aff = () => ({ aff: readStored("aff") ?? undefined });

function WechatSignIn({ picture, onClose }: { picture: string; onClose: () => void }) {
  const { t } = useLingui();
  const signedIn = useSignedIn();
  const login = trpc.identity.wechat.useMutation({ onSuccess: signedIn });
  return (
    <WechatDialog
      title={t`微信登录`}
      action={t`登录`}
      picture={picture}
      pending={login.isPending}
      onCode={(code) => login.mutate({ code, ...aff() })}
      onClose={onClose}
    />
  );
}

function TelegramSignIn({ bot }: { bot: string }) {
  const signedIn = useSignedIn();
  const login = trpc.identity.telegram.useMutation({ onSuccess: signedIn });
  return <TelegramWidget bot={bot} onFacts={(facts) => login.mutate({ ...facts, ...aff() })} />;
}
