import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { QUOTA_PICKS } from "../../shared/quota";
import { formatDollars, formatNumber } from "../lib/format";
import { displayInCurrency, quotaPerUnit, useStatus } from "../lib/status";
import { Button } from "../ui/button";
import { NumberField } from "../ui/number-field";

type QuotaFieldProps = {
  /** Units; null is an empty field. */
  value: number | null;
  onValueChange: (units: number | null) => void;
  /** The least that the arrow keys reach; 0 when absent. */
  min?: number;
  disabled?: boolean;
  /** Offers $1 to $1000 by a press. */
  picks?: boolean;
  id?: string;
  "aria-labelledby"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
};

/** An amount of quota typed in dollars, with the units it comes to beside it (the other way where units are shown). */
export function QuotaField({ value, onValueChange, min = 0, picks = false, ...props }: QuotaFieldProps) {
  const { t } = useLingui();
  useStatus();
  const perUnit = quotaPerUnit();
  const inDollars = displayInCurrency();
  // The typed text stays as it is, although its value is rounded to whole units.
  const [typed, setTyped] = useState<number | null>(null);
  const toUnits = (amount: number) => Math.round(amount * perUnit);
  const dollars = value === null ? null : typed !== null && toUnits(typed) === value ? typed : value / perUnit;
  const units = formatNumber(value ?? 0);

  const field = (
    <div className="flex items-center gap-3">
      <div className="min-w-0 flex-1">
        {inDollars ? (
          <NumberField
            {...props}
            value={dollars}
            min={min}
            step="any"
            unit="USD"
            onValueChange={(amount) => {
              setTyped(amount);
              onValueChange(amount === null ? null : toUnits(amount));
            }}
          />
        ) : (
          <NumberField {...props} value={value} min={min} step={1} onValueChange={onValueChange} />
        )}
      </div>
      <output className="min-w-24 text-right text-ink-2 tabular-nums">
        {inDollars ? t`${units} 额度` : formatDollars(value ?? 0, perUnit, 6)}
      </output>
    </div>
  );

  if (!picks) return field;
  return (
    <div className="grid gap-2">
      {field}
      <div className="flex flex-wrap gap-2">
        {QUOTA_PICKS.map((pick) => (
          <Button key={pick} size="sm" disabled={props.disabled} onClick={() => onValueChange(toUnits(pick))}>
            {`$${pick}`}
          </Button>
        ))}
      </div>
    </div>
  );
}
