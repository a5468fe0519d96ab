import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { RowsTable } from "../../components/rows-table";
import { Button } from "../../ui/button";
import { toolRows, toolText } from "./tier-rows";
import type { Prices, useSavePrices } from "./use-prices";

const KEY = "tool_price_setting.prices";

/** What the calls of server-side tools cost, for all models or for some. */
export default function ToolPrices({ prices, saver }: { prices: Prices; saver: ReturnType<typeof useSavePrices> }) {
  const { t } = useLingui();
  const first = toolRows(prices.tables[KEY]);
  const [rows, setRows] = useState(first);
  const [tried, setTried] = useState(false);
  const read = toolText(rows);
  const row = "row" in read ? read.row : 0;
  const words = {
    tool: t`第 ${row} 行：请输入工具名称，不能含冒号`,
    usd: t`第 ${row} 行：价格须为不小于 0 的数字`,
    twice: t`第 ${row} 行：重复`,
  };
  const unchanged = JSON.stringify(rows) === JSON.stringify(first);
  const save = () => {
    setTried(true);
    if ("text" in read)
      void saver.saveText(KEY, prices.text(KEY), unchanged ? prices.text(KEY) : read.text).catch(() => false);
  };
  return (
    <div className="grid max-w-[760px] gap-3" role="group" aria-label={t`工具价格`}>
      <p className="text-muted">{t`服务端工具每千次调用的价格（美元），在 Token 费用之外收取。模型留空表示所有模型，可以 * 结尾；写得最具体的一行生效。`}</p>
      <RowsTable
        columns={[
          { key: "tool", label: t`工具` },
          { key: "model", label: t`模型` },
          { key: "usd", label: t`美元 / 千次`, numeric: true },
        ]}
        rows={rows}
        empty={{ tool: "", model: "", usd: "" }}
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
