import { useLingui } from "@lingui/react/macro";
import { Wallet } from "lucide-react";
import { Link } from "wouter";
import { Quota } from "../components/quota";
import { cn } from "../lib/cn";
import { trpc } from "../lib/trpc";

/**
 * The own balance at the foot of the side menu; leads to the wallet. Pages that spend renew it by
 * `trpc.useUtils().user.self.invalidate()`.
 */
export function BalanceChip({ collapsed }: { collapsed: boolean }) {
  const { t } = useLingui();
  const self = trpc.user.self.useQuery(undefined, { meta: { quiet: true }, refetchInterval: 60_000 });
  if (self.data === undefined || collapsed) return null;
  return (
    <Link href="/topup" className="flex h-9 items-center gap-2 rounded-md border border-line px-2.5 hover:bg-sunken">
      <Wallet aria-hidden className="size-4 text-muted" />
      <span className="flex-1 text-ink-2">{t`余额`}</span>
      <Quota value={self.data.quota} className={cn("font-medium", self.data.quota < 0 && "text-red-fg")} />
    </Link>
  );
}
