import { useLingui } from "@lingui/react/macro";
import { Page } from "../../components/page";
import ProfileCard from "./profile-card";
import SecurityCard from "./security-card";

/** `/user/edit`: what users may change of their own account: name, display name and password (D-04, D-12). */
export default function ProfilePage() {
  const { t } = useLingui();
  return (
    <Page title={t`编辑个人资料`} width="form">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <ProfileCard />
        <SecurityCard />
      </div>
    </Page>
  );
}
