import { useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "wouter";
import { SEVERITIES } from "../../../shared/alert-rules";
import { ACCOUNTS } from "../../../shared/alert-targets";
import { type DeliveryView, type IncidentView, SEVERITY_NAMES } from "../../../shared/incidents";
import { DataGrid } from "../../components/data-grid/data-grid";
import { useGridState } from "../../components/data-grid/grid-state";
import { listedPage } from "../../components/data-grid/listed-page";
import { type GridColumn, type GridFilter, timeValue } from "../../components/data-grid/types";
import { ErrorPanel } from "../../components/error-panel";
import { Page } from "../../components/page";
import { TimeAgo } from "../../components/time-ago";
import { formatTime } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Drawer } from "../../ui/drawer";
import { Select } from "../../ui/select";
import { Skeleton } from "../../ui/skeleton";
import { SeverityBadge, StateBadge, textOfIncident, useIncidentActs } from "./incident-look";

const FILTERS = ["state", "severity", "rule", "subject"] as const;
type State = "" | "open" | "closed" | "unseen";
const STATES: readonly State[] = ["open", "closed", "unseen"];

/** What alert rules found: open and past incidents. `?open=<id>` shows one with its messages. */
export default function IncidentPage() {
  const { t } = useLingui();
  const grid = useGridState({ name: "incident", filterKeys: FILTERS });
  const columns = useColumns();
  const { seen } = useIncidentActs();
  const { state, severity, rule, subject } = grid.filters;
  const { client } = trpc.useUtils();
  const asked = {
    state: STATES.find((known) => known === state) ?? "",
    severity: SEVERITIES.find((known) => known === severity) ?? ("" as const),
    rule,
    subject,
  };
  const list = trpc.incident.list.useQuery(
    { p: grid.page, page_size: grid.pageSize, ...asked },
    { placeholderData: keepPreviousData, meta: { quiet: true }, refetchInterval: 30_000 },
  );
  const filters: readonly GridFilter[] = [
    {
      key: "state",
      label: t`状态`,
      kind: "choice",
      options: [
        { value: "open", label: t`未恢复` },
        { value: "closed", label: t`已恢复` },
        { value: "unseen", label: t`未看` },
      ],
    },
    {
      key: "severity",
      label: t`级别`,
      kind: "choice",
      options: SEVERITIES.map((value) => ({ value, label: SEVERITY_NAMES[value][currentLanguage()] })),
    },
    { key: "rule", label: t`规则`, kind: "text" },
  ];
  return (
    <Page
      title={t`告警`}
      actions={
        <Button loading={seen.isPending} onClick={() => !seen.isPending && seen.mutate({})}>{t`全部标为已看`}</Button>
      }
    >
      <DataGrid
        grid={grid}
        label={t`告警`}
        columns={columns}
        {...listedPage(list, grid.pageSize)}
        search={{ key: "subject", placeholder: t`对象，例如 channel:3` }}
        filters={filters}
        readPage={async (p, page_size) => (await client.incident.list.query({ p, page_size, ...asked })).items}
        onOpen={(row) => grid.setOpen(row.id)}
        empty={{ title: t`没有告警`, description: t`告警规则发现的问题会列在这里，恢复后保留 90 天。` }}
      />
      {grid.open !== null && /^\d{1,12}$/.test(grid.open) ? (
        <Detail key={grid.open} id={Number(grid.open)} onClose={() => grid.setOpen(null)} />
      ) : null}
    </Page>
  );
}

function useColumns(): readonly GridColumn<IncidentView>[] {
  const { t } = useLingui();
  return useMemo(
    () => [
      {
        id: "time",
        header: t`开始`,
        width: 110,
        fixed: true,
        card: "fact",
        exported: (row) => ({ opened_at: timeValue(row.opened_at), closed_at: timeValue(row.closed_at) }),
        cell: (row) => <TimeAgo value={row.opened_at} />,
      },
      {
        id: "severity",
        header: t`级别`,
        width: 112,
        card: "status",
        exported: ({ severity }) => ({ severity }),
        cell: (row) => <SeverityBadge severity={row.severity} />,
      },
      { id: "state", header: t`状态`, width: 100, card: "fact", cell: (row) => <StateBadge {...row} /> },
      {
        id: "text",
        header: t`内容`,
        width: 420,
        grow: true,
        card: "title",
        exported: (row) => ({ subject: row.subject, text: textOfIncident(row) }),
        cell: (row) => (
          <span className={row.seen_by === 0 ? "truncate font-medium" : "truncate"} title={textOfIncident(row)}>
            {textOfIncident(row)}
          </span>
        ),
      },
      {
        id: "rule",
        header: t`规则`,
        width: 140,
        exported: ({ rule }) => ({ rule }),
        cell: (row) => <span className="truncate">{row.rule}</span>,
      },
      {
        id: "count",
        header: t`次数`,
        width: 70,
        align: "end",
        exported: ({ count }) => ({ count }),
        cell: (row) => row.count,
      },
    ],
    [t],
  );
}

