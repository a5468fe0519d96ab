import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { Row } from "../../components/rows-table";
import { RowsEditor } from "./rows-editor";
import { chatRows, chatText } from "./table-values";
import { useSettings } from "./use-settings";

/** What a link may hold to be filled in. */
const PARTS = { key: "{key}", address: "{address}" } as const;

/** The chat links as an ordered table. */
export default function ChatTable() {
  const { t } = useLingui();
  const { text, change, problem, generation } = useSettings();
  const stored = text("Chats");
  // An address that is half typed is no link yet; its row stays all the same.
  const [typed, setTyped] = useState<{ rows: readonly Row[]; text: string; generation: number } | null>(null);
  const rows = typed?.text === stored && typed.generation === generation ? typed.rows : chatRows(stored);
  const complaint = problem("Chats");
  return (
    <div>
      <RowsEditor
        label={t`聊天链接`}
        columns={[
          { key: "name", label: t`名称` },
          { key: "url", label: t`链接` },
        ]}
        rows={rows}
        empty={{ name: "", url: "" }}
        onRows={(next) => {
          const json = chatText(next);
          setTyped({ rows: next, text: json, generation });
          change("Chats", json);
        }}
        json={["Chats"]}
        ordered
      />
      <p className="text-xs text-muted">{t`链接中的 ${PARTS.key} 和 ${PARTS.address} 会被替换为令牌和服务器地址`}</p>
      {complaint ? (
        <p role="alert" className="mt-1 text-xs text-red-fg">
          {complaint}
        </p>
      ) : null}
    </div>
  );
}
