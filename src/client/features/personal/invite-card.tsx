import { useLingui } from "@lingui/react/macro";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { InviteEarnings } from "../invite/invite-earnings";

/** The user's invitation link and its earnings; the list of invited users is in the wallet. */
export default function InviteCard() {
  const { t } = useLingui();
  return (
    <Card>
      <CardHeader title={t`邀请`} />
      <CardBody>
        <InviteEarnings />
      </CardBody>
    </Card>
  );
}
