import { useLingui } from "@lingui/react/macro";
import { growthOf, type PriceChange } from "../../../shared/price-import";
import { priceKeys, type PriceNumbers, toDollars } from "../../../shared/price-rows";
import { Badge } from "../../ui/badge";
import { fieldNames } from "./price-fields";

/** A price that moves by more than this factor is marked. */
const STEEP = 1.5;

/** The prices of one side that differ from the other's. */
export function Numbers({ numbers, other }: { numbers: PriceNumbers; other: PriceNumbers }) {
  const { t } = useLingui();
  const [shown, against] = [toDollars(numbers), toDollars(other)];
  const different = priceKeys.filter((key) => shown[key] !== undefined && shown[key] !== against[key]);
  if (different.length === 0) return <span className="text-muted">—</span>;
  return (
    <span className="flex flex-wrap gap-x-3 tabular-nums">
      {different.map((key) => (
        <span key={key}>
          <span className="text-muted">{key === "ModelPrice" ? t`每次` : t(fieldNames[key].usd)}</span>{" "}
          {`$${shown[key]}`}
        </span>
      ))}
    </span>
  );
}

/** By how much the main price moves. */
export function Growth({ change }: { change: PriceChange }) {
  const { t } = useLingui();
  const growth = growthOf(change);
  if (change.kind === "new") return <Badge hue="green">{t`新增`}</Badge>;
  if (growth === undefined || growth === 1) return <Badge>{t`修改`}</Badge>;
  const percent = `${growth > 1 ? "+" : ""}${Math.round((growth - 1) * 100)}%`;
  return <Badge hue={growth > STEEP || growth < 1 / STEEP ? "red" : "blue"}>{percent}</Badge>;
}
