import { useLingui } from "@lingui/react/macro";
import { cn } from "../lib/cn";
import { formatCount, formatDollars, formatNumber } from "../lib/format";
import { displayInCurrency, quotaPerUnit, useStatus } from "../lib/status";
import { Tooltip } from "../ui/tooltip";

/**
 * An amount of quota: dollars with 2 decimals (or units, when the operator wants them), in full on hover and focus.
 * `decimals` 6 is for the log inspector.
 */
export function Quota({ value, decimals = 2, className }: { value: number; decimals?: number; className?: string }) {
  const { t } = useLingui();
  // Renders again when the status, and with it the unit, arrives.
  useStatus();
  const perUnit = quotaPerUnit();
  const units = formatNumber(value);
  return (
    <Tooltip content={`${formatDollars(value, perUnit, 6)} = ${t`${units} 额度`}`}>
      <span className={cn("tabular-nums", className)}>
        {displayInCurrency() ? formatDollars(value, perUnit, decimals) : formatCount(value)}
      </span>
    </Tooltip>
  );
}

/** A count in short (12.3k), in full on hover. */
export function Count({ value, className }: { value: number; className?: string }) {
  const short = formatCount(value);
  const full = formatNumber(value);
  return (
    <Tooltip content={short === full ? null : full}>
      <span className={cn("tabular-nums", className)}>{short}</span>
    </Tooltip>
  );
}
