import { keepPreviousData } from "@tanstack/react-query";
import { useLingui } from "@lingui/react/macro";
import { type RefObject, useEffect, useRef, useState } from "react";
import { LOG_TYPE, LOG_TYPE_NAMES } from "../../../shared/log";
import { logPlace, SEARCHED_ROWS } from "../../../shared/log-list";
import { ROLE } from "../../../shared/roles";
import { DataGrid } from "../../components/data-grid/data-grid";
import { listedPage, openBeside } from "../../components/data-grid/listed-page";
import type { GridFilter } from "../../components/data-grid/types";
import { Page } from "../../components/page";
import { Count, Quota } from "../../components/quota";
import { formatTime } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { lazy } from "../../lib/lazy";
import { useUser } from "../../lib/session";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { LogCleaning } from "./log-cleaning";
import { useLogColumns } from "./log-columns";
import { LogCauses } from "./log-causes";
import { type Counted, countedOptions, LogChart, RangeButtons } from "./log-chart";
import { askedFilter, askedPage, filterQuery, type LogFilterKey } from "./log-filter";
import { LiveSwitch } from "./log-live";
import { ChannelName, ChannelPicker, ModelPicker, TokenName, TokenPicker, UserPicker } from "./log-pickers";
import { type LogRange, useLogGrid } from "./log-range";
import { joinRows, useLogTail } from "./log-tail";

const LogInspector = lazy(async () => ({ default: (await import("./log-inspector")).LogInspector }));

