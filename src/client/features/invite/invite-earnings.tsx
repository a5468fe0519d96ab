import { useLingui } from "@lingui/react/macro";
import { ArrowRightLeft, HandCoins } from "lucide-react";
import { useId, useState } from "react";
import { ErrorPanel } from "../../components/error-panel";
import { Figure } from "../../components/facts";
import { Quota } from "../../components/quota";
import { useStatus } from "../../lib/status";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy-button";
import { Input } from "../../ui/input";
import { Label } from "../../ui/label";
import { Skeleton } from "../../ui/skeleton";
import { inviteLink } from "./invite-link";
import { TransferDialog } from "./transfer-dialog";
import { WithdrawDialog } from "./withdraw-dialog";

/**
 * The own invitation link, what it brought, and the two ways out for earnings. For the wallet and personal settings.
 */
export function InviteEarnings() {
  const { t } = useLingui();
  const [dialog, setDialog] = useState<"transfer" | "withdraw" | null>(null);
  const self = trpc.user.self.useQuery(undefined, { meta: { quiet: true } });
  const { data } = self;
  if (self.error && !data) return <ErrorPanel error={self.error} onRetry={() => void self.refetch()} />;
  const available = data?.aff_quota ?? 0;
  const nothing = <Skeleton className="w-16" />;
  return (
    <div className="grid gap-4">
      <InviteLink />
      <div className="flex flex-wrap items-end justify-between gap-4">
        <dl className="flex flex-wrap gap-x-8 gap-y-3">
          <Figure label={t`可用邀请收益`}>{data ? <Quota value={available} /> : nothing}</Figure>
          <Figure label={t`累计邀请收益`}>{data ? <Quota value={data.aff_history_quota} /> : nothing}</Figure>
          <Figure label={t`邀请人数`}>{data ? data.aff_count : nothing}</Figure>
        </dl>
        <div className="flex flex-wrap gap-2">
          <Button disabled={available <= 0} onClick={() => setDialog("withdraw")}>
            <HandCoins aria-hidden />
            {t`申请提现`}
          </Button>
          <Button disabled={available <= 0} onClick={() => setDialog("transfer")}>
            <ArrowRightLeft aria-hidden />
            {t`划转到余额`}
          </Button>
        </div>
      </div>
      {dialog === "transfer" ? <TransferDialog available={available} onClose={() => setDialog(null)} /> : null}
      {dialog === "withdraw" ? <WithdrawDialog available={available} onClose={() => setDialog(null)} /> : null}
    </div>
  );
}

function InviteLink() {
  const { t } = useLingui();
  const id = useId();
  const { server_address: address = "" } = useStatus();
  const code = trpc.invite.code.useQuery(undefined, { staleTime: Number.POSITIVE_INFINITY, meta: { quiet: true } });
  if (code.error && !code.data) return <ErrorPanel error={code.error} onRetry={() => void code.refetch()} />;
  const link = code.data ? inviteLink(address, location.origin, code.data) : "";
  return (
    <div className="grid gap-1">
      <Label htmlFor={id}>{t`邀请链接`}</Label>
      {link ? (
        <div className="flex items-center gap-2">
          <Input
            id={id}
            readOnly
            value={link}
            onFocus={(event) => event.currentTarget.select()}
            className="min-w-0 flex-1 font-mono"
          />
          <CopyButton text={link} label={t`复制邀请链接`} />
        </div>
      ) : (
        <Skeleton className="h-8" />
      )}
    </div>
  );
}
