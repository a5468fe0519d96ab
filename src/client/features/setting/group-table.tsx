import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { groupRatioHue } from "../../components/status";
import { Badge } from "../../ui/badge";
import type { Row } from "../../components/rows-table";
import { RowsEditor } from "./rows-editor";
import { groupRows, groupTexts, repeatedName } from "./table-values";
import { useSettings } from "./use-settings";

/** Groups as a table: name, ratio, whether users may choose it, description. Writes GroupRatio and UserUsableGroups. */
export default function GroupTable() {
  const { t } = useLingui();
  const { text, change, problem, generation } = useSettings();
  const [ratioText, usableText] = [text("GroupRatio"), text("UserUsableGroups")];
  // What is being typed may for a moment be no map ("1.", an empty name, two equal ones) and is kept here.
  const [typed, setTyped] = useState<{
    rows: readonly Row[];
    ratio: string;
    usable: string;
    generation: number;
  } | null>(null);
  const current = typed && typed.ratio === ratioText && typed.usable === usableText && typed.generation === generation;
  const rows = current ? typed.rows : groupRows(ratioText, usableText);
  const complaint = problem("GroupRatio") ?? problem("UserUsableGroups");
  return (
    <div>
      <RowsEditor
        label={t`分组`}
        columns={[
          { key: "name", label: t`名称` },
          { key: "ratio", label: t`倍率`, numeric: true },
          { key: "usable", label: t`用户可选`, check: true },
          { key: "description", label: t`描述` },
        ]}
        rows={rows}
        empty={{ name: "", ratio: "1", usable: false, description: "" }}
        onRows={(next) => {
          const { ratio, usable } = groupTexts(next);
          const repeated = repeatedName(next);
          // A map cannot hold a name twice: saving would lose one of the rows.
          const blocked = repeated === undefined ? undefined : t`分组名称重复：${repeated}`;
          setTyped({ rows: next, ratio, usable, generation });
          change("GroupRatio", ratio, blocked);
          change("UserUsableGroups", usable, blocked);
        }}
        json={["GroupRatio", "UserUsableGroups"]}
        extra={(row) => <Badge hue={groupRatioHue(Number(row["ratio"]))}>{`${String(row["ratio"] || "—")}×`}</Badge>}
      />
      {complaint ? (
        <p role="alert" className="mt-1 text-xs text-red-fg">
          {complaint}
        </p>
      ) : null}
    </div>
  );
}
