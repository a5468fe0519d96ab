import { useLingui } from "@lingui/react/macro";
import { Info } from "lucide-react";
import { useMemo } from "react";
import { knownName } from "../../../shared/known-names";
import { currentLanguage } from "../../lib/i18n";
import { DataGrid } from "../../components/data-grid/data-grid";
import { useGridState } from "../../components/data-grid/grid-state";
import type { GridFilter } from "../../components/data-grid/types";
import { Page } from "../../components/page";
import { copyText } from "../../lib/clipboard";
import { useMedia } from "../../lib/media";
import { useUser } from "../../lib/session";
import { trpc } from "../../lib/trpc";
import { choiceParam, textParam, useUrlState } from "../../lib/url-state";
import { CopyButton } from "../../ui/copy-button";
import { Select } from "../../ui/select";
import { Skeleton } from "../../ui/skeleton";
import { SwitchField } from "../../ui/switch";
import { ModelDrawer } from "./model-drawer";
import { RatioBadge } from "./price-cells";
import { usePriceColumns } from "./price-columns";
import { PriceFacets, usePriceFacets } from "./price-facets";
import { PriceFormula } from "./price-formula";
import { pricedRows, ratioOf, selectRows } from "./prices";

const FILTERS = ["q", "vendor", "billing", "capability", "available"] as const;
const PARAMS = { group: textParam(), ratios: choiceParam(["0", "1"], "0") };

/** The public price list: models of the caller's groups, prices in dollars for the chosen one. */
export default function PricingPage() {
  const { t } = useLingui();
  const user = useUser();
  const wide = useMedia("(min-width: 1024px)");
  const grid = useGridState({ name: "pricing", filterKeys: FILTERS });
  const [chosen, patch] = useUrlState(PARAMS);
  const query = trpc.pricing.catalogue.useQuery(undefined, { meta: { quiet: true } });
  const catalogue = query.data;

  const groups = Object.keys(catalogue?.groups ?? {});
  const group = groups.find((name) => name === chosen.group) ?? catalogue?.user_group ?? "";
  const ratio = catalogue ? ratioOf(catalogue, group) : 1;
  const all = useMemo(() => (catalogue ? pricedRows(catalogue, group) : []), [catalogue, group]);
  const fitting = useMemo(() => selectRows(all, grid.filters, grid.sort), [all, grid.filters, grid.sort]);
  const from = (grid.page - 1) * grid.pageSize;
  const guestGroup = catalogue?.user_group ?? "";
  const guestRatio = catalogue ? ratioOf(catalogue, guestGroup) : 1;
  const columns = usePriceColumns(group, chosen.ratios === "1");
  const facets = usePriceFacets(all);

  const filters: GridFilter[] = [
    { key: "vendor", label: t`供应商`, kind: "choice", options: facets.vendor },
    { key: "billing", label: t`计费方式`, kind: "choice", options: facets.billing },
    { key: "capability", label: t`能力`, kind: "choice", options: facets.capability },
    { key: "available", label: t`可用性`, kind: "choice", options: [{ value: "1", label: t`仅看可用` }] },
  ];

  return (
    <Page
      title={t`定价`}
      description={t`价格为美元；按量计费的单位是百万 Token。`}
      actions={
        catalogue ? (
          <>
            <PriceFormula unitsPerDollar={catalogue.quota_per_unit} />
            <SwitchField
              label={t`显示倍率`}
              checked={chosen.ratios === "1"}
              onCheckedChange={(on) => patch({ ratios: on ? "1" : "0" })}
            />
            <div className="flex min-w-0 items-center gap-2">
              <Select
                aria-label={t`分组`}
                className="w-44"
                value={group}
                onValueChange={(name) => patch({ group: name === catalogue.user_group ? "" : name })}
                options={groups.map((name) => ({
                  value: name,
                  label: name,
                  hint: knownName(catalogue.groups[name]?.desc ?? "", currentLanguage()) || undefined,
                }))}
              />
              <RatioBadge ratio={ratio} />
            </div>
          </>
        ) : null
      }
    >
      {!user && !catalogue && !query.error ? <Skeleton className="h-9" /> : null}
      {catalogue && !user ? (
        <p className="flex items-center gap-2 rounded-md bg-blue-bg px-3 py-2 text-blue-fg">
          <Info aria-hidden className="size-4 shrink-0" />
          {t`尚未登录：默认按 ${guestGroup} 分组（倍率 ${guestRatio}）显示；登录后显示你的分组价格。`}
        </p>
      ) : null}
      <div className="flex min-w-0 items-start gap-4">
        {wide && query.isPending ? <Skeleton className="h-96 w-48 shrink-0" /> : null}
        {wide && all.length > 0 ? <PriceFacets rows={all} filter={grid.filters} onFilter={grid.setFilters} /> : null}
        <div className="min-w-0 flex-1">
          <DataGrid
            grid={grid}
            label={t`定价`}
            columns={columns}
            rows={catalogue && fitting.slice(from, from + grid.pageSize)}
            rowId={(row) => row.item.model}
            total={fitting.length}
            query={query}
            search={{ key: "q", placeholder: t`模型名称` }}
            filters={wide ? [] : filters}
            readPage={(page, size) => Promise.resolve(fitting.slice((page - 1) * size, page * size))}
            onOpen={(row) => grid.setOpen(row.item.model)}
            onCopy={(row) => void copyText(row.item.model)}
            rowButtons={(row) => <CopyButton text={row.item.model} label={t`复制模型名称`} />}
            shaded={(row) => !row.available}
            empty={{ title: t`还没有模型`, description: t`渠道启用后，它的模型和价格会出现在这里。` }}
          />
        </div>
      </div>
      {catalogue ? (
        <ModelDrawer
          catalogue={catalogue}
          open={grid.open}
          rows={all}
          group={group}
          onClose={() => grid.setOpen(null)}
        />
      ) : null}
    </Page>
  );
}
