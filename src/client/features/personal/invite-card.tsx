import { useLingui } from "@lingui/react/macro";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { InviteEarnings } from "../invite/invite-earnings";

/** The own invitation link and what it earned; who was invited stands in the wallet. */
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
