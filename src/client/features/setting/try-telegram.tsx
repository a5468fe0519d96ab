import { useLingui } from "@lingui/react/macro";
import { trpc } from "../../lib/trpc";
import { TrialRow } from "./trial-row";
import { useSettings } from "./use-settings";

/** Asks Telegram whose token it is, typed or saved, and fills the bot's name in; saving stays a step of its own. */
export default function TryTelegram() {
  const { t } = useLingui();
  const { text, isSet, change } = useSettings();
  const token = text("TelegramBotToken").trim();
  const trial = trpc.identity.tryTelegram.useMutation({
    meta: { quiet: true },
    onSuccess: (found) => found.ok && found.name !== text("TelegramBotName") && change("TelegramBotName", found.name),
  });
  const { name = "" } = trial.data?.ok ? trial.data : {};
  const { detail = "" } = trial.data && !trial.data.ok ? trial.data : {};
  return (
    <TrialRow
      action={t`检查 Bot`}
      hint={t`向 Telegram 询问令牌属于哪个 Bot，并填入名称。登录组件还要求在 BotFather 用 /setdomain 设置本站域名。`}
      disabled={token === "" && !isSet("TelegramBotToken")}
      pending={trial.isPending}
      error={trial.error}
      failure={detail ? t`Telegram 没有接受这个令牌：${detail}` : undefined}
      success={name ? t`令牌属于 @${name}` : undefined}
      onTry={() => trial.mutate({ token })}
    />
  );
}
