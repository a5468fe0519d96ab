import { useLingui } from "@lingui/react/macro";
import { ErrorPanel } from "../../components/error-panel";
import { Page } from "../../components/page";
import { lazy, WhileLoading } from "../../lib/lazy";
import { choiceParam, useUrlState } from "../../lib/url-state";
import { Badge } from "../../ui/badge";
import { Skeleton } from "../../ui/skeleton";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../../ui/tabs";
import { BelowCost } from "./below-cost";
import { isUnpriced, PriceGrid } from "./price-grid";
import { type Prices, usePrices, useSavePrices } from "./use-prices";

const RulesEditor = lazy(() => import("./rules-editor"));
const VirtualModelsEditor = lazy(() => import("./virtual-models"));
const ToolPrices = lazy(() => import("./tool-prices"));
const CurrencyRatesForm = lazy(() => import("./currency-rates"));
const PriceJson = lazy(() => import("./price-json"));
const PriceImport = lazy(() => import("./price-import"));
const PriceFeeds = lazy(() => import("./price-feeds"));
const Reconcile = lazy(() => import("./reconcile"));
const PriceWhy = lazy(() => import("./price-why"));

const TABS = ["visual", "rules", "virtual", "tools", "rates", "json", "import", "feeds", "reconcile", "why"] as const;
const PARAMS = { tab: choiceParam(TABS, "visual") };

/** What models cost: row by row, as JSON, from elsewhere, and why. Root only. */
export default function PriceEditorPage() {
  const { t } = useLingui();
  const [{ tab }, patch] = useUrlState(PARAMS);
  const { prices, query } = usePrices();
  const saver = useSavePrices();
  const unpriced = prices?.rows.filter(isUnpriced).length ?? 0;
  const when = (show: (prices: Prices) => React.ReactNode) =>
    prices ? (
      show(prices)
    ) : query.error ? (
      <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
    ) : (
      <Skeleton className="h-64" />
    );

  return (
    <Page
      title={t`模型价格`}
      description={t`价格为美元；按量计费的单位是百万 Token。内置价格只是默认值，你的设置优先。`}
    >
      <BelowCost />
      <Tabs value={tab} onValueChange={(next) => patch({ tab: TABS.find((name) => name === next) ?? "visual" })}>
        <TabsList aria-label={t`模型价格`}>
          <TabsTrigger value="visual">
            {t`可视化编辑`}
            {unpriced > 0 ? <Badge hue="orange" className="ml-2">{t`${unpriced} 个未定价`}</Badge> : null}
          </TabsTrigger>
          <TabsTrigger value="rules">{t`价格规则`}</TabsTrigger>
          <TabsTrigger value="virtual">{t`虚拟模型`}</TabsTrigger>
          <TabsTrigger value="tools">{t`工具价格`}</TabsTrigger>
          <TabsTrigger value="rates">{t`货币汇率`}</TabsTrigger>
          <TabsTrigger value="json">JSON</TabsTrigger>
          <TabsTrigger value="import">{t`导入`}</TabsTrigger>
          <TabsTrigger value="feeds">{t`价格源`}</TabsTrigger>
          <TabsTrigger value="reconcile">{t`对账`}</TabsTrigger>
          <TabsTrigger value="why">{t`价格说明`}</TabsTrigger>
        </TabsList>
        <TabsContent value="visual">
          <PriceGrid prices={prices} query={query} saver={saver} />
        </TabsContent>
        <WhileLoading show={<Skeleton className="h-64" />}>
          <TabsContent value="rules">
            {when((all) => (
              <RulesEditor prices={all} saver={saver} />
            ))}
          </TabsContent>
          <TabsContent value="virtual">
            {when((all) => (
              <VirtualModelsEditor prices={all} saver={saver} />
            ))}
          </TabsContent>
          <TabsContent value="tools">
            {when((all) => (
              <ToolPrices key={all.text("tool_price_setting.prices")} prices={all} saver={saver} />
            ))}
          </TabsContent>
          <TabsContent value="rates">
            {when((all) => (
              <CurrencyRatesForm key={all.text("CurrencyRates")} prices={all} saver={saver} />
            ))}
          </TabsContent>
          <TabsContent value="json">
            {when((all) => (
              <PriceJson prices={all} saver={saver} />
            ))}
          </TabsContent>
          <TabsContent value="import">
            {when((all) => (
              <PriceImport prices={all} saver={saver} />
            ))}
          </TabsContent>
          <TabsContent value="feeds">
            {when((all) => (
              <PriceFeeds prices={all} saver={saver} />
            ))}
          </TabsContent>
          <TabsContent value="reconcile">
            <Reconcile />
          </TabsContent>
          <TabsContent value="why">
            {when((all) => (
              <PriceWhy prices={all} />
            ))}
          </TabsContent>
        </WhileLoading>
      </Tabs>
    </Page>
  );
}
