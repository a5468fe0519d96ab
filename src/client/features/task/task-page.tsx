import { useLingui } from "@lingui/react/macro";
import { useCallback, useState } from "react";
import { TASK_PLATFORMS } from "../../../shared/task";
import type { TaskView } from "../../../shared/task-list";
import { ROLE } from "../../../shared/roles";
import { DataGrid } from "../../components/data-grid/data-grid";
import { useGridState } from "../../components/data-grid/grid-state";
import { listedPage, openBeside } from "../../components/data-grid/listed-page";
import type { GridFilter } from "../../components/data-grid/types";
import { FactLine } from "../../components/facts";
import { Page } from "../../components/page";
import { useUser } from "../../lib/session";
import { trpc } from "../../lib/trpc";
import { CancelButton } from "./cancel-button";
import { JobDrawer, type OpenJob } from "./job-drawer";
import { STATUS_CHOICES } from "./job-looks";
import { platformName, useTaskColumns } from "./task-columns";
import { idOf, jobOptions, listOptions, numberOf, textOf, useJobFilters } from "./use-jobs";

const FILTERS = [
  "task_id",
  "platform",
  "status",
  "start_timestamp",
  "end_timestamp",
  "channel_id",
  "username",
] as const;

/** From the start of today, in the user's own time zone (C-645). */
const startOfToday = (): string => String(Math.floor(new Date().setHours(0, 0, 0, 0) / 1000));

/** Asynchronous tasks: an ordinary user's own, all users' for administrators. `?open=<id>` opens one. */
export default function TaskPage() {
  const { t, i18n } = useLingui();
  const admin = (useUser()?.role ?? 0) >= ROLE.admin;
  const [defaults] = useState(() => ({ start_timestamp: startOfToday() }));
  const grid = useGridState({ name: "task", filterKeys: FILTERS, defaults });
  const { filters: f, setOpen } = grid;
  const { client } = trpc.useUtils();
  const asked = {
    task_id: textOf(f.task_id),
    platform: textOf(f.platform),
    status: textOf(f.status),
    start_timestamp: numberOf(f.start_timestamp),
    end_timestamp: numberOf(f.end_timestamp),
    ...(admin && { channel_id: numberOf(f.channel_id), username: textOf(f.username) }),
  };
  const list = trpc.task.list.useQuery({ page: grid.page, page_size: grid.pageSize, ...asked }, listOptions());
  const onOpen = useCallback((row: TaskView) => setOpen(row.id), [setOpen]);
  const columns = useTaskColumns(admin, onOpen);

  const common = useJobFilters(admin);
  const filters: readonly GridFilter[] = [
    {
      key: "platform",
      label: t`平台`,
      kind: "choice",
      options: Object.keys(TASK_PLATFORMS)
        .filter((platform) => platform !== "mj")
        .map((value) => ({ value, label: platformName(value) })),
    },
    {
      key: "status",
      label: t`状态`,
      kind: "choice",
      options: STATUS_CHOICES.map(({ value, text }) => ({ value, label: i18n._(text) })),
    },
    ...common,
  ];

  return (
    <Page title={t`异步任务`}>
      <DataGrid
        grid={grid}
        label={t`异步任务`}
        columns={columns}
        {...listedPage(list, grid.pageSize)}
        search={{ key: "task_id", placeholder: t`任务 ID` }}
        filters={filters}
        readPage={async (page, page_size) => (await client.task.list.query({ page, page_size, ...asked })).items}
        onOpen={onOpen}
        empty={{ title: t`还没有任务`, description: t`用令牌提交音乐或视频任务，进度和结果会出现在这里。` }}
      />
      {grid.open !== null ? (
        <TaskDrawer
          key={grid.open}
          id={idOf(grid.open)}
          admin={admin}
          onClose={() => setOpen(null)}
          onStep={(by) => openBeside(list.data?.items, grid.open, by, setOpen)}
        />
      ) : null}
    </Page>
  );
}

function TaskDrawer({
  id,
  admin,
  onClose,
  onStep,
}: {
  id: number;
  admin: boolean;
  onClose: () => void;
  onStep: (by: 1 | -1) => void;
}) {
  const { t } = useLingui();
  // No job has this id: the server says that there is none.
  const query = trpc.task.get.useQuery({ id: Number.isNaN(id) ? Number.MAX_SAFE_INTEGER : id }, jobOptions());
  const row = query.data;
  const job: OpenJob | undefined = row && {
    name: row.task_id,
    address: `/task?open=${row.id}`,
    row,
    times: { submitted: row.submit_time, started: row.start_time, finished: row.finish_time },
    files: row.files,
    more: <FactLine name={t`平台`}>{platformName(row.platform)}</FactLine>,
  };
  const actions = row?.cancellable ? <CancelButton id={row.id} /> : null;
  return (
    <JobDrawer
      job={job}
      error={query.error}
      admin={admin}
      actions={actions}
      onClose={onClose}
      onStep={onStep}
      onRetry={() => void query.refetch()}
    />
  );
}
