import { useLingui } from "@lingui/react/macro";
import { trpc } from "../../lib/trpc";
import { TrialRow } from "./trial-row";
import { useSettings } from "./use-settings";

/**
 * Reads the provider's discovery document at the address that is typed, and fills the endpoints in; saving stays a step
 * of its own.
 */
export default function TryOidc() {
  const { t } = useLingui();
  const { text, change } = useSettings();
  const address = text("oidc.well_known").trim();
  const trial = trpc.identity.tryOidc.useMutation({
    meta: { quiet: true },
    onSuccess: (found) => {
      if (!found.ok) return;
      change("oidc.authorization_endpoint", found.authorization_endpoint);
      change("oidc.token_endpoint", found.token_endpoint);
      change("oidc.user_info_endpoint", found.user_info_endpoint);
    },
  });
  const { issuer = "" } = trial.data?.ok ? trial.data : {};
  const { detail = "" } = trial.data && !trial.data.ok ? trial.data : {};
  return (
    <TrialRow
      action={t`发现端点`}
      hint={t`读取 Well-Known 地址，填入三个端点；保存后生效。`}
      disabled={address === ""}
      pending={trial.isPending}
      error={trial.error}
      failure={detail ? t`没有读到发现文档：${detail}` : undefined}
      success={issuer ? t`已读到 ${issuer} 的端点，请保存` : undefined}
      onTry={() => trial.mutate({ address })}
    />
  );
}
