import { useLingui } from "@lingui/react/macro";
import { History as HistoryIcon } from "lucide-react";
import { useState } from "react";
import { AUDIT_ACTIONS, type AuditAction } from "../../../shared/audit";
import type { History, HistoryEntry } from "../../../shared/history";
import { ErrorPanel } from "../../components/error-panel";
import { formatTime } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { Button } from "../../ui/button";
import { Skeleton } from "../../ui/skeleton";
import { historyLines } from "./history-lines";

interface HistoryQuery {
  data: { pages: History[] } | undefined;
  error: unknown;
  refetch: () => unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

interface HistoryListProps {
  query: HistoryQuery;
  /** What a member is called, where it has a name. */
  nameOf?: (member: string) => string;
  /** How a member's value reads; as it is stored by default. */
  wordOf?: (member: string, value: string) => string;
  /** What an entry is about, where it is not said by its members. */
  named?: ((entry: HistoryEntry) => string) | undefined;
  /** Puts back what was before a change. Its errors are shown by the query client. */
  onRestore: (entry: HistoryEntry) => void;
  /** Id of the change that is being taken back. */
  restoring?: number | undefined;
}

/** Lines of one change before the rest is asked for: an imported table has hundreds. */
const LINES = 10;

const isAction = (text: string): text is AuditAction => Object.hasOwn(AUDIT_ACTIONS, text);

/** Who changed what and when, newest first, each change with the way back to what was before it. */
export function HistoryList({
  query,
  nameOf = (member) => member,
  wordOf = (_, value) => value,
  named,
  onRestore,
  restoring,
}: HistoryListProps) {
  const { t } = useLingui();
  if (query.error) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton className="h-24 rounded-lg" />;
  const entries = query.data.pages.flatMap(({ items }) => items);
  if (entries.length === 0) return <p className="py-6 text-center text-muted">{t`还没有人修改过`}</p>;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <ol aria-label={t`修改历史`} className="divide-y divide-line rounded-lg border border-line bg-surface">
        {entries.map((entry) => (
          <li key={entry.id} className="grid grid-cols-[minmax(0,1fr)] gap-1 px-3 py-2">
            <span className="flex flex-wrap items-center gap-x-2">
              <span className="font-medium">{entry.actor_name}</span>
              <span>
                {named ? named(entry) : isAction(entry.action) ? AUDIT_ACTIONS[entry.action][currentLanguage()] : ""}
              </span>
              <time className="text-xs text-muted tabular-nums">{formatTime(entry.created_at)}</time>
              {entry.restorable ? (
                <Button
                  size="sm"
                  variant="ghost"
                  className="ml-auto"
                  loading={restoring === entry.id}
                  disabled={restoring !== undefined}
                  onClick={() => onRestore(entry)}
                >
                  <HistoryIcon aria-hidden />
                  {t`恢复到修改之前`}
                </Button>
              ) : null}
            </span>
            <Lines entry={entry} nameOf={nameOf} wordOf={wordOf} />
          </li>
        ))}
      </ol>
      {query.hasNextPage ? (
        <Button
          className="justify-self-center"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >{t`更多`}</Button>
      ) : null}
    </div>
  );
}

type LinesProps = { entry: HistoryEntry } & Required<Pick<HistoryListProps, "nameOf" | "wordOf">>;

function Lines({ entry, nameOf, wordOf }: LinesProps) {
  const { t } = useLingui();
  const [all, setAll] = useState(false);
  const none = <span className="text-muted">{t`无`}</span>;
  const lines = historyLines(entry);
  const more = lines.length - LINES;
  if (lines.length === 0) return null;
  return (
    <dl className="grid gap-1 text-xs">
      {(all ? lines : lines.slice(0, LINES)).map(({ path: [member = "", ...inner], before, after }) => (
        <div key={[member, ...inner].join("\n")}>
          <dt className="text-muted">{[nameOf(member), ...inner].join(" › ")}</dt>
          <dd className="font-mono wrap-anywhere">
            {before ? <del className="text-red-fg">{wordOf(member, before)}</del> : none}
            {" → "}
            {after ? <ins className="text-green-fg no-underline">{wordOf(member, after)}</ins> : none}
          </dd>
        </div>
      ))}
      {more > 0 && !all ? (
        <Button size="sm" variant="ghost" className="justify-self-start" onClick={() => setAll(true)}>
          {t`还有 ${more} 处`}
        </Button>
      ) : null}
    </dl>
  );
}
