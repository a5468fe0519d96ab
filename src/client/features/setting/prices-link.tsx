import { useLingui } from "@lingui/react/macro";
import { ArrowRight } from "lucide-react";
import { Link } from "wouter";
import { Button } from "../../ui/button";

/** Prices have a page of their own: as JSON, and as a table in dollars. */
export default function PricesLink() {
  const { t } = useLingui();
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <p className="text-ink-2">{t`各模型的价格和倍率在模型价格页编辑，可用表格或 JSON。`}</p>
      <Button asChild>
        <Link href="/setting/pricing">
          {t`打开模型价格`}
          <ArrowRight aria-hidden />
        </Link>
      </Button>
    </div>
  );
}
