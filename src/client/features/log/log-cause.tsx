import { useLingui } from "@lingui/react/macro";
import { ArrowRight, OctagonX } from "lucide-react";
import { Link } from "wouter";
import type { LogView } from "../../../shared/log-list";
import { readParams } from "../../../shared/log-text";
import { ROLE } from "../../../shared/roles";
import { useUser } from "../../lib/session";
import { Button } from "../../ui/button";
import { RaiseQuota } from "./raise-quota";
import { textOf } from "./row-text";

/** Why the call failed, its code, and the page where the cause is removed. */
export function LogCause({ row }: { row: LogView }) {
  return (
    <section className="grid gap-2 rounded-lg bg-red-bg px-3 py-2.5 text-red-fg" data-testid="log-cause">
      <p className="flex gap-2 font-medium wrap-anywhere">
        <OctagonX aria-hidden className="mt-0.5 size-4 shrink-0" />
        {textOf(row)}
      </p>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <code className="font-mono text-xs">{row.code}</code>
        <NextStep row={row} />
      </div>
    </section>
  );
}

/** What this reader can do about it: a link to where it is done, or the verb itself. */
export function NextStep({ row }: { row: LogView }) {
  const step = useNextStep(row);
  const reader = useUser();
  // A token is its owner's to change; an administrator may give it more.
  if (USED_UP.has(row.code) && (reader?.role ?? 0) >= ROLE.admin && reader?.id !== row.user_id && row.token_id > 0)
    return <RaiseQuota id={row.token_id} name={row.token_name} username={row.username} />;
  return step ? (
    <Button asChild size="sm">
      <Link href={step.href}>
        {step.label}
        <ArrowRight aria-hidden />
      </Link>
    </Button>
  ) : null;
}

const USED_UP: ReadonlySet<string> = new Set(["insufficient_token_quota", "token_exhausted"]);

function useNextStep({ code, params, model_name, user_id, token_id, channel }: LogView) {
  const { t } = useLingui();
  const reader = useUser();
  const role = reader?.role ?? 0;
  const model = encodeURIComponent(model_name);
  const { group } = readParams(params);
  if (code.startsWith("failure."))
    return role >= ROLE.admin && channel > 0 ? { href: `/channel?open=${channel}`, label: t`查看渠道` } : undefined;
  switch (code) {
    case "model_price_missing":
      return role >= ROLE.root ? { href: `/setting/pricing?q=${model}`, label: t`设置价格` } : undefined;
    case "model_not_found":
    case "model_unavailable":
    case "operation_unsupported":
    case "member_unsupported":
    case "input_too_long":
    case "channels_draining":
    case "channels_paused":
    case "rate_limited_channels":
    case "files_unavailable":
    case "batches_unavailable":
    case "channel_disabled": {
      const inGroup = typeof group === "string" ? `&group=${encodeURIComponent(group)}` : "";
      return role >= ROLE.admin
        ? {
            href: code === "model_not_found" ? `/channel?${inGroup.slice(1)}` : `/channel?model=${model}${inGroup}`,
            label: t`查看渠道`,
          }
        : undefined;
    }
    case "insufficient_token_quota":
    case "token_exhausted":
    case "token_expired":
    case "token_disabled":
    case "token_model_denied":
    case "token_ip_denied":
      if (reader?.id === user_id && token_id > 0) return { href: `/token?edit=${token_id}`, label: t`编辑令牌` };
      return role >= ROLE.admin ? { href: `/user?edit=${user_id}`, label: t`查看令牌的用户` } : undefined;
    case "insufficient_user_quota":
    case "budget_day_used_up":
    case "budget_month_used_up":
    case "rate_limited_requests":
    case "rate_limited_tokens":
    case "rate_limited_user":
      if (role >= ROLE.admin) return { href: `/user?edit=${user_id}`, label: t`编辑用户` };
      return code === "insufficient_user_quota" ? { href: "/topup", label: t`去充值` } : undefined;
    default:
      return undefined;
  }
}
