import { useLingui } from "@lingui/react/macro";
import { ROLE } from "../../../shared/roles";
import { useHasRole } from "../../lib/session";
import { choiceParam, useUrlState } from "../../lib/url-state";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../../ui/tabs";
import { DividendList, InvitedList, WithdrawalList } from "./agent-lists";
import { InviteEarnings } from "./invite-earnings";
import { SettleList } from "./settle-list";

const TABS = ["invited", "dividends", "withdrawals", "settle"] as const;
const PARAMS = { invite: choiceParam(TABS, "invited") };

/**
 * Invitations in the wallet: link, earnings, and the agent's lists. `?invite=settle` leads administrators to what
 * waits.
 */
export default function InviteSection() {
  const { t } = useLingui();
  const admin = useHasRole(ROLE.admin);
  const [{ invite: chosen }, patch] = useUrlState(PARAMS);
  const tab = chosen === "settle" && !admin ? "invited" : chosen;
  return (
    <Card>
      <CardHeader title={t`邀请`} description={t`分享链接，有人注册或充值时获得收益。`} />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <InviteEarnings />
        <Tabs
          value={tab}
          onValueChange={(value) => patch({ invite: TABS.find((known) => known === value) ?? "invited" })}
        >
          <TabsList aria-label={t`邀请`}>
            <TabsTrigger value="invited">{t`被邀请用户`}</TabsTrigger>
            <TabsTrigger value="dividends">{t`返利记录`}</TabsTrigger>
            <TabsTrigger value="withdrawals">{t`提现记录`}</TabsTrigger>
            {admin ? <TabsTrigger value="settle">{t`待处理提现`}</TabsTrigger> : null}
          </TabsList>
          <TabsContent value="invited">
            <InvitedList />
          </TabsContent>
          <TabsContent value="dividends">
            <DividendList />
          </TabsContent>
          <TabsContent value="withdrawals">
            <WithdrawalList />
          </TabsContent>
          {admin ? (
            <TabsContent value="settle">
              <SettleList />
            </TabsContent>
          ) : null}
        </Tabs>
      </CardBody>
    </Card>
  );
}
