import { useLingui } from "@lingui/react/macro";
import { Info } from "lucide-react";
import { useCallback, useState } from "react";
import type { DrawingView } from "../../../shared/task-list";
import { ROLE } from "../../../shared/roles";
import { DataGrid } from "../../components/data-grid/data-grid";
import { useGridState } from "../../components/data-grid/grid-state";
import { listedPage, openBeside } from "../../components/data-grid/listed-page";
import type { GridFilter } from "../../components/data-grid/types";
import { FactLine } from "../../components/facts";
import { Page } from "../../components/page";
import { LookBadge } from "../../components/status-badge";
import { useUser } from "../../lib/session";
import { useStatus } from "../../lib/status";
import { trpc } from "../../lib/trpc";
import { CancelButton } from "../task/cancel-button";
import { JobDrawer, type OpenJob } from "../task/job-drawer";
import { codeLook, DRAWING_ACTIONS, STATUS_CHOICES } from "../task/job-looks";
import { idOf, jobOptions, listOptions, numberOf, textOf, useJobFilters } from "../task/use-jobs";
import { pictureOf, useDrawingColumns } from "./midjourney-columns";

const FILTERS = ["mj_id", "action", "status", "start_timestamp", "end_timestamp", "channel_id", "username"] as const;
const MONTH = 30 * 86_400;

/** The last 30 days (C-644); the address and the filters say seconds, the calls milliseconds. */
const aMonthAgo = (): string => String(Math.floor(Date.now() / 60_000) * 60 - MONTH);
const milliseconds = (text: string): number | undefined => {
  const seconds = numberOf(text);
  return seconds === undefined ? undefined : seconds * 1000;
};

/** Drawing jobs: an ordinary user's own, all users' for administrators. `?open=<id>` opens one. */
export default function MidjourneyPage() {
  const { t, i18n } = useLingui();
  const admin = (useUser()?.role ?? 0) >= ROLE.admin;
  const [defaults] = useState(() => ({ start_timestamp: aMonthAgo() }));
  const grid = useGridState({ name: "midjourney", filterKeys: FILTERS, defaults });
  const { filters: f, setOpen } = grid;
  const end = milliseconds(f.end_timestamp);
  const { client } = trpc.useUtils();
  const asked = {
    mj_id: textOf(f.mj_id),
    action: textOf(f.action),
    status: textOf(f.status),
    start_timestamp: milliseconds(f.start_timestamp),
    // The field means the whole second.
    end_timestamp: end === undefined ? undefined : end + 999,
    ...(admin && { channel_id: numberOf(f.channel_id), username: textOf(f.username) }),
  };
  const list = trpc.midjourney.list.useQuery({ page: grid.page, page_size: grid.pageSize, ...asked }, listOptions());
  const onOpen = useCallback((row: DrawingView) => setOpen(row.id), [setOpen]);
  const columns = useDrawingColumns(admin, onOpen);

  const common = useJobFilters(admin);
  const filters: readonly GridFilter[] = [
    {
      key: "action",
      label: t`类型`,
      kind: "choice",
      options: DRAWING_ACTIONS.map(({ value, text }) => ({ value, label: i18n._(text) })),
    },
    {
      key: "status",
      label: t`任务状态`,
      kind: "choice",
      options: STATUS_CHOICES.map(({ value, text }) => ({ value, label: i18n._(text) })),
    },
    ...common,
  ];

  return (
    <Page title={t`绘图`}>
      <LateHint />
      <DataGrid
        grid={grid}
        label={t`绘图任务`}
        columns={columns}
        {...listedPage(list, grid.pageSize)}
        search={{ key: "mj_id", placeholder: t`任务 ID` }}
        filters={filters}
        readPage={async (page, page_size) => (await client.midjourney.list.query({ page, page_size, ...asked })).items}
        onOpen={onOpen}
        empty={{ title: t`还没有绘图任务`, description: t`用令牌提交绘图任务，进度和图片会出现在这里。` }}
      />
      {grid.open !== null ? (
        <DrawingDrawer
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

/** Without callbacks a result may be late (C-648, C-649). */
function LateHint() {
  const { t } = useLingui();
  if (useStatus().mj_notify_enabled !== false) return null;
  return (
    <p className="flex items-center gap-2 rounded-md bg-blue-bg px-3 py-2 text-blue-fg">
      <Info aria-hidden className="size-4 shrink-0" />
      {t`未启用回调：上游的结果可能会晚 10 到 20 分钟同步。`}
    </p>
  );
}

function DrawingDrawer({
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
  const query = trpc.midjourney.get.useQuery({ id: Number.isNaN(id) ? Number.MAX_SAFE_INTEGER : id }, jobOptions());
  const row = query.data;
  const job: OpenJob | undefined = row && {
    name: row.mj_id,
    address: `/midjourney?open=${row.id}`,
    row,
    times: { submitted: row.submit_time / 1000, started: row.start_time / 1000, finished: row.finish_time / 1000 },
    // A picture that is still being drawn is no file yet.
    files: row.files.length > 0 ? row.files : row.image_url ? [{ media: "image", url: pictureOf(row) }] : [],
    more: (
      <>
        {row.prompt_en ? <FactLine name={t`英文提示词`}>{row.prompt_en}</FactLine> : null}
        <FactLine name={t`提交结果`}>
          <LookBadge look={codeLook(row.code)} />
        </FactLine>
        {row.description ? <FactLine name={t`说明`}>{row.description}</FactLine> : null}
      </>
    ),
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
