import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { OptionKey } from "../../../shared/options";
import { groupRatioHue } from "../../components/status";
import { Badge } from "../../ui/badge";
import type { Row } from "../../components/rows-table";
import { RowsEditor } from "./rows-editor";
import { type GroupTexts, groupRows, groupTexts, repeatedName } from "./table-values";
import { useSettings } from "./use-settings";

const OPTIONS = {
  ratio: "GroupRatio",
  usable: "UserUsableGroups",
  routing: "GroupRouting",
} as const satisfies Record<keyof GroupTexts, OptionKey>;
const keys = Object.values(OPTIONS);

/** Groups as a table: name, ratio, routing, whether users may choose it, description. */
export default function GroupTable() {
  const { t } = useLingui();
  const { text, change, problem, generation } = useSettings();
  const texts = { ratio: text(OPTIONS.ratio), usable: text(OPTIONS.usable), routing: text(OPTIONS.routing) };
  const stamp = JSON.stringify([texts, generation]);
  // What is being typed may for a moment be no map ("1.", an empty name, two equal ones) and is kept here.
  const [typed, setTyped] = useState<{ rows: readonly Row[]; stamp: string } | null>(null);
  const rows = typed?.stamp === stamp ? typed.rows : groupRows(texts);
  const complaint = keys.map((key) => problem(key)).find((one) => one !== undefined);
  return (
    <div>
      <RowsEditor
        label={t`分组`}
        columns={[
          { key: "name", label: t`名称` },
          { key: "ratio", label: t`倍率`, numeric: true },
          { key: "score", label: t`按评分选路`, check: true },
          { key: "usable", label: t`用户可选`, check: true },
          { key: "description", label: t`描述` },
        ]}
        rows={rows}
        empty={{ name: "", ratio: "1", score: false, usable: false, description: "" }}
        onRows={(next) => {
          const written = groupTexts(next);
          const repeated = repeatedName(next);
          // A map cannot hold a name twice: saving would lose one of the rows.
          const blocked = repeated === undefined ? undefined : t`分组名称重复：${repeated}`;
          setTyped({ rows: next, stamp: JSON.stringify([written, generation]) });
          change(OPTIONS.ratio, written.ratio, blocked);
          change(OPTIONS.usable, written.usable, blocked);
          change(OPTIONS.routing, written.routing, blocked);
        }}
        json={keys}
        extra={(row) => <Badge hue={groupRatioHue(Number(row["ratio"]))}>{`${String(row["ratio"] || "—")}×`}</Badge>}
      />
      <p className="mt-1 text-xs text-muted">{t`按评分选路：同一优先级内按首字时间、成功率、空闲容量与成本选择渠道，否则按权重`}</p>
      {complaint ? (
        <p role="alert" className="mt-1 text-xs text-red-fg">
          {complaint}
        </p>
      ) : null}
    </div>
  );
}
