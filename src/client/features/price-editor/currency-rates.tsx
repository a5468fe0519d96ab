import { useLingui } from "@lingui/react/macro";
import { parseOption } from "../../../shared/options";
import { type PriceFormProps, RowsForm } from "./rows-form";
import { rateRows, rateText } from "./tier-rows";

const KEY = "CurrencyRates";

/** What a dollar is in the currencies in which channels are paid. */
export default function CurrencyRatesForm(props: PriceFormProps) {
  const { t } = useLingui();
  const stored = parseOption(KEY, props.prices.text(KEY));
  return (
    <RowsForm
      {...props}
      option={KEY}
      label={t`货币汇率`}
      hint={t`一美元兑换多少。渠道以其他货币记录成本时，按这里的汇率换算成美元；没有汇率时成本未知。新的汇率只用于之后的调用。`}
      columns={[
        { key: "currency", label: t`货币` },
        { key: "rate", label: t`每美元`, numeric: true },
        { key: "date", label: t`汇率日期`, date: true },
        { key: "source", label: t`来源` },
      ]}
      first={stored.ok ? rateRows(stored.value) : []}
      read={rateText}
      words={(row) => ({
        currency: t`第 ${row} 行：须为三个字母的货币代码，美元除外`,
        rate: t`第 ${row} 行：汇率须大于 0`,
        twice: t`第 ${row} 行：重复`,
      })}
    />
  );
}