function Detail({ id, onClose }: { id: number; onClose: () => void }) {
  const { t } = useLingui();
  const query = trpc.incident.detail.useQuery({ id }, { meta: { quiet: true } });
  const incident = query.data;
  return (
    <Drawer open modal={false} onOpenChange={(open) => !open && onClose()} title={t`告警 #${id}`}>
      {query.error ? <ErrorPanel error={query.error} onRetry={() => void query.refetch()} /> : null}
      {incident ? <Facts incident={incident} /> : query.error ? null : <Skeleton className="h-40" />}
    </Drawer>
  );
}

function Facts({ incident }: { incident: IncidentView & { deliveries: DeliveryView[] } }) {
  const { t } = useLingui();
  const { seen, mute } = useIncidentActs();
  const { id, rule, opened_at, last_at, closed_at, muted_until, seen_by, count, deliveries, path } = incident;
  const muted = muted_until * 1000 > Date.now();
  const facts: [string, string][] = [
    [t`规则`, rule],
    [t`开始`, formatTime(opened_at)],
    closed_at === 0 ? [t`最近`, formatTime(last_at)] : [t`恢复`, formatTime(closed_at)],
    [t`次数`, String(count)],
    ...(muted ? [[t`静音至`, formatTime(muted_until)] as [string, string]] : []),
  ];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div className="flex gap-2">
        <SeverityBadge severity={incident.severity} />
        <StateBadge closed_at={closed_at} />
      </div>
      <p className="wrap-anywhere">{textOfIncident(incident)}</p>
      <div className="flex flex-wrap items-center gap-2">
        {path === "/incident" ? null : (
          <Button asChild variant="primary">
            <Link href={path}>{t`前往处理`}</Link>
          </Button>
        )}
        {seen_by === 0 ? (
          <Button loading={seen.isPending} onClick={() => seen.mutate({ ids: [id] })}>{t`标为已看`}</Button>
        ) : null}
        <Select
          aria-label={t`静音`}
          className="w-auto"
          value={undefined}
          placeholder={muted ? t`已静音` : t`静音…`}
          disabled={mute.isPending}
          options={[
            { value: "1", label: t`1 小时` },
            { value: "8", label: t`8 小时` },
            { value: "24", label: t`1 天` },
            { value: "168", label: t`7 天` },
            { value: "0", label: t`不静音` },
          ]}
          onValueChange={(hours) => mute.mutate({ id, hours: Number(hours) })}
        />
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        {facts.map(([name, value]) => (
          <div key={name} className="col-span-2 grid grid-cols-subgrid">
            <dt className="text-muted">{name}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
      <section>
        <h3 className="mb-1 font-medium">{t`通知`}</h3>
        {deliveries.length === 0 ? (
          <p className="text-muted">{t`没有发送通知`}</p>
        ) : (
          <ul className="grid gap-2">
            {deliveries.map((delivery) => (
              <Message key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}

function Message({ delivery: { kind, target, sent_at, next_at, error, attempts } }: { delivery: DeliveryView }) {
  const { t } = useLingui();
  const name = target === ACCOUNTS ? t`超级管理员` : target.startsWith("user:") ? t`用户 #${target.slice(5)}` : target;
  const what = kind === "end" ? t`恢复` : t`开始`;
  const outcome =
    sent_at > 0
      ? t`已发送 ${formatTime(sent_at)}`
      : next_at > 0
        ? t`等待发送 ${formatTime(next_at)}（第 ${attempts + 1} 次）`
        : t`未发送`;
  return (
    <li className="wrap-anywhere">
      {name} · {what} · <span className="text-ink-2">{outcome}</span>
      {error === "" ? null : <p className="text-xs text-red-fg">{error}</p>}
    </li>
  );
}