/** The usage log: an ordinary user's own rows, all users' for administrators. `?open=<id>` opens the inspector. */
export default function LogPage() {
  const { t } = useLingui();
  const role = useUser()?.role ?? 0;
  const admin = role >= ROLE.admin;
  const { grid, range, refresh } = useLogGrid();
  const filter = askedFilter(grid.filters, admin);
  const paging = askedPage(grid);
  const options = { placeholderData: keepPreviousData, meta: { quiet: true } };
  const all = trpc.log.page.useQuery({ ...filter, ...paging }, { ...options, enabled: admin });
  const own = trpc.log.ownPage.useQuery({ ...filter, ...paging }, { ...options, enabled: !admin });
  const list = admin ? all : own;
  const again = () => {
    refresh();
    return list.refetch();
  };

  const [following, setFollowing] = useState(false);
  const [hovered, setHovered] = useState(false);
  const listBox = useRef<HTMLDivElement>(null);
  const scrolled = useScrolled(listBox, following);
  // New rows are the first page's.
  const on = following && grid.page === 1;
  // A range that ends with the time is open: a page left open shows the newer rows, too.
  const [opened] = useState(() => Date.now() / 1000);
  const open = range !== undefined || (filter.end_timestamp !== undefined && filter.end_timestamp > opened);
  const live = useLogTail({
    on,
    query: filterQuery(open ? { ...filter, end_timestamp: undefined } : filter),
    held: hovered || scrolled || grid.open !== null,
  });
  const listed = list.data?.items;
  const rows = on && listed ? joinRows(live.rows, listed) : listed;
  const columns = useLogColumns(admin);
  // Fetched when a row is first opened, and kept from then on, so that it can close in its own time.
  const [inspected, setInspected] = useState(grid.open !== null);
  if (grid.open !== null && !inspected) setInspected(true);
  const follow = (wanted: boolean) => {
    setFollowing(wanted);
    // What was written since the list was read is no news any more.
    if (wanted) void again();
  };

  const showNewest = () => {
    listBox.current?.querySelector("[role=region]")?.scrollTo(0, 0);
    if ((listBox.current?.getBoundingClientRect().top ?? 0) < 0) scrollTo(0, 0);
    live.flush();
  };

  const filters = useFilterFields(admin, range !== undefined);
  const ready = list.isSuccess && !list.isPlaceholderData;

  return (
    <Page
      title={t`使用日志`}
      actions={
        <>
          <Totals admin={admin} filter={filter} ready={ready} came={live.came} />
          {role >= ROLE.root ? <Cleaning onCleaned={() => void list.refetch()} /> : null}
        </>
      }
    >
      <SearchedFrom
        time={list.data?.searched_from}
        onFurther={(end) => grid.setFilters({ end_timestamp: String(end) })}
      />
      <div className="mb-3 grid gap-2">
        <RangeButtons
          range={range}
          onChange={(next) => grid.setFilters({ range: next, start_timestamp: "", end_timestamp: "" }, true)}
        />
        <LogChart
          admin={admin}
          filter={filter}
          ready={ready}
          came={live.came}
          onZoom={({ start, end }) =>
            grid.setFilters({ start_timestamp: String(start), end_timestamp: String(end) }, true)
          }
        />
        {filter.type === LOG_TYPE.error ? (
          <LogCauses admin={admin} filter={filter} ready={ready} onOpen={grid.setOpen} />
        ) : null}
      </div>
      <div
        ref={listBox}
        // The rows, not the bar above them: a pointer that has just pressed the switch rests there.
        onPointerOver={({ target }) =>
          setHovered(target instanceof Element && target.closest("[role=region]") !== null)
        }
        onPointerLeave={() => setHovered(false)}
      >
        <DataGrid
          grid={grid}
          label={t`使用日志`}
          columns={columns}
          {...listedPage({ ...list, refetch: again }, grid.pageSize)}
          rows={rows}
          shown={listed?.length ?? 0}
          destinationOf={logPlace}
          search={{ key: "model_name", placeholder: t`模型名称` }}
          filters={filters}
          views={[
            { id: "errors", title: t`错误`, filters: { type: String(LOG_TYPE.error) } },
            { id: "consume", title: t`消费`, filters: { type: String(LOG_TYPE.consume) } },
            { id: "hour", title: t`最近 1 小时`, filters: { range: "1h" } },
            { id: "day", title: t`最近 24 小时`, filters: { range: "24h" } },
            { id: "three-days", title: t`最近 3 天`, filters: { range: "3d" } },
            { id: "week", title: t`最近 7 天`, filters: { range: "7d" } },
          ]}
          toolbar={<LiveSwitch on={following} onChange={follow} live={{ ...live, flush: showNewest }} />}
          onOpen={(row) => grid.setOpen(row.id)}
          onExport={(format) =>
            void import("./log-download").then(({ downloadLog }) => downloadLog(format, filterQuery(filter)))
          }
          empty={{ title: t`还没有日志`, description: t`用令牌发起一次调用，它的去向和账单会出现在这里。` }}
        />
      </div>
      {inspected ? (
        <LogInspector
          id={grid.open}
          known={rows?.find((row) => String(row.id) === grid.open)}
          admin={admin}
          onClose={() => grid.setOpen(null)}
          onStep={(by) => openBeside(rows, grid.open, by, grid.setOpen)}
        />
      ) : null}
    </Page>
  );
}

/** Whether the beginning of the list is out of sight, by its own scroll area or the window. Watched while `on`. */
function useScrolled(box: RefObject<HTMLElement | null>, on: boolean): boolean {
  const [scrolled, setScrolled] = useState(false);
  useEffect(() => {
    if (!on) return undefined;
    const look = () => {
      const area = box.current?.querySelector("[role=region]");
      setScrolled((area?.scrollTop ?? 0) > 0 || (box.current?.getBoundingClientRect().top ?? 0) < 0);
    };
    look();
    // Scrolling does not bubble.
    document.addEventListener("scroll", look, { capture: true, passive: true });
    return () => document.removeEventListener("scroll", look, { capture: true });
  }, [box, on]);
  return on && scrolled;
}

