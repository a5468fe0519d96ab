import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import { TASK_PLATFORMS } from "../../../shared/task";
import type { TaskView } from "../../../shared/task-list";
import { type GridColumn, timeValue } from "../../components/data-grid/types";
import { Quota } from "../../components/quota";
import { LookBadge } from "../../components/status-badge";
import { TimeAgo } from "../../components/time-ago";
import { formatTime } from "../../lib/format";
import { Badge } from "../../ui/badge";
import { LogUser } from "../log/log-user";
import { ActionBadge, JobProgress, LongText, ResultButton, Took } from "./job-cells";
import { statusLook } from "./job-looks";

const isPlatform = (text: string): text is keyof typeof TASK_PLATFORMS => Object.hasOwn(TASK_PLATFORMS, text);
/** Who does a job; one of another release by its name. */
export const platformName = (platform: string): string => (isPlatform(platform) ? TASK_PLATFORMS[platform] : platform);

/** The columns of the asynchronous tasks (C-154); channel and user are the administrators'. */
export function useTaskColumns(admin: boolean, onOpen: (row: TaskView) => void): readonly GridColumn<TaskView>[] {
  const { t } = useLingui();
  return useMemo(() => {
    const columns: (GridColumn<TaskView> | false)[] = [
      {
        id: "submit_time",
        header: t`提交时间`,
        width: 96,
        fixed: true,
        card: "fact",
        exported: (row) => ({ submit_time: timeValue(row.submit_time) }),
        cell: (row) => <TimeAgo value={row.submit_time} />,
      },
      {
        id: "finish_time",
        header: t`完成时间`,
        width: 176,
        exported: (row) => ({ finish_time: timeValue(row.finish_time) }),
        cell: (row) =>
          row.finish_time > 0 ? (
            <span className="tabular-nums">{formatTime(row.finish_time)}</span>
          ) : (
            <span className="text-muted">—</span>
          ),
      },
      {
        id: "took",
        header: t`用时`,
        width: 84,
        card: "fact",
        cell: (row) => <Took submitted={row.submit_time} finished={row.finish_time} />,
      },
      admin && {
        id: "channel_id",
        header: t({ message: "渠道", context: "singular" }),
        width: 64,
        align: "end",
        exported: ({ channel_id }) => ({ channel_id: channel_id || null }),
        cell: (row) => <span className="tabular-nums">{row.channel_id || "—"}</span>,
      },
      admin && {
        id: "user",
        header: t`用户`,
        width: 80,
        exported: ({ user_id, username }) => ({ user_id, username }),
        cell: (row) => <LogUser id={row.user_id} name={row.username} />,
      },
      {
        id: "platform",
        header: t`平台`,
        width: 92,
        exported: ({ platform }) => ({ platform }),
        cell: (row) => <Badge hue="violet">{platformName(row.platform)}</Badge>,
      },
      {
        id: "action",
        header: t`类型`,
        width: 144,
        card: "fact",
        exported: ({ action }) => ({ action }),
        cell: (row) => <ActionBadge action={row.action} />,
      },
      {
        id: "task_id",
        header: t`任务 ID`,
        width: 140,
        card: "title",
        exported: ({ task_id }) => ({ task_id }),
        cell: (row) => <code className="truncate font-mono text-xs">{row.task_id}</code>,
      },
      {
        id: "status",
        header: t`状态`,
        width: 112,
        card: "status",
        exported: ({ status }) => ({ status }),
        cell: (row) => <LookBadge look={statusLook(row.status)} />,
      },
      {
        id: "progress",
        header: t`进度`,
        width: 116,
        card: "fact",
        exported: ({ progress }) => ({ progress }),
        cell: (row) => <JobProgress progress={row.progress} status={row.status} />,
      },
      {
        id: "result",
        header: t`结果`,
        width: 56,
        cell: (row) =>
          row.status === "SUCCESS" ? (
            <ResultButton onOpen={() => onOpen(row)} />
          ) : (
            <span className="text-muted">—</span>
          ),
      },
      {
        id: "fail_reason",
        header: t`详情`,
        width: 120,
        grow: true,
        exported: ({ fail_reason }) => ({ fail_reason }),
        cell: (row) => <LongText text={row.fail_reason} />,
      },
      {
        id: "model",
        header: t`模型`,
        width: 150,
        hidden: true,
        exported: ({ model }) => ({ model }),
        cell: (row) => <code className="truncate font-mono text-xs">{row.model}</code>,
      },
      {
        id: "prompt",
        header: t`提示词`,
        width: 220,
        hidden: true,
        exported: ({ prompt }) => ({ prompt }),
        cell: (row) => <LongText text={row.prompt} />,
      },
      {
        id: "quota",
        header: t`花费`,
        width: 100,
        align: "end",
        hidden: true,
        exported: ({ quota }) => ({ quota }),
        cell: (row) => <Quota value={row.quota} decimals={6} />,
      },
    ];
    return columns.filter((column) => column !== false);
  }, [admin, onOpen, t]);
}
