import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useId, useMemo } from "react";
import type { Catalogue, CatalogueModel } from "../../../shared/price-list";
import { displayPrices, longContextPrices } from "../../../shared/price-display";
import { priceNoteOf } from "../../../shared/price-rows";
import { type CompiledPrice, type FactorName, longContextOf, resolvePrice } from "../../../shared/pricing";
import { vendorOf } from "../../../shared/vendors";
import { EmptyState } from "../../components/empty-state";
import { FieldFrame } from "../../components/form-field";
import { formatNumber } from "../../lib/format";
import { textParam, useUrlState } from "../../lib/url-state";
import { Combobox } from "../../ui/combobox";
import { Select } from "../../ui/select";
import { Table, Td, Th } from "../../ui/table";
import { PriceCalculator } from "../pricing/price-calculator";
import { PriceNote } from "../pricing/price-note";
import { PriceRules } from "../pricing/price-rules";
import type { Prices } from "./use-prices";

const PARAMS = { model: textParam(), group: textParam("default"), user_group: textParam("default") };

const factorNames: Readonly<Record<FactorName, MessageDescriptor>> = {
  model_price: msg`每次价格（美元）`,
  model_ratio: msg`模型倍率`,
  completion_ratio: msg`补全倍率`,
  cache_ratio: msg`缓存倍率`,
  cache_creation_ratio: msg`缓存写入倍率`,
  cache_creation_1h_ratio: msg`缓存写入倍率（1 小时）`,
  image_ratio: msg`图片倍率`,
  image_completion_ratio: msg`图片补全倍率`,
  audio_ratio: msg`音频倍率`,
  audio_completion_ratio: msg`音频补全倍率`,
  group_ratio: msg`分组倍率`,
  user_group_ratio: msg`专属分组倍率（代替分组倍率）`,
};

/** Why a call costs what it costs: each factor, the option and the entry that decided it, and a calculator. */
export default function PriceWhy({ prices }: { prices: Prices }) {
  const { t } = useLingui();
  const ids = { model: useId(), group: useId(), userGroup: useId() };
  const [chosen, patch] = useUrlState(PARAMS);
  const { tables } = prices;
  const models = useMemo(() => prices.rows.map(({ name }) => ({ value: name, label: name })), [prices.rows]);
  const groups = Object.keys(tables.GroupRatio).map((name) => ({ value: name, label: name }));
  const price = chosen.model === "" ? undefined : resolvePrice(chosen.model, chosen.group, chosen.user_group, tables);

  return (
    <div className="grid max-w-[960px] gap-4">
      <div className="flex flex-wrap gap-3">
        <FieldFrame id={ids.model} label={t`模型`} className="w-72">
          <Combobox
            id={ids.model}
            aria-labelledby={`${ids.model}-label`}
            placeholder={t`选择模型`}
            value={chosen.model || null}
            options={models}
            onValueChange={(model) => patch({ model: model ?? "" })}
          />
        </FieldFrame>
        <FieldFrame id={ids.group} label={t`使用的分组`} className="w-44">
          <Select
            id={ids.group}
            aria-labelledby={`${ids.group}-label`}
            value={chosen.group}
            options={groups}
            onValueChange={(group) => patch({ group })}
          />
        </FieldFrame>
        <FieldFrame id={ids.userGroup} label={t`用户的分组`} className="w-44">
          <Select
            id={ids.userGroup}
            aria-labelledby={`${ids.userGroup}-label`}
            value={chosen.user_group}
            options={groups}
            onValueChange={(user_group) => patch({ user_group })}
          />
        </FieldFrame>
      </div>
      {!price ? (
        <EmptyState title={t`选择一个模型`} description={t`这里会说明每个系数由哪个设置项决定。`} />
      ) : price.unpriced ? (
        <EmptyState title={t`未定价`} description={t`没有设置项为它定价，调用会被拒绝。`} />
      ) : (
        <Explanation prices={prices} price={price} {...chosen} />
      )}
    </div>
  );
}

interface ExplanationProps {
  prices: Prices;
  price: CompiledPrice;
  model: string;
  group: string;
  user_group: string;
}

