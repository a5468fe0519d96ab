import { useLingui } from "@lingui/react/macro";
import { MapPinOff } from "lucide-react";
import { Link } from "wouter";
import { EmptyState } from "../../components/empty-state";
import { Button } from "../../ui/button";

/** No page has this address. */
export default function NotFoundPage() {
  const { t } = useLingui();
  return (
    <div className="flex flex-1 flex-col justify-center">
      <h1 className="sr-only">{t`页面不存在`}</h1>
      <EmptyState
        icon={MapPinOff}
        title={t`页面不存在，请检查浏览器地址是否正确`}
        action={
          <Button asChild variant="primary">
            <Link href="/">{t`返回首页`}</Link>
          </Button>
        }
      />
    </div>
  );
}
