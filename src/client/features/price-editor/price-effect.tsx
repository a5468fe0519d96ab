import { useLingui } from "@lingui/react/macro";
import { useDeferredValue, useMemo } from "react";
import { priceEffect } from "../../../shared/price-use";
import type { PriceTables } from "../../../shared/pricing";
import { formatDollars } from "../../lib/format";
import { useRecentUse } from "./use-recent-use";

/**
 * What the unsaved prices `after` would have added to the charges of the last 24 hours; undefined: they cannot be read
 * yet.
 */
export function PriceEffect({ before, after }: { before: PriceTables; after: PriceTables | undefined }) {
  const { t } = useLingui();
  const { data } = useRecentUse();
  const settled = useDeferredValue(after);
  const effect = useMemo(
    () => (data && settled ? priceEffect(data.day, before, settled) : undefined),
    [data, before, settled],
  );
  if (!data) return null;
  const money = effect === undefined ? "—" : signed(effect, before.QuotaPerUnit);
  return (
    <p role="status" className="text-sm">
      <span className="font-medium">{t`对最近 24 小时的影响：${money}`}</span>
      <span className="block text-xs text-muted">{t`按这段时间的实际用量估算；只改缓存、图片、音频价格的影响不在其中`}</span>
    </p>
  );
}

/** "+$3.20", "-$0.50" or "$0.00"; what is less than a cent has its sign all the same. */
function signed(quota: number, quotaPerUnit: number): string {
  const text = formatDollars(quota, quotaPerUnit);
  return quota > 0 ? `+${text}` : text;
}
