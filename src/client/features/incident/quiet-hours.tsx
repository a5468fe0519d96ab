import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { optionFacts } from "../../../shared/option-facts";
import type { Row } from "../../components/rows-table";
import { currentLanguage } from "../../lib/i18n";
import { RowsEditor } from "../setting/rows-editor";
import { dayColumn, newQuietRow, quietRows, quietText } from "../setting/table-values";
import { useSettings } from "../setting/use-settings";

const NAME = "AlertQuietHours";

/** The windows in which only critical alerts are sent: hours, time zone and days of the week. */
export function QuietHours() {
  const { t } = useLingui();
  const { text, change, problem, generation } = useSettings();
  const stored = text(NAME);
  // A time that is half typed is no window yet; its row stays all the same.
  const [typed, setTyped] = useState<{ rows: readonly Row[]; text: string; generation: number } | null>(null);
  const rows = typed?.text === stored && typed.generation === generation ? typed.rows : quietRows(stored);
  const complaint = problem(NAME);
  const days = [t`周一`, t`周二`, t`周三`, t`周四`, t`周五`, t`周六`, t`周日`];
  return (
    <div>
      <RowsEditor
        label={optionFacts[NAME].label[currentLanguage()]}
        columns={[
          { key: "from", label: t`开始（时:分）`, numeric: true },
          { key: "to", label: t`结束（时:分）`, numeric: true },
          { key: "zone", label: t`时区` },
          { key: "except", label: t`例外日期` },
          ...days.map((label, index) => ({ key: dayColumn(index + 1), label, check: true })),
        ]}
        rows={rows}
        empty={newQuietRow(Intl.DateTimeFormat().resolvedOptions().timeZone)}
        onRows={(next) => {
          const json = quietText(next);
          setTyped({ rows: next, text: json, generation });
          change(NAME, json);
        }}
        json={[NAME]}
      />
      <p className="text-xs text-muted">{t`期间只发送严重告警，其余在结束时一并发送；结束早于开始时跨越午夜`}</p>
      {complaint ? (
        <p role="alert" className="mt-1 text-xs text-red-fg">
          {complaint}
        </p>
      ) : null}
    </div>
  );
}
