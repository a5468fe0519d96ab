import { useLingui } from "@lingui/react/macro";
import { CircleCheck, CircleSlash } from "lucide-react";
import type { DisplayPrices } from "../../../shared/price-display";
import { vendorByKey } from "../../../shared/vendors";
import { ProviderLogo } from "../../components/provider-logo";
import { groupRatioHue } from "../../components/status";
import { currentLanguage } from "../../lib/i18n";
import { Badge } from "../../ui/badge";
import type { PricedRow } from "./prices";

/** Dollars with cents at least, so that the prices of a column can be compared. */
const cents = (price: string): string => {
  const [whole = "", rest = ""] = price.split(".");
  return `${whole}.${rest.padEnd(2, "0")}`;
};

/** One price; the one at ratio 1 is struck through beside it when the group changes it. */
export function Price({
  row,
  kind,
}: {
  row: Pick<PricedRow, "shown" | "base" | "unit" | "most">;
  kind: keyof DisplayPrices;
}) {
  const { t } = useLingui();
  const price = row.shown[kind];
  const base = row.base[kind];
  if (price === undefined) return <span className="text-muted">—</span>;
  const shown = cents(price);
  const most = row.most?.[kind];
  if (most !== undefined && most !== price) return <span className="tabular-nums">{`$${shown}–${cents(most)}`}</span>;
  return (
    <span className="inline-flex items-baseline gap-1.5 tabular-nums">
      {base !== undefined && base !== price ? (
        <del className="text-xs text-muted" title={t`倍率为 1 时的价格`}>{`$${cents(base)}`}</del>
      ) : null}
      <span>{kind === "call" && row.unit === "second" ? t`$${shown} / 秒` : `$${shown}`}</span>
    </span>
  );
}

/** `×0.8` in the colour of its height. */
export function RatioBadge({ ratio }: { ratio: number }) {
  return <Badge hue={groupRatioHue(ratio)}>{`×${ratio}`}</Badge>;
}

/** Whether a call would be served now, and if not why. */
export function Availability({ row, group }: { row: PricedRow; group: string }) {
  const { t } = useLingui();
  if (row.available) return <Badge hue="green" icon={<CircleCheck aria-hidden />}>{t`可用`}</Badge>;
  const [why, full] =
    row.billing === null
      ? [t`未设置价格`, t`站长还没有为它设置价格，调用会被拒绝。`]
      : [t`不在本组`, t`${group} 分组没有渠道提供这个模型。`];
  return (
    <Badge icon={<CircleSlash aria-hidden />} title={full}>
      {why}
    </Badge>
  );
}

/** The vendor's logo, or the first letter of the model. */
export function VendorLogo({ vendor, model }: { vendor: string; model: string }) {
  const logo = vendorByKey(vendor)?.logo;
  if (logo) return <ProviderLogo slug={logo} />;
  return (
    <span
      aria-hidden
      className="inline-flex size-4 shrink-0 items-center justify-center rounded-sm bg-grey-bg text-[10px] font-semibold text-grey-fg uppercase"
    >
      {[...model][0]}
    </span>
  );
}

/** The name of a vendor; models of unknown vendors are "other". */
export function useVendorName(): (key: string) => string {
  const { t } = useLingui();
  return (key) => vendorByKey(key)?.name[currentLanguage()] ?? t`其他`;
}
