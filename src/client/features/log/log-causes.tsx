import { useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import type { LogCauses as Causes } from "../../../shared/log-list";
import { TimeAgo } from "../../components/time-ago";
import { formatNumber, formatTime } from "../../lib/format";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { NextStep } from "./log-cause";
import type { AskedFilter } from "./log-filter";
import { ChannelLink, ModelLink } from "./log-links";
import { textOf } from "./row-text";

/** Why the failed calls of a filter failed: each cause once, with how often, since when, and what removes it. */
export function LogCauses({
  admin,
  filter,
  ready,
  onOpen,
}: {
  admin: boolean;
  filter: AskedFilter;
  ready: boolean;
  /** Shows a call. */
  onOpen: (id: number) => void;
}) {
  const { t } = useLingui();
  const options = { placeholderData: keepPreviousData, meta: { quiet: true } };
  const all = trpc.log.causes.useQuery(filter, { ...options, enabled: ready && admin });
  const own = trpc.log.ownCauses.useQuery(filter, { ...options, enabled: ready && !admin });
  const { data } = admin ? all : own;
  if (!data || data.items.length === 0) return null;
  const { causes } = data;
  const calls = formatNumber(data.calls);
  const since = formatTime(data.since);
  return (
    <section aria-label={t`失败的原因`} className="rounded-lg border border-line bg-surface">
      <h2 className="border-b border-line px-3 py-2 text-sm font-medium">
        {data.complete
          ? t`${causes} 个原因，${calls} 次调用，自 ${since} 起`
          : t`最近的 ${calls} 次失败有 ${causes} 个原因，自 ${since} 起`}
      </h2>
      <ul className="max-h-72 divide-y divide-line overflow-y-auto print:max-h-none">
        {data.items.map((item) => (
          <Cause key={item.row.id} item={item} onOpen={onOpen} />
        ))}
      </ul>
    </section>
  );
}

function Cause({ item: { row, calls }, onOpen }: { item: Causes["items"][number]; onOpen: (id: number) => void }) {
  const { t } = useLingui();
  const times = formatNumber(calls);
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
      <span className="w-14 shrink-0 text-right font-medium text-red-fg tabular-nums">{t`${times} 次`}</span>
      <span className="min-w-48 flex-1">
        <span className="line-clamp-2 wrap-anywhere">{textOf(row)}</span>
        <span className="text-xs text-muted">
          <code className="font-mono">{row.code}</code> · <Subject row={row} /> · <TimeAgo value={row.created_at} />
        </span>
      </span>
      <Button size="sm" variant="ghost" onClick={() => onOpen(row.id)}>{t`最近一次`}</Button>
      <NextStep row={row} />
    </li>
  );
}

/** What the cause is of: a channel that fails, else what was asked for. */
function Subject({ row }: { row: Causes["items"][number]["row"] }) {
  if (row.code.startsWith("failure.") && row.channel > 0) return <ChannelLink row={row} />;
  return <ModelLink row={row} />;
}