/** The factors of a price with their sources, what they come to, and the calculator. */
function Explanation({ prices, price, model, group, user_group }: ExplanationProps) {
  const { t } = useLingui();
  return (
    <>
      <Table aria-label={t`价格的来源`}>
        <thead>
          <tr>
            <Th>{t`系数`}</Th>
            <Th className="text-right">{t`数值`}</Th>
            <Th>{t`由谁决定`}</Th>
          </tr>
        </thead>
        <tbody>
          {(Object.keys(factorNames) as FactorName[]).map((name) => {
            // its own keys
            const factor = price.why[name];
            if (!factor) return null;
            const replaced = name === "group_ratio" && price.why.user_group_ratio !== undefined;
            return (
              <tr key={name} className={replaced ? "line-through opacity-60" : undefined}>
                <Td>{t(factorNames[name])}</Td>
                <Td className="text-right tabular-nums">{factor.value}</Td>
                <Td>
                  <Source source={factor.source} entry={factor.entry} />
                </Td>
              </tr>
            );
          })}
        </tbody>
      </Table>
      <p>
        {Object.entries(displayPrices(price)).map(([kind, usd]) => (
          <span key={kind} className="mr-4 tabular-nums">
            <code className="text-muted">{kind}</code> {`$${usd}`}
          </span>
        ))}
      </p>
      <PriceNote note={priceNoteOf(prices.tables, model)} />
      {longContextPrices(price).map(({ over, input, output }) => {
        const limit = formatNumber(over);
        return (
          <p
            key={over}
            className="text-ink-2"
          >{t`输入超过 ${limit} 个 Token 的调用：输入 $${input}，输出 $${output}（LongContextRatio）`}</p>
        );
      })}
      <PriceRules rules={price.rules} />
      <section className="grid gap-2">
        <h2 className="text-md">{t`费用计算器`}</h2>
        <Calculator
          key={`${price.model} ${price.group}`}
          prices={prices}
          model={model}
          group={group}
          userGroup={user_group}
        />
      </section>
    </>
  );
}

function Source({ source, entry }: { source: string; entry?: string | undefined }) {
  const { t } = useLingui();
  if (source === "built-in")
    return (
      <>
        {t`内置规则`} <code>{entry}</code>
      </>
    );
  if (source === "default") return <span className="text-muted">{t`没有设置，取默认值`}</span>;
  if (source === "SelfUseModeEnabled")
    return (
      <>
        {t`自用模式`} <code>SelfUseModeEnabled</code>
      </>
    );
  return (
    <>
      <code>{source}</code> → <code>{entry}</code>
    </>
  );
}

/** The public page's calculator over every model that has a price. */
export function Calculator({
  prices,
  model,
  group,
  userGroup,
}: {
  prices: Prices;
  model: string;
  group: string;
  userGroup: string;
}) {
  const { tables, rows } = prices;
  const batch_ratio = Number(prices.text("BatchRatio"));
  const catalogue = useMemo((): Catalogue => {
    const models = rows.map(({ name }): CatalogueModel => {
      const price = resolvePrice(name, group, userGroup, tables);
      const base = { model: name, vendor: vendorOf(name)?.key ?? "", enable_groups: [group] };
      if (price.unpriced) return base;
      const { group_ratio: _group, user_group_ratio: _own, ...factors } = price.why;
      const { rules } = price;
      return { ...base, factors, long_context: longContextOf(name, tables), ...(rules && { rules }) };
    });
    const own = tables.GroupGroupRatio[userGroup]?.[group];
    return {
      models,
      groups: { [group]: { desc: group, ratio: own ?? tables.GroupRatio[group] ?? 1 } },
      user_group: group,
      quota_per_unit: tables.QuotaPerUnit,
      batch_ratio,
    };
  }, [rows, tables, group, userGroup, batch_ratio]);
  const item = catalogue.models.find((candidate) => candidate.model === model);
  return item ? <PriceCalculator catalogue={catalogue} item={item} group={group} /> : null;
}
