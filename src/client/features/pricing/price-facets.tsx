import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { CAPABILITIES } from "../../../shared/price-list";
import { vendors } from "../../../shared/vendors";
import { cn } from "../../lib/cn";
import { CheckboxField } from "../../ui/checkbox";
import { capabilityLooks } from "./capabilities";
import { useVendorName, VendorLogo } from "./price-cells";
import { billingFacet, type PriceFilter, type PricedRow } from "./prices";

interface Facet {
  value: string;
  label: string;
  icon?: ReactNode;
  count: number;
}

/** The filter choices of this catalogue, each with its number of models. */
export function usePriceFacets(rows: readonly PricedRow[]): Record<"vendor" | "billing" | "capability", Facet[]> {
  const { t, i18n } = useLingui();
  const vendorName = useVendorName();
  const count = (has: (row: PricedRow) => boolean): number => rows.filter(has).length;
  const keys = [...vendors.map(({ key }) => key), "other"];
  return {
    vendor: keys
      .map((value) => ({
        value,
        label: vendorName(value),
        icon: <VendorLogo vendor={value} model={vendorName(value)} />,
        count: count(({ item }) => (item.vendor || "other") === value),
      }))
      .filter((facet) => facet.count > 0),
    billing: [
      { value: "ratio", label: t`按量计费` },
      { value: "call", label: t`按次计费` },
      { value: "second", label: t`按秒计费` },
      { value: "none", label: t`未设置价格` },
    ]
      .map((facet) => ({ ...facet, count: count((row) => billingFacet(row) === facet.value) }))
      .filter((facet) => facet.count > 0),
    capability: CAPABILITIES.map((value) => {
      const { icon: Icon, name } = capabilityLooks[value];
      return {
        value,
        label: i18n._(name),
        icon: <Icon aria-hidden className="size-4 shrink-0 text-muted" />,
        count: count(({ item }) => item.capabilities?.includes(value) === true),
      };
    }).filter((facet) => facet.count > 0),
  };
}

function FacetList({
  title,
  facets,
  value,
  onValue,
}: {
  title: string;
  facets: readonly Facet[];
  value: string;
  onValue: (value: string) => void;
}) {
  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium text-muted">{title}</legend>
      <ul className="grid">
        {facets.map((facet) => (
          <li key={facet.value}>
            <button
              type="button"
              aria-pressed={facet.value === value}
              onClick={() => onValue(facet.value === value ? "" : facet.value)}
              className={cn(
                "-mx-2 flex min-h-8 w-[calc(100%+16px)] items-center gap-2 rounded-md px-2 text-left text-ink-2 hover:bg-sunken hover:text-ink",
                facet.value === value && "bg-accent-soft font-medium text-ink hover:bg-accent-soft",
              )}
            >
              {facet.icon}
              <span className="min-w-0 flex-1 truncate">{facet.label}</span>
              <span className="text-xs text-muted tabular-nums">{facet.count}</span>
            </button>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

/** The filters at the left of the list; a second press takes a choice back. */
export function PriceFacets({
  rows,
  filter,
  onFilter,
}: {
  rows: readonly PricedRow[];
  filter: PriceFilter;
  onFilter: (changes: Partial<PriceFilter>) => void;
}) {
  const { t } = useLingui();
  const facets = usePriceFacets(rows);
  return (
    <aside
      aria-label={t`筛选`}
      className="sticky top-16 grid max-h-[calc(100dvh-80px)] w-48 shrink-0 content-start gap-5 overflow-y-auto p-2"
    >
      <CheckboxField
        label={t`仅看可用`}
        checked={filter.available !== ""}
        onCheckedChange={(on) => onFilter({ available: on === true ? "1" : "" })}
      />
      <FacetList
        title={t`计费方式`}
        facets={facets.billing}
        value={filter.billing}
        onValue={(billing) => onFilter({ billing })}
      />
      {facets.capability.length > 0 ? (
        <FacetList
          title={t`能力`}
          facets={facets.capability}
          value={filter.capability}
          onValue={(capability) => onFilter({ capability })}
        />
      ) : null}
      <FacetList
        title={t`供应商`}
        facets={facets.vendor}
        value={filter.vendor}
        onValue={(vendor) => onFilter({ vendor })}
      />
    </aside>
  );
}
