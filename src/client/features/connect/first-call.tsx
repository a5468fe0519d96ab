import { useLingui } from "@lingui/react/macro";
import { CircleCheck, CircleX } from "lucide-react";
import { useRef } from "react";
import { Link } from "wouter";
import type { LogView } from "../../../shared/log-list";
import { LOG_TYPE } from "../../../shared/log";
import { TimeAgo } from "../../components/time-ago";
import { formatDollars, formatMilliseconds } from "../../lib/format";
import { quotaPerUnit, useStatus } from "../../lib/status";
import { trpc } from "../../lib/trpc";
import { textOf } from "../log/row-text";

const POLL_MS = 2000;

/** True for the row of a successful call. */
const succeeded = (row: LogView): boolean => row.type === LOG_TYPE.consume && row.end_reason !== "upstream_error";

/**
 * Waits for a call of the token and shows it when it arrives: polls its newest log row every two seconds while the tab
 * is visible, and stops at the first success that was not there before.
 */
export function FirstCall({ tokenId }: { tokenId: number }) {
  const { t } = useLingui();
  // The newest row when the panel opened; undefined until the first answer.
  const known = useRef<number | undefined>(undefined);
  const isNew = (row: LogView | undefined) =>
    row !== undefined && known.current !== undefined && row.id > known.current;
  const newest = trpc.log.own.useQuery(
    { token_id: tokenId, limit: 1 },
    {
      meta: { quiet: true },
      staleTime: 0,
      // Polling goes on through failures: the server may be restarting.
      refetchInterval: ({ state }) => {
        const row = state.data?.items[0];
        return row && isNew(row) && succeeded(row) ? false : POLL_MS;
      },
    },
  );
  const row = newest.data?.items[0];
  if (newest.data && known.current === undefined) known.current = row?.id ?? 0;
  const landed = isNew(row);
  const waiting = !row || !landed || !succeeded(row);

  return (
    <div role="status" aria-live="polite" className="grid gap-1.5">
      {row ? <CallLine row={row} earlier={!landed} /> : null}
      {waiting ? (
        <p className="flex min-h-6 items-center gap-2 text-muted">
          <span aria-hidden className="size-2 animate-pulse rounded-full bg-accent" />
          {row ? t`等待下一个请求…` : t`等待第一个请求…`}
        </p>
      ) : null}
    </div>
  );
}

function CallLine({ row, earlier }: { row: LogView; earlier: boolean }) {
  const { t } = useLingui();
  useStatus();
  const good = succeeded(row);
  const Icon = good ? CircleCheck : CircleX;
  const cost = formatDollars(row.quota, quotaPerUnit(), 6);
  const tokens = row.prompt_tokens + row.completion_tokens;
  const first = firstContentOf(row);
  const facts = good
    ? [
        "200",
        row.model_name,
        first === undefined ? t`耗时 ${wholeSeconds(row.use_time)}` : t`首字 ${formatMilliseconds(first)}`,
        t`${tokens} tokens`,
        cost,
      ]
    : [row.model_name, textOf(row)];

  return (
    <div className={`flex gap-2 ${good ? "text-green-fg" : "text-red-fg"}`}>
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <p className="flex min-w-0 flex-wrap gap-x-2 gap-y-1">
        {earlier ? <span className="text-muted">{t`最近一次`}</span> : null}
        <span className="min-w-0 font-medium wrap-anywhere">
          {good ? t`成功` : t`失败`}
          {" · "}
          {facts.filter(Boolean).join(" · ")}
        </span>
        {earlier ? <TimeAgo value={row.created_at} className="text-muted" /> : null}
        <Link href={`/log?open=${row.id}`} className="text-accent-text underline-offset-2 hover:underline">
          {t`查看日志`}
        </Link>
      </p>
    </div>
  );
}

/** Milliseconds to the first word of a stream; undefined for plain calls. */
function firstContentOf(row: LogView): number | undefined {
  const found = /"frt":(\d+)/.exec(row.other)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** The row keeps the length of a call in whole seconds only. */
const wholeSeconds = (seconds: number): string => (seconds === 0 ? "< 1 s" : `${seconds} s`);
