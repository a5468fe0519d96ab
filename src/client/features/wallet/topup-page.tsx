import { useLingui } from "@lingui/react/macro";
import { ErrorBoundary } from "../../components/error-boundary";
import { Page } from "../../components/page";
import { WhileLoading } from "../../lib/lazy";
import { Skeleton } from "../../ui/skeleton";
import { BalanceCard } from "./balance-card";
import { RedeemCard } from "./redeem-card";
import { walletSections } from "./sections";

/** The wallet: what there is, a code to redeem, and the sections (online top-up, orders, invitations). */
export default function TopupPage() {
  const { t } = useLingui();
  return (
    <Page title={t`钱包`}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-2">
          <BalanceCard />
          <RedeemCard />
        </div>
        {walletSections.map(({ id, component: Section }) => (
          <ErrorBoundary key={id}>
            <WhileLoading show={<Skeleton className="h-40 rounded-lg" />}>
              <Section />
            </WhileLoading>
          </ErrorBoundary>
        ))}
      </div>
    </Page>
  );
}
