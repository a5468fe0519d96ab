import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { Redirect, useSearchParams } from "wouter";
import { ROLE } from "../../../shared/roles";
import { SETTING_TABS } from "../../../shared/options";
import { Page } from "../../components/page";
import { lazy, WhileLoading } from "../../lib/lazy";
import { useHasRole } from "../../lib/session";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../../ui/tabs";
import type { Tab } from "./settings";
import { SettingSkeleton } from "./setting-skeleton";

const Settings = lazy(() => import("./settings"));
const PersonalTab = lazy(() => import("../personal/personal-tab"));

/** The user's personal settings and, for root, the gateway's. An unknown `?tab=` leads to the personal ones (D-05). */
export default function SettingPage() {
  const { t } = useLingui();
  const [search, setSearch] = useSearchParams();
  const root = useHasRole(ROLE.root);
  const [opened, setOpened] = useState(false);
  const offered: readonly Tab[] = root ? ["personal", ...SETTING_TABS] : ["personal"];
  const tab = offered.find((known) => known === search.get("tab"));
  if (!tab) return <Redirect to="/setting?tab=personal" replace />;
  // They stay while the personal tab is open, so that what was typed is there afterwards.
  if (tab !== "personal" && !opened) setOpened(true);
  const names: Record<Tab, string> = {
    personal: t`个人设置`,
    operation: t`运营设置`,
    // The page is called so, too.
    system: t({ message: "系统设置", context: "tab" }),
    alert: t`告警设置`,
    other: t`其他设置`,
  };
  return (
    <Page title={tab === "personal" ? t`个人设置` : t`系统设置`}>
      <Tabs value={tab} onValueChange={(next) => setSearch({ tab: next })}>
        {root ? (
          <TabsList aria-label={t`设置`}>
            {offered.map((name) => (
              <TabsTrigger key={name} value={name}>
                {names[name]}
              </TabsTrigger>
            ))}
          </TabsList>
        ) : null}
        {tab === "personal" ? (
          <TabsContent value="personal" className={root ? undefined : "pt-0"}>
            <WhileLoading show={<SettingSkeleton />}>
              <PersonalTab />
            </WhileLoading>
          </TabsContent>
        ) : null}
        {opened ? (
          <WhileLoading show={<SettingSkeleton />}>
            <Settings tab={tab} />
          </WhileLoading>
        ) : null}
      </Tabs>
    </Page>
  );
}
