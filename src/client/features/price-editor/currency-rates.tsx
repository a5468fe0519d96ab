import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { parseOption } from "../../../shared/options";
import { RowsTable } from "../../components/rows-table";
import { Button } from "../../ui/button";
import { rateRows, rateText } from "./tier-rows";
import type { Prices, useSavePrices } from "./use-prices";

const KEY = "CurrencyRates";

/** What a dollar is in the currencies in which channels are paid. */
export default function CurrencyRatesForm({
  prices,
  saver,
}: {
  prices: Prices;
  saver: ReturnType<typeof useSavePrices>;
}) {
  const { t } = useLingui();
  const stored = parseOption(KEY, prices.text(KEY));
  const first = stored.ok ? rateRows(stored.value) : [];
  const [rows, setRows] = useState(first);
  const [tried, setTried] = useState(false);
  const read = rateText(rows);
  const row = "row" in read ? read.row : 0;
  const words = {
    currency: t`第 ${row} 行：须为三个字母的货币代码，美元除外`,
    rate: t`第 ${row} 行：汇率须大于 0`,
    twice: t`第 ${row} 行：重复`,
  };
  const unchanged = JSON.stringify(rows) === JSON.stringify(first);
  const save = () => {
    setTried(true);
    if ("text" in read)
      void saver.saveText(KEY, prices.text(KEY), unchanged ? prices.text(KEY) : read.text).catch(() => false);
  };
  return (
    <div className="grid max-w-[760px] gap-3" role="group" aria-label={t`货币汇率`}>
      <p className="text-muted">{t`一美元兑换多少。渠道以其他货币记录成本时，按这里的汇率换算成美元；没有汇率时成本未知。新的汇率只用于之后的调用。`}</p>
      <RowsTable
        columns={[
          { key: "currency", label: t`货币` },
          { key: "rate", label: t`每美元`, numeric: true },
          { key: "date", label: t`汇率日期`, date: true },
          { key: "source", label: t`来源` },
        ]}
        rows={rows}
        empty={{ currency: "", rate: "", date: "", source: "" }}
        headed
        onRows={(next) => (setRows([...next]), setTried(false))}
      />
      {tried && "problem" in read ? (
        <p role="alert" className="text-red-fg">
          {words[read.problem]}
        </p>
      ) : null}
      <div className="flex gap-2">
        <Button variant="primary" loading={saver.saving} onClick={save}>{t`保存`}</Button>
        <Button disabled={unchanged} onClick={() => (setRows(first), setTried(false))}>{t`撤销修改`}</Button>
      </div>
    </div>
  );
}
