import { useLingui } from "@lingui/react/macro";
import { type PriceFormProps, RowsForm } from "./rows-form";
import { toolRows, toolText } from "./tier-rows";

const KEY = "tool_price_setting.prices";

/** What the calls of server-side tools cost, for all models or for some. */
export default function ToolPrices(props: PriceFormProps) {
  const { t } = useLingui();
  return (
    <RowsForm
      {...props}
      option={KEY}
      label={t`工具价格`}
      hint={t`服务端工具每千次调用的价格（美元），在 Token 费用之外收取。模型留空表示所有模型，可以 * 结尾；写得最具体的一行生效。`}
      columns={[
        { key: "tool", label: t`工具` },
        { key: "model", label: t`模型` },
        { key: "usd", label: t`美元 / 千次`, numeric: true },
      ]}
      first={toolRows(props.prices.tables[KEY])}
      read={toolText}
      words={(row) => ({
        tool: t`第 ${row} 行：请输入工具名称，不能含冒号`,
        usd: t`第 ${row} 行：价格须为不小于 0 的数字`,
        twice: t`第 ${row} 行：重复`,
      })}
    />
  );
}
