import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { optionFacts } from "../../../shared/option-facts";
import type { Row } from "../../components/rows-table";
import { currentLanguage } from "../../lib/i18n";
import { RowsEditor } from "./rows-editor";
import { payMethodRows, payMethodText } from "./table-values";
import { useSettings } from "./use-settings";

/** The payment methods as an ordered table, in the order of the wallet's buttons. */
export default function PayMethodTable() {
  const { t } = useLingui();
  const { text, change, problem, generation } = useSettings();
  const stored = text("PayMethods");
  // A row that is half typed is no method yet; it stays all the same.
  const [typed, setTyped] = useState<{ rows: readonly Row[]; text: string; generation: number } | null>(null);
  const rows = typed?.text === stored && typed.generation === generation ? typed.rows : payMethodRows(stored);
  const complaint = problem("PayMethods");
  return (
    <div>
      <RowsEditor
        label={optionFacts.PayMethods.label[currentLanguage()]}
        columns={[
          { key: "name", label: t`名称` },
          { key: "type", label: t`类型` },
          { key: "color", label: t`颜色` },
          { key: "min_topup", label: t`最低数量`, numeric: true },
        ]}
        rows={rows}
        empty={{ name: "", type: "", color: "", min_topup: "" }}
        onRows={(next) => {
          const json = payMethodText(next);
          setTyped({ rows: next, text: json, generation });
          change("PayMethods", json);
        }}
        json={["PayMethods"]}
        ordered
        headed
        extra={({ color }) => (
          <span
            aria-hidden
            className="mb-2 size-4 shrink-0 rounded-full border border-line bg-muted"
            style={color ? { backgroundColor: String(color) } : undefined}
          />
        )}
      />
      <p className="text-xs text-muted">{t`类型是支付网关对它的叫法，如 alipay、wxpay；颜色如 #1677ff；最低数量可留空`}</p>
      {complaint ? (
        <p role="alert" className="mt-1 text-xs text-red-fg">
          {complaint}
        </p>
      ) : null}
    </div>
  );
}
