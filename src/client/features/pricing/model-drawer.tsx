import { useLingui } from "@lingui/react/macro";
import { Check, Minus } from "lucide-react";
import type { Catalogue, CatalogueModel } from "../../../shared/price-list";
import type { PriceRule } from "../../../shared/price-rules";
import { tokenKinds } from "../../../shared/pricing";
import { EmptyState } from "../../components/empty-state";
import { formatNumber } from "../../lib/format";
import { CopyButton } from "../../ui/copy-button";
import { Drawer } from "../../ui/drawer";
import { Table, Td, Th } from "../../ui/table";
import { ModelFacts } from "./capabilities";
import { Availability, Price, RatioBadge, useVendorName } from "./price-cells";
import { PriceCalculator } from "./price-calculator";
import { VideoPrices } from "./video-prices";
import { PriceNote } from "./price-note";
import { FactorRules, PriceRules } from "./price-rules";
import { batchRules, factorLists, longPricesIn, pricesIn, type PricedRow, rulePricesIn } from "./prices";

interface ModelDrawerProps {
  catalogue: Catalogue;
  /** The model's name, from the address. */
  open: string | null;
  rows: readonly PricedRow[];
  group: string;
  onClose: () => void;
}

/** One model: its price in every group, and what calls of it would cost. */
export function ModelDrawer({ catalogue, open, rows, group, onClose }: ModelDrawerProps) {
  const { t } = useLingui();
  const row = rows.find(({ item }) => item.model === open);
  return (
    <Drawer
      open={open !== null}
      onOpenChange={(next) => !next && onClose()}
      modal={false}
      title={<span className="font-mono text-sm">{open ?? ""}</span>}
      headerExtra={open ? <CopyButton text={open} label={t`复制模型名称`} /> : null}
    >
      {row ? (
        <Details key={row.item.model} catalogue={catalogue} row={row} group={group} />
      ) : (
        <EmptyState title={t`没有这个模型`} description={t`它可能已下架，或不在你可用的分组里。`} />
      )}
    </Drawer>
  );
}

function Details({ catalogue, row, group }: { catalogue: Catalogue; row: PricedRow; group: string }) {
  const { t } = useLingui();
  const vendorName = useVendorName();
  const pricesOf = (rule: PriceRule) => rulePricesIn(catalogue, row.item, group, rule);
  return (
    <div className="grid gap-6">
      <p className="flex flex-wrap items-center gap-2">
        <span>{vendorName(row.item.vendor)}</span>
        <Availability row={row} group={group} />
      </p>
      <ModelFacts item={row.item} />
      <section className="grid gap-2">
        <h3 className="text-md">{t`各分组价格`}</h3>
        {row.item.steps ? (
          <StepPrices steps={row.item.steps} row={row} />
        ) : row.billing === null ? (
          <p className="text-muted">{t`站长还没有为它设置价格，调用会被拒绝。`}</p>
        ) : (
          <>
            <PriceMatrix catalogue={catalogue} row={row} group={group} />
            <PriceNote note={row.item.note} />
            <PriceRules rules={row.item.rules} pricesOf={pricesOf} />
            <FactorRules
              lists={[...factorLists(row.item.model), batchRules(catalogue, row.item)]}
              pricesOf={pricesOf}
            />
            <VideoPrices row={row} group={group} />
          </>
        )}
      </section>
      {row.billing === null || row.item.steps ? null : (
        <section className="grid gap-2">
          <h3 className="text-md">{t`费用计算器`}</h3>
          <p className="text-muted">{t`按 ${group} 分组计算。`}</p>
          <PriceCalculator catalogue={catalogue} item={row.item} group={group} />
        </section>
      )}
    </div>
  );
}

/** A virtual model: what may answer, and that the price is that of the one that does. */
function StepPrices({ steps, row }: { steps: NonNullable<CatalogueModel["steps"]>; row: PricedRow }) {
  const { t } = useLingui();
  const kinds = [
    [t`输入`, "input"],
    [t`输出`, "output"],
    [t`每次`, "call"],
  ] as const;
  return (
    <>
      <p className="text-ink-2">{t`虚拟模型：按实际应答的模型计费。可能应答的模型：`}</p>
      <ul className="grid gap-1">
        {steps.map(({ model, group }) => (
          <li key={`${group ?? ""} ${model}`} className="font-mono text-xs wrap-anywhere">
            {group === undefined ? model : `${model} · ${group}`}
          </li>
        ))}
      </ul>
      {kinds.map(([name, kind]) =>
        row.shown[kind] === undefined ? null : (
          <p key={kind} className="flex gap-2">
            <span>{name}</span>
            <Price row={row} kind={kind} />
          </p>
        ),
      )}
    </>
  );
}

function PriceMatrix({ catalogue, row, group }: { catalogue: Catalogue; row: PricedRow; group: string }) {
  const { t } = useLingui();
  const names: Record<string, string> = {
    input: t`输入`,
    cache_read: t`缓存读取`,
    cache_write_5m: t`缓存写入`,
    cache_write_1h: t`缓存写入（1 小时）`,
    audio_in: t`音频输入`,
    image_in: t`图片输入`,
    output: t`输出`,
    audio_out: t`音频输出`,
    image_out: t`图片输出`,
    call: row.unit === "second" ? t`每秒` : t`每次`,
  };
  const kinds = ([...tokenKinds, "call"] as const).filter((kind) => row.base[kind] !== undefined);
  const groups = Object.entries(catalogue.groups);
  return (
    <>
      <Table wide aria-label={t`各分组价格`}>
        <thead>
          <tr>
            <Th>
              {row.billing === "ratio" ? t`美元 / 百万 Token` : row.unit === "second" ? t`美元 / 秒` : t`美元 / 次`}
            </Th>
            {groups.map(([name, { desc, ratio }]) => (
              <Th key={name} title={desc} className="text-right">
                <span className="inline-flex items-center gap-1.5">
                  <span className={name === group ? "text-ink" : undefined}>{name}</span>
                  <RatioBadge ratio={ratio} />
                </span>
              </Th>
            ))}
          </tr>
        </thead>
        <tbody>
          {kinds.map((kind) => (
            <tr key={kind}>
              <Td>{names[kind] ?? kind}</Td>
              {groups.map(([name]) => (
                <Td
                  key={name}
                  className="text-right tabular-nums"
                >{`$${pricesIn(catalogue, row.item, name)[kind] ?? ""}`}</Td>
              ))}
            </tr>
          ))}
          <tr>
            <Td>{t`可用`}</Td>
            {groups.map(([name]) => {
              const served = row.item.enable_groups.includes(name);
              return (
                <Td key={name} className="text-right">
                  {served ? (
                    <Check role="img" aria-label={t`可用`} className="ml-auto size-4 text-green-fg" />
                  ) : (
                    <Minus role="img" aria-label={t`不可用`} className="ml-auto size-4 text-muted" />
                  )}
                </Td>
              );
            })}
          </tr>
        </tbody>
      </Table>
      {longPricesIn(catalogue, row.item, group).map(({ over, input, output }) => {
        const limit = formatNumber(over);
        return (
          <p
            key={over}
            className="text-ink-2"
          >{t`输入超过 ${limit} 个 Token 的调用（${group} 分组）：输入 $${input}，输出 $${output}`}</p>
        );
      })}
    </>
  );
}
