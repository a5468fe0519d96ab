import { useLingui } from "@lingui/react/macro";
import { ShieldX } from "lucide-react";
import { Link } from "wouter";
import { EmptyState } from "../../components/empty-state";
import { Button } from "../../ui/button";

/** The page exists, but not for this user, who stays signed in. */
export default function ForbiddenPage() {
  const { t } = useLingui();
  return (
    <div className="flex flex-1 flex-col justify-center">
      <h1 className="sr-only">{t`没有权限`}</h1>
      <EmptyState
        icon={ShieldX}
        title={t`没有权限访问此页面`}
        description={t`如果你需要使用它，请联系管理员。`}
        action={
          <Button asChild variant="primary">
            <Link href="/">{t`返回首页`}</Link>
          </Button>
        }
      />
    </div>
  );
}
