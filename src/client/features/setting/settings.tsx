import { useLingui } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { useLocationProperty } from "wouter/use-browser-location";
import { optionFacts } from "../../../shared/option-facts";
import { type Card, cards, SETTING_TABS, type SettingTab } from "../../../shared/options";
import { ErrorPanel } from "../../components/error-panel";
import { currentLanguage } from "../../lib/i18n";
import { lazy, WhileLoading } from "../../lib/lazy";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Input } from "../../ui/input";
import { Skeleton } from "../../ui/skeleton";
import { TabsContent } from "../../ui/tabs";
import { useWarnBeforeLeaving } from "../channel/use-warn-before-leaving";
import { SettingCard } from "./setting-card";
import { SettingSkeleton } from "./setting-skeleton";
import { cardKeys, cardsOf, foundCards, type Stored } from "./setting-values";
import { SettingsProvider, useSettingsState } from "./use-settings";

const PriceTabs = lazy(() => import("./price-tabs"));
const DataCards = lazy(() => import("../import/data-cards"));

export type Tab = SettingTab | "personal";

/** The gateway's settings; nothing while the personal tab is open. */
export default function Settings({ tab }: { tab: Tab }) {
  const enabled = tab !== "personal";
  const query = trpc.option.settings.useQuery(undefined, { enabled, meta: { quiet: true } });
  if (query.data) return <Loaded tab={tab} stored={query.data} />;
  if (!enabled) return null;
  return query.error ? <ErrorPanel error={query.error} onRetry={() => void query.refetch()} /> : <SettingSkeleton />;
}

function Loaded({ tab, stored }: { tab: Tab; stored: Stored }) {
  const { t } = useLingui();
  const hasJson =
    tab !== "personal" &&
    cardsOf(tab)
      .flatMap(cardKeys)
      .some((key) => optionFacts[key].kind === "json");
  const state = useSettingsState(stored, hasJson);
  const everything = SETTING_TABS.flatMap(cardsOf).flatMap(cardKeys);
  const dirty = state.changed(everything).length;
  useWarnBeforeLeaving(dirty > 0);
  return (
    <SettingsProvider value={state}>
      {tab === "personal" ? null : (
        <TabsContent value={tab}>
          <Cards key={tab} tab={tab} />
          {tab === "other" ? (
            <WhileLoading show={<Skeleton className="mt-6 h-32" />}>
              <DataCards />
            </WhileLoading>
          ) : null}
          {tab === "operation" ? (
            <WhileLoading show={<Skeleton className="mt-6 h-64" />}>
              <PriceTabs />
            </WhileLoading>
          ) : null}
        </TabsContent>
      )}
      {dirty > 0 ? (
        <div className="sticky bottom-0 z-10 -mx-4 flex items-center gap-3 border-t border-line bg-raised px-4 py-2 sm:-mx-6 sm:px-6">
          <span role="status" className="flex-1">{t`${dirty} 项未保存`}</span>
          <Button onClick={state.discard}>{t`撤销`}</Button>
          <Button
            variant="primary"
            loading={state.saving}
            onClick={() => void state.save(everything)}
          >{t`全部保存`}</Button>
        </div>
      ) : null}
    </SettingsProvider>
  );
}

function Cards({ tab }: { tab: SettingTab }) {
  const { t } = useLingui();
  const [words, setWords] = useState("");
  const found = foundCards(tab, words, currentLanguage());
  // A browser scrolls to the card of an address that is opened, not to that of a link within the page (Ctrl K).
  const hash = useLocationProperty(() => location.hash);
  useEffect(() => {
    document.getElementById(hash.slice(1))?.scrollIntoView();
  }, [hash]);
  return (
    <div className="flex flex-col gap-6 lg:flex-row lg:items-start">
      <nav aria-label={t`设置分区`} className="grid shrink-0 gap-2 lg:sticky lg:top-4 lg:w-52">
        <Input
          type="search"
          aria-label={t`搜索设置`}
          placeholder={t`搜索设置，例如 SMTP`}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <ul className="grid gap-0.5 max-lg:hidden">
          {found.map((card) => (
            <SectionLink key={card} card={card} />
          ))}
        </ul>
      </nav>
      <div className="grid w-full max-w-[720px] grid-cols-[minmax(0,1fr)] gap-4">
        {found.map((card) => (
          <SettingCard key={card} card={card} />
        ))}
        {found.length === 0 ? <p className="text-muted">{t`这一页没有符合的设置`}</p> : null}
      </div>
    </div>
  );
}

function SectionLink({ card }: { card: Card }) {
  return (
    <li>
      <a
        href={`#card-${card}`}
        className="block rounded-md px-2.5 py-1.5 text-sm text-ink-2 hover:bg-sunken hover:text-ink"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById(`card-${card}`)?.scrollIntoView();
        }}
      >
        {cards[card].title[currentLanguage()]}
      </a>
    </li>
  );
}