function useFilterFields(admin: boolean, ranged: boolean): readonly (GridFilter & { key: LogFilterKey })[] {
  const { t } = useLingui();
  const ranges: Record<LogRange, string> = {
    today: t`今天`,
    "1h": t`最近 1 小时`,
    "24h": t`最近 24 小时`,
    "3d": t`最近 3 天`,
    "7d": t`最近 7 天`,
    "30d": t`最近 30 天`,
  };
  const asTyped = (value: string) => value;
  return [
    {
      key: "type",
      label: t`类型`,
      kind: "choice",
      options: Object.values(LOG_TYPE).map((type) => ({
        value: String(type),
        label: LOG_TYPE_NAMES[type][currentLanguage()],
      })),
    },
    {
      key: "range",
      label: t`时间范围`,
      kind: "choice",
      options: Object.entries(ranges).map(([value, label]) => ({ value, label })),
    },
    { key: "start_timestamp", label: t`开始时间`, kind: "time", unset: ranged },
    { key: "end_timestamp", label: t`结束时间`, kind: "time", unset: ranged },
    ...(admin
      ? ([
          {
            key: "username",
            label: t`用户名`,
            kind: "own",
            control: (props) => <UserPicker {...props} />,
            shown: asTyped,
          },
          {
            key: "channel",
            label: t`渠道 ID`,
            kind: "own",
            control: (props) => <ChannelPicker {...props} />,
            shown: (id) => <ChannelName id={id} />,
          },
        ] satisfies (GridFilter & { key: LogFilterKey })[])
      : []),
    {
      key: "model_name",
      label: t`模型`,
      kind: "own",
      control: (props) => <ModelPicker {...props} />,
      shown: asTyped,
    },
    {
      key: "token_id",
      label: t`令牌 ID`,
      kind: "own",
      control: (props) => <TokenPicker {...props} />,
      shown: (id) => <TokenName id={id} />,
    },
    { key: "token_name", label: t`令牌名称`, kind: "text" },
    { key: "group", label: t`分组`, kind: "text" },
    { key: "keyword", label: t`关键字`, kind: "text" },
    { key: "request_id", label: t`请求 ID`, kind: "text" },
    ...(admin ? ([{ key: "upstream_request_id", label: t`上游请求 ID`, kind: "text" }] as const) : []),
  ];
}

/**
 * Consumption under the filters, and the pace of the last minute. Asked once the rows are there: a sum may take longer.
 */
function Totals({ admin, filter, ready, came }: Counted) {
  const { t } = useLingui();
  const options = countedOptions(came);
  const all = trpc.log.stat.useQuery(filter, { ...options, enabled: ready && admin });
  const own = trpc.log.ownStat.useQuery(filter, { ...options, enabled: ready && !admin });
  const { data } = admin ? all : own;
  return (
    <dl className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
      <div className="flex gap-1.5">
        <dt className="text-muted">{t`消耗`}</dt>
        <dd>{data ? <Quota value={data.quota} /> : "—"}</dd>
      </div>
      <div className="flex gap-1.5">
        <dt className="text-muted">RPM</dt>
        <dd>{data ? <Count value={data.rpm} /> : "—"}</dd>
      </div>
      <div className="flex gap-1.5">
        <dt className="text-muted">TPM</dt>
        <dd>{data ? <Count value={data.tpm} /> : "—"}</dd>
      </div>
    </dl>
  );
}

/** What no index finds is looked for in the newest rows of the range: says how far, and goes on from there. */
function SearchedFrom({ time, onFurther }: { time: number | undefined; onFurther: (end: number) => void }) {
  const { t } = useLingui();
  if (time === undefined) return null;
  const [rows, moment] = [SEARCHED_ROWS.toLocaleString(), formatTime(time)];
  return (
    <div
      role="status"
      className="mb-3 flex flex-wrap items-center gap-2 rounded-lg bg-blue-bg px-3 py-2 text-sm text-blue-fg"
    >
      <span className="flex-1">{t`只在最近 ${rows} 行中查找，到 ${moment} 为止。`}</span>
      <Button size="sm" onClick={() => onFurther(time)}>{t`继续向前查找`}</Button>
    </div>
  );
}

function Cleaning({ onCleaned }: { onCleaned: () => void }) {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t`清理日志`}</Button>
      <Dialog open={open} onOpenChange={setOpen} title={t`清理日志`}>
        <LogCleaning onCleaned={onCleaned} />
      </Dialog>
    </>
  );
}
