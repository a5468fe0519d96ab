import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { GridColumn } from "../../components/data-grid/types";
import { Count } from "../../components/quota";
import { Badge } from "../../ui/badge";
import { CapabilitySigns } from "./capabilities";
import { Availability, Price, useVendorName, VendorLogo } from "./price-cells";
import type { PricedRow } from "./prices";

function Model({ row: { item } }: { row: PricedRow }) {
  const { t } = useLingui();
  return (
    <span className="flex min-w-0 items-center gap-2">
      <VendorLogo vendor={item.vendor} model={item.model} />
      <span className="truncate font-mono text-xs" title={item.model}>
        {item.model}
      </span>
      {item.steps ? <Badge>{t`虚拟`}</Badge> : null}
    </span>
  );
}

/** The factors of the model, without the group's. */
function Ratios({ row: { item, unit } }: { row: PricedRow }) {
  const { t } = useLingui();
  const { factors } = item;
  if (!factors) return <span className="text-muted">—</span>;
  const callPrice = factors.model_price?.value;
  const modelRatio = factors.model_ratio?.value ?? 0;
  const completionRatio = factors.completion_ratio?.value ?? 1;
  const cacheRatio = factors.cache_ratio?.value ?? 1;
  return (
    <span className="truncate text-ink-2 tabular-nums">
      {callPrice === undefined
        ? t`模型 ${modelRatio} · 补全 ${completionRatio} · 缓存 ${cacheRatio}`
        : unit === "second"
          ? t`按秒 ${callPrice}`
          : t`按次 ${callPrice}`}
    </span>
  );
}

/** How a model is billed, in one word. */
function Billing({ row: { billing, unit } }: { row: PricedRow }) {
  const { t } = useLingui();
  if (billing === null) return <span className="text-muted">—</span>;
  if (billing === "ratio") return <Badge hue="blue">{t`按量`}</Badge>;
  return <Badge hue="violet">{unit === "second" ? t`按秒` : t`按次`}</Badge>;
}

const dollars = (price: string | undefined): number | null => (price === undefined ? null : Number(price));

/** The columns of the price list; `ratios` shows the factors behind the prices. */
export function usePriceColumns(group: string, ratios: boolean): readonly GridColumn<PricedRow>[] {
  const { t } = useLingui();
  const vendorName = useVendorName();
  return useMemo(() => {
    const columns: (GridColumn<PricedRow> | false)[] = [
      {
        id: "model",
        header: t`模型`,
        width: 240,
        grow: true,
        fixed: true,
        sortable: true,
        card: "title",
        exported: ({ item }) => ({ model: item.model }),
        cell: (row) => <Model row={row} />,
      },
      {
        id: "vendor",
        header: t`供应商`,
        width: 110,
        // The logo beside the name says it, and the filter.
        hidden: true,
        exported: ({ item }) => ({ vendor: item.vendor }),
        cell: ({ item }) => <span className="truncate">{vendorName(item.vendor)}</span>,
      },
      {
        id: "capabilities",
        header: t`能力`,
        width: 124,
        card: "fact",
        exported: ({ item }) => ({ capabilities: item.capabilities?.join(" ") ?? "" }),
        cell: ({ item }) => <CapabilitySigns item={item} />,
      },
      {
        id: "context",
        header: t`上下文`,
        width: 92,
        align: "end",
        sortable: true,
        exported: ({ item }) => ({ context: item.context ?? null }),
        cell: ({ item }) => (item.context === undefined ? null : <Count value={item.context} />),
      },
      {
        id: "billing",
        header: t`计费`,
        width: 96,
        exported: ({ billing, unit }) => ({ billing: billing === "call" ? unit : billing }),
        cell: (row) => <Billing row={row} />,
      },
      {
        id: "input",
        header: t`输入`,
        width: 116,
        align: "end",
        sortable: true,
        card: "fact",
        exported: ({ shown }) => ({ input: dollars(shown.input) }),
        cell: (row) => <Price row={row} kind="input" />,
      },
      {
        id: "cache_read",
        header: t`缓存读取`,
        width: 108,
        align: "end",
        sortable: true,
        exported: ({ shown }) => ({ cache_read: dollars(shown.cache_read) }),
        cell: (row) => <Price row={row} kind="cache_read" />,
      },
      {
        id: "output",
        header: t`输出`,
        width: 116,
        align: "end",
        sortable: true,
        card: "fact",
        exported: ({ shown }) => ({ output: dollars(shown.output) }),
        cell: (row) => <Price row={row} kind="output" />,
      },
      {
        id: "call",
        header: t`每次`,
        width: 116,
        align: "end",
        sortable: true,
        card: "fact",
        exported: ({ shown }) => ({ call: dollars(shown.call) }),
        cell: (row) => <Price row={row} kind="call" />,
      },
      {
        id: "available",
        header: t`可用性`,
        width: 120,
        card: "status",
        exported: ({ available }) => ({ available }),
        cell: (row) => <Availability row={row} group={group} />,
      },
      ratios && { id: "ratios", header: t`倍率`, width: 250, cell: (row) => <Ratios row={row} /> },
    ];
    return columns.filter((column) => column !== false);
  }, [group, ratios, t, vendorName]);
}
