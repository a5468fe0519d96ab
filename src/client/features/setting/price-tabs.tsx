import { useLingui } from "@lingui/react/macro";
import { ErrorPanel } from "../../components/error-panel";
import { Skeleton } from "../../ui/skeleton";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../../ui/tabs";
import { PriceGrid } from "../price-editor/price-grid";
import PriceJson from "../price-editor/price-json";
import { usePrices, useSavePrices } from "../price-editor/use-prices";

/** The two tabs under the cards of operation: the ratios of models as JSON, and the visual editor. */
export default function PriceTabs() {
  const { t } = useLingui();
  const { prices, query } = usePrices();
  const saver = useSavePrices();
  return (
    <section className="mt-8">
      <Tabs defaultValue="json">
        <TabsList aria-label={t`模型倍率`}>
          <TabsTrigger value="json">{t`模型倍率设置`}</TabsTrigger>
          <TabsTrigger value="visual">{t`可视化倍率设置`}</TabsTrigger>
        </TabsList>
        <TabsContent value="json">
          {prices ? (
            <PriceJson prices={prices} saver={saver} />
          ) : query.error ? (
            <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
          ) : (
            <Skeleton className="h-64" />
          )}
        </TabsContent>
        <TabsContent value="visual">
          <PriceGrid prices={prices} query={query} saver={saver} />
        </TabsContent>
      </Tabs>
    </section>
  );
}
