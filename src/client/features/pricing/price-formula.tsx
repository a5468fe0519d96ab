import { useLingui } from "@lingui/react/macro";
import { Sigma } from "lucide-react";
import { Button } from "../../ui/button";
import { Popover, PopoverContent, PopoverTrigger } from "../../ui/popover";

/** How a price is calculated, in the specified text. */
export function PriceFormula({ unitsPerDollar }: { unitsPerDollar: number }) {
  const { t } = useLingui();
  const lines: readonly [string, string][] = [
    [t`输入价`, t`模型倍率 × 2 × 分组倍率（美元 / 百万 Token）`],
    [t`输出价`, t`输入价 × 补全倍率`],
    [t`缓存读取价`, t`输入价 × 缓存倍率`],
    [t`按量费用`, t`分组倍率 × 模型倍率 ×（输入 + 输出 × 补全倍率）÷ 500000（美元）`],
    [t`按次费用`, t`单价 × 分组倍率`],
    [t`额度换算`, t`1 美元 = ${unitsPerDollar} 额度`],
  ];
  return (
    <Popover>
      <PopoverTrigger asChild>
        <Button variant="ghost">
          <Sigma aria-hidden />
          {t`计费公式`}
        </Button>
      </PopoverTrigger>
      <PopoverContent align="end" aria-label={t`计费公式`} className="w-[min(420px,calc(100vw-16px))]">
        <dl className="grid gap-2">
          {lines.map(([name, formula]) => (
            <div key={name}>
              <dt className="text-xs text-muted">{name}</dt>
              <dd>{formula}</dd>
            </div>
          ))}
        </dl>
        <p className="mt-3 text-xs text-muted">{t`按精确小数计算，最后只四舍五入一次；有价且有用量的调用至少收 1 额度。`}</p>
      </PopoverContent>
    </Popover>
  );
}
