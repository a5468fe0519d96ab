import { useLingui } from "@lingui/react/macro";
import { Download, Pencil, Percent, Plus, RotateCcw, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import {
  builtInTables,
  numbersOf,
  priceKeys,
  type PriceNumbers,
  type PriceRow,
  type RatioTables,
  sameNumbers,
  withNumbers,
} from "../../../shared/price-rows";
import type { ModelUse } from "../../../shared/price-use";
import { vendorOf } from "../../../shared/vendors";
import { DataGrid } from "../../components/data-grid/data-grid";
import { type GridState, useGridState } from "../../components/data-grid/grid-state";
import type { GridAction, GridColumn, GridFilter, GridQuery } from "../../components/data-grid/types";
import { formatDollars, formatNumber } from "../../lib/format";
import { lazy } from "../../lib/lazy";
import { quotaPerUnit } from "../../lib/status";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { SwitchField } from "../../ui/switch";
import { VendorLogo } from "../pricing/price-cells";
import { unitOf } from "../pricing/price-unit";
import { NEW, textsOf, type Unit } from "./price-fields";
import type { Prices, useSavePrices } from "./use-prices";
import { useRecentUse } from "./use-recent-use";

const PriceForm = lazy(() => import("./price-form"));
const ScaleDialog = lazy(() => import("./scale-dialog"));

const FILTERS = ["q", "show"] as const;
type Filter = (typeof FILTERS)[number];
type Saver = ReturnType<typeof useSavePrices>;

const shows: Readonly<Record<string, (row: PriceRow) => boolean>> = {
  unpriced: ({ source, served }) => source === "unpriced" && served,
  custom: ({ source }) => source === "custom",
  served: ({ served }) => served,
  call: ({ name, numbers }) => numbers.ModelPrice !== undefined && unitOf(name) === "call",
  second: ({ name, numbers }) => numbers.ModelPrice !== undefined && unitOf(name) === "second",
  token: ({ numbers }) => numbers.ModelPrice === undefined && numbers.ModelRatio !== undefined,
};

/** Served models that nothing prices: calls of them are refused. */
export const isUnpriced = (row: PriceRow): boolean => row.source === "unpriced" && row.served;

type Uses = ReadonlyMap<string, ModelUse>;
const NO_USES: readonly ModelUse[] = [];

function select(rows: readonly PriceRow[], { filters, sort }: GridState<Filter>, uses: Uses): PriceRow[] {
  const needle = filters.q.trim().toLowerCase();
  const fits = shows[filters.show] ?? (() => true);
  const found = rows.filter((row) => row.name.toLowerCase().includes(needle) && fits(row));
  // What waits for the operator comes first, then what is in use.
  const rank = (row: PriceRow): number => (isUnpriced(row) ? 0 : row.served ? 1 : 2);
  if (!sort) return found.toSorted((a, b) => rank(a) - rank(b));
  const sign = sort.desc ? -1 : 1;
  if (sort.key === "input")
    return found.toSorted(
      (a, b) => ((a.numbers.ModelRatio ?? Infinity) - (b.numbers.ModelRatio ?? Infinity) || 0) * sign,
    );
  if (sort.key === "used")
    return found.toSorted((a, b) => ((uses.get(a.name)?.quota ?? -1) - (uses.get(b.name)?.quota ?? -1)) * sign);
  return sign === 1 ? found : found.toReversed();
}

/** One row per model: search, filters, single and batch changes; ten to a page. */
export function PriceGrid({ prices, query, saver }: { prices: Prices | undefined; query: GridQuery; saver: Saver }) {
  const { t } = useLingui();
  const grid = useGridState({ name: "price-editor", filterKeys: FILTERS });
  const [unit, setUnit] = useState<Unit>("usd");
  const [many, setMany] = useState<{ kind: "price" | "scale"; names: string[] } | null>(null);
  const rows = prices?.rows;
  const { data: { week } = { week: NO_USES } } = useRecentUse();
  const uses = useMemo(() => new Map(week.map((use) => [use.model, use])), [week]);
  const fitting = useMemo(() => (rows ? select(rows, grid, uses) : []), [rows, grid, uses]);
  const from = (grid.page - 1) * grid.pageSize;
  const columns = usePriceColumns(unit, uses);

  const tables = prices?.tables;
  const change = (changes: Iterable<readonly [string, PriceNumbers | undefined]>) => {
    if (tables) void saver.save(tables, withNumbers(tables, new Map(changes))).catch(() => false);
  };
  const reset = (names: readonly string[]) => change(names.map((name) => [name, numbersOf(builtInTables, name)]));
  const remove = (names: readonly string[]) => change(names.map((name) => [name, undefined]));

  const filters = usePriceFilters();
  const rowActions = ({ name, numbers, source }: PriceRow): GridAction[] => [
    { id: "edit", label: t`编辑`, icon: Pencil, shortcut: "E", onSelect: () => grid.setEdit(name) },
    { id: "reset", label: t`恢复默认`, icon: RotateCcw, disabled: source !== "custom", onSelect: () => reset([name]) },
    {
      id: "delete",
      label: t`删除价格`,
      icon: Trash2,
      danger: true,
      separated: true,
      disabled: sameNumbers(numbers, {}),
      onSelect: () => remove([name]),
    },
  ];
  const editing = grid.edit;

  return (
    <>
      <DataGrid
        grid={grid}
        label={t`模型价格`}
        columns={columns}
        rows={rows && fitting.slice(from, from + grid.pageSize)}
        rowId={(row) => row.name}
        total={fitting.length}
        query={query}
        search={{ key: "q", placeholder: t`模型名称` }}
        filters={filters}
        toolbar={
          <>
            <SwitchField
              label={t`显示倍率`}
              checked={unit === "ratio"}
              onCheckedChange={(on) => setUnit(on ? "ratio" : "usd")}
            />
            <Button disabled={!tables} onClick={() => tables && saveFile(tables)}>
              <Download aria-hidden />
              {t`导出`}
            </Button>
            <Button variant="primary" disabled={!tables} onClick={() => grid.setEdit(NEW)}>
              <Plus aria-hidden />
              {t`添加模型`}
            </Button>
          </>
        }
        onOpen={(row) => grid.setEdit(row.name)}
        onEdit={(row) => grid.setEdit(row.name)}
        rowActions={rowActions}
        bulkActions={({ ids }) => [
          { id: "price", label: t`设置价格`, icon: Pencil, onSelect: () => setMany({ kind: "price", names: ids }) },
          { id: "scale", label: t`按比例调整`, icon: Percent, onSelect: () => setMany({ kind: "scale", names: ids }) },
          { id: "reset", label: t`恢复默认`, icon: RotateCcw, onSelect: () => reset(ids) },
          { id: "delete", label: t`删除价格`, icon: Trash2, danger: true, onSelect: () => remove(ids) },
        ]}
        shaded={(row) => !row.served}
        empty={{ title: t`没有符合条件的模型` }}
      />
      {tables && (editing !== null || many?.kind === "price") ? (
        <PriceForm
          key={editing ?? "many"}
          tables={tables}
          names={editing === NEW ? [] : editing !== null ? [editing] : (many?.names ?? [])}
          taken={new Set(prices.rows.filter(({ numbers }) => !sameNumbers(numbers, {})).map(({ name }) => name))}
          saving={saver.saving}
          onSave={(after) => saver.save(tables, after)}
          onClose={() => (editing === null ? setMany(null) : grid.setEdit(null))}
        />
      ) : null}
      {tables && many?.kind === "scale" ? (
        <ScaleDialog
          tables={tables}
          names={many.names}
          saving={saver.saving}
          onSave={(after) => saver.save(tables, after)}
          onClose={() => setMany(null)}
        />
      ) : null}
    </>
  );
}

function usePriceFilters(): GridFilter[] {
  const { t } = useLingui();
  return [
    {
      key: "show",
      label: t`显示`,
      kind: "choice",
      options: [
        { value: "unpriced", label: t`未定价` },
        { value: "custom", label: t`与默认不同` },
        { value: "served", label: t`渠道正在提供` },
        { value: "call", label: t`按次` },
        { value: "second", label: t`按秒` },
        { value: "token", label: t`按量` },
      ],
    },
  ];
}

/** The tables as a file that the import reads. */
function saveFile(tables: RatioTables): void {
  const all = Object.fromEntries(priceKeys.map((key) => [key, tables[key]]));
  const url = URL.createObjectURL(new Blob([JSON.stringify(all, null, 2)], { type: "application/json" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: "weir-prices.json" });
  link.click();
  URL.revokeObjectURL(url);
}

function SourceBadge({ row }: { row: PriceRow }) {
  const { t } = useLingui();
  if (row.source === "custom") return <Badge hue="violet">{t`自定义`}</Badge>;
  if (row.source === "built-in") return <Badge>{t`默认`}</Badge>;
  return (
    <Badge hue={row.served ? "orange" : "grey"} title={row.served ? t`调用会被拒绝` : undefined}>{t`未定价`}</Badge>
  );
}

/** What a model earned, and its calls. */
function Used({ use }: { use: ModelUse | undefined }) {
  const { t } = useLingui();
  if (!use) return <span className="text-muted">—</span>;
  const calls = formatNumber(use.count);
  return (
    <span className="tabular-nums" title={t`${calls} 次调用`}>
      {formatDollars(use.quota, quotaPerUnit())}
    </span>
  );
}

function usePriceColumns(unit: Unit, uses: Uses): readonly GridColumn<PriceRow>[] {
  const { t } = useLingui();
  return useMemo(() => {
    const cell =
      (key: keyof PriceNumbers) =>
      ({ name, numbers }: PriceRow) => {
        const shown = textsOf(numbers, key === "ModelPrice" ? "usd" : unit)[key];
        const muted = shown === "" || (key !== "ModelPrice" && numbers.ModelPrice !== undefined);
        const text =
          shown === ""
            ? "—"
            : key === "ModelPrice" && unitOf(name) === "second"
              ? t`$${shown} / 秒`
              : unit === "usd" || key === "ModelPrice"
                ? `$${shown}`
                : shown;
        return <span className={muted ? "text-muted tabular-nums" : "tabular-nums"}>{text}</span>;
      };
    const usd = unit === "usd";
    return [
      {
        id: "name",
        header: t`模型`,
        width: 260,
        grow: true,
        fixed: true,
        sortable: true,
        card: "title",
        cell: ({ name }) => (
          <span className="flex min-w-0 items-center gap-2">
            <VendorLogo vendor={vendorOf(name)?.key ?? ""} model={name} />
            <span className="truncate font-mono text-xs" title={name}>
              {name}
            </span>
          </span>
        ),
      },
      { id: "source", header: t`来源`, width: 96, card: "status", cell: (row) => <SourceBadge row={row} /> },
      { id: "price", header: t`每次`, width: 100, align: "end", card: "fact", cell: cell("ModelPrice") },
      {
        id: "input",
        header: usd ? t`输入` : t`模型倍率`,
        width: 116,
        align: "end",
        sortable: true,
        card: "fact",
        cell: cell("ModelRatio"),
      },
      {
        id: "output",
        header: usd ? t`输出` : t`补全倍率`,
        width: 116,
        align: "end",
        card: "fact",
        cell: cell("CompletionRatio"),
      },
      {
        id: "used",
        header: t`近 7 天使用`,
        width: 132,
        align: "end",
        sortable: true,
        cell: ({ name }) => <Used use={uses.get(name)} />,
      },
      { id: "cache", header: usd ? t`缓存读取` : t`缓存倍率`, width: 116, align: "end", cell: cell("CacheRatio") },
      {
        id: "write",
        header: usd ? t`缓存写入` : t`缓存写入倍率`,
        width: 116,
        align: "end",
        hidden: true,
        cell: cell("CreateCacheRatio"),
      },
    ] satisfies GridColumn<PriceRow>[];
  }, [t, unit, uses]);
}
