import { keepPreviousData } from "@tanstack/react-query";
import { useLingui } from "@lingui/react/macro";
import { LOG_TYPE, LOG_TYPE_NAMES } from "../../../shared/log";
import { ROLE } from "../../../shared/roles";
import { DataGrid } from "../../components/data-grid/data-grid";
import { type GridState, useGridState } from "../../components/data-grid/grid-state";
import type { GridFilter } from "../../components/data-grid/types";
import { Page } from "../../components/page";
import { Count, Quota } from "../../components/quota";
import { currentLanguage } from "../../lib/i18n";
import { useUser } from "../../lib/session";
import { trpc } from "../../lib/trpc";
import { useLogColumns } from "./log-columns";
import { LogInspector } from "./log-inspector";

const FILTERS = [
  "type", "start_timestamp", "end_timestamp", "token_name", "model_name", "group", "request_id", "channel", "username",
] as const;
type Filter = (typeof FILTERS)[number];

const whole = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);

/** The filters as the calls take them. */
function asked({ filters: f }: GridState<Filter>, admin: boolean) {
  const own = {
    type: whole(f.type),
    start_timestamp: whole(f.start_timestamp),
    end_timestamp: whole(f.end_timestamp),
    token_name: f.token_name || undefined,
    model_name: f.model_name || undefined,
    group: f.group || undefined,
    request_id: f.request_id || undefined,
  };
  return admin ? { ...own, channel: whole(f.channel), username: f.username || undefined } : own;
}

/** The usage log: an ordinary user's own rows, everybody's for administrators. `?open=<id>` opens the inspector. */
export default function LogPage() {
  const { t } = useLingui();
  const admin = (useUser()?.role ?? 0) >= ROLE.admin;
  const grid = useGridState({ name: "log", filterKeys: FILTERS });
  const filter = asked(grid, admin);
  const paging = { p: grid.page, page_size: grid.pageSize };
  const options = { placeholderData: keepPreviousData, meta: { quiet: true } };
  const all = trpc.log.page.useQuery({ ...filter, ...paging }, { ...options, enabled: admin });
  const own = trpc.log.ownPage.useQuery({ ...filter, ...paging }, { ...options, enabled: !admin });
  const list = admin ? all : own;
  const rows = list.data?.items;
  const columns = useLogColumns(admin);

  const filters: GridFilter[] = [
    {
      key: "type", label: t`类型`, kind: "choice",
      options: Object.values(LOG_TYPE).map((type) => ({ value: String(type), label: LOG_TYPE_NAMES[type][currentLanguage()] })),
    },
    { key: "start_timestamp", label: t`开始时间`, kind: "time" },
    { key: "end_timestamp", label: t`结束时间`, kind: "time" },
    { key: "token_name", label: t`令牌名称`, kind: "text" },
    { key: "group", label: t`分组`, kind: "text" },
    { key: "request_id", label: t`请求 ID`, kind: "text" },
    ...(admin
      ? ([
          { key: "channel", label: t`渠道 ID`, kind: "text" },
          { key: "username", label: t`用户名`, kind: "text" },
        ] satisfies GridFilter[])
      : []),
  ];

  const step = (by: 1 | -1) => {
    const at = rows?.findIndex((row) => String(row.id) === grid.open) ?? -1;
    const next = at < 0 ? undefined : rows?.[at + by];
    if (next) grid.setOpen(next.id);
  };

  return (
    <Page title={t`使用日志`} actions={<Totals admin={admin} filter={filter} />}>
      <DataGrid
        grid={grid}
        label={t`使用日志`}
        columns={columns}
        rows={rows}
        rowId={(row) => String(row.id)}
        total={list.data?.total}
        query={list}
        search={{ key: "model_name", placeholder: t`模型名称` }}
        filters={filters}
        views={[
          { id: "errors", title: t`错误`, filters: { type: String(LOG_TYPE.error) } },
          { id: "consume", title: t`消费`, filters: { type: String(LOG_TYPE.consume) } },
        ]}
        onOpen={(row) => grid.setOpen(row.id)}
        empty={{ title: t`还没有日志`, description: t`用令牌发起一次调用，它的去向和账单会出现在这里。` }}
      />
      <LogInspector
        id={grid.open}
        known={rows?.find((row) => String(row.id) === grid.open)}
        admin={admin}
        onClose={() => grid.setOpen(null)}
        onStep={step}
      />
    </Page>
  );
}

/** Consumption under the filters, and the pace of the last minute. */
function Totals({ admin, filter }: { admin: boolean; filter: ReturnType<typeof asked> }) {
  const { t } = useLingui();
  const options = { placeholderData: keepPreviousData, meta: { quiet: true } };
  const all = trpc.log.stat.useQuery(filter, { ...options, enabled: admin });
  const own = trpc.log.ownStat.useQuery(filter, { ...options, enabled: !admin });
  const { data } = admin ? all : own;
  return (
    <dl className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
      <div className="flex gap-1.5"><dt className="text-muted">{t`消耗`}</dt><dd>{data ? <Quota value={data.quota} /> : "—"}</dd></div>
      <div className="flex gap-1.5"><dt className="text-muted">RPM</dt><dd>{data ? <Count value={data.rpm} /> : "—"}</dd></div>
      <div className="flex gap-1.5"><dt className="text-muted">TPM</dt><dd>{data ? <Count value={data.tpm} /> : "—"}</dd></div>
    </dl>
  );
}
