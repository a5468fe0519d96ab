import { useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import type { ModelStatus } from "../../../shared/model-status";
import { EmptyState } from "../../components/empty-state";
import { ErrorPanel } from "../../components/error-panel";
import { Page } from "../../components/page";
import { cn } from "../../lib/cn";
import { formatMilliseconds, formatTime } from "../../lib/format";
import { trpc } from "../../lib/trpc";
import { Badge, type Hue } from "../../ui/badge";
import { Input } from "../../ui/input";
import { Skeleton } from "../../ui/skeleton";
import { Table, Td, Th } from "../../ui/table";

const FRESH_MS = 60_000;
const percent = (share: number): string => `${(Math.floor(share * 1000) / 10).toFixed(1)}%`;
const hueOf = (share: number): Hue => (share >= 0.95 ? "green" : share >= 0.8 ? "yellow" : "red");

/** How each model did in the last day, by the calls of all users. */
export default function StatusPage() {
  const { t } = useLingui();
  const [words, setWords] = useState("");
  const query = trpc.status.models.useQuery(undefined, {
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
    placeholderData: keepPreviousData,
    retry: false,
    meta: { quiet: true },
  });
  const board = query.data;
  const needle = words.trim().toLowerCase();
  const models = (board?.models ?? [])
    .filter(({ model }) => model.toLowerCase().includes(needle))
    // Those with calls first, each part in the order of names.
    .toSorted((a, b) => Number(a.success === null) - Number(b.success === null));
  return (
    <Page title={t`模型状态`} description={t`近 24 小时真实调用的统计；调用过少的不显示。`}>
      {query.error ? (
        <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
      ) : !board ? (
        <Skeleton className="h-64" />
      ) : (
        <>
          <Input
            type="search"
            className="w-72"
            aria-label={t`模型名称`}
            placeholder={t`模型名称`}
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
          {models.length === 0 ? <EmptyState title={t`没有模型`} /> : <Board models={models} since={board.since} />}
        </>
      )}
    </Page>
  );
}

function Board({ models, since }: { models: readonly ModelStatus[]; since: number }) {
  const { t } = useLingui();
  return (
    <Table wide aria-label={t`模型状态`}>
      <thead>
        <tr>
          <Th>{t`模型`}</Th>
          <Th>{t`成功率`}</Th>
          <Th className="text-right">{t`首字`}</Th>
          <Th className="text-right">{t`Token / 秒`}</Th>
          <Th>{t`近 24 小时`}</Th>
        </tr>
      </thead>
      <tbody>
        {models.map(({ model, success, first_token_ms, tokens_per_second, hours }) => (
          <tr key={model}>
            <Td className="font-mono text-xs wrap-anywhere">{model}</Td>
            <Td>
              {success === null ? (
                <span className="text-muted">—</span>
              ) : (
                <Badge hue={hueOf(success)}>{percent(success)}</Badge>
              )}
            </Td>
            <Td className="text-right tabular-nums">
              {first_token_ms === null ? "—" : formatMilliseconds(first_token_ms)}
            </Td>
            <Td className="text-right tabular-nums">{tokens_per_second ?? "—"}</Td>
            <Td>
              <Hours hours={hours} since={since} />
            </Td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

const LOOKS: Readonly<Record<string, string>> = {
  green: "h-full bg-green-solid",
  yellow: "h-3/4 bg-yellow-solid",
  red: "h-1/2 bg-red-solid",
};

/** One bar an hour; the height says the same as the colour, the title says it in words. */
function Hours({ hours, since }: { hours: readonly (number | null)[]; since: number }) {
  const { t } = useLingui();
  const known = hours.filter((share) => share !== null);
  const worst = percent(Math.min(...known));
  const label = known.length === 0 ? t`近 24 小时调用过少` : t`近 24 小时，最差一小时的成功率 ${worst}`;
  return (
    <span role="img" aria-label={label} className="flex h-5 w-32 items-end gap-px">
      {hours.map((share, index) => {
        const when = formatTime(since + index * 3600).slice(5, 16);
        return (
          <span
            key={when}
            title={share === null ? when : `${when} · ${percent(share)}`}
            className={cn("flex-1 rounded-[1px]", share === null ? "h-0.5 bg-line-control/50" : LOOKS[hueOf(share)])}
          />
        );
      })}
    </span>
  );
}
