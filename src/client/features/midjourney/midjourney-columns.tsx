import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import { MJ_IMAGE_PATH } from "../../../shared/midjourney";
import type { DrawingView } from "../../../shared/task-list";
import { type GridColumn, timeValue } from "../../components/data-grid/types";
import { Quota } from "../../components/quota";
import { LookBadge } from "../../components/status-badge";
import { TimeAgo } from "../../components/time-ago";
import { LogUser } from "../log/log-user";
import { ActionBadge, JobProgress, LongText, ResultButton, Took } from "../task/job-cells";
import { codeLook, isOver, percentOf, statusLook } from "../task/job-looks";

/**
 * Where this server shows a job's picture, without an origin; another address with each step while it is being drawn.
 */
export const pictureOf = ({ mj_id, status, progress }: Pick<DrawingView, "mj_id" | "status" | "progress">): string =>
  `${MJ_IMAGE_PATH}${encodeURIComponent(mj_id)}${isOver(status) ? "" : `?rand=${percentOf(progress) ?? 0}`}`;

/** The columns of the drawing jobs (C-153); channel and user are the administrators'. */
export function useDrawingColumns(
  admin: boolean,
  onOpen: (row: DrawingView) => void,
): readonly GridColumn<DrawingView>[] {
  const { t } = useLingui();
  return useMemo(() => {
    const columns: (GridColumn<DrawingView> | false)[] = [
      {
        id: "submit_time",
        header: t`提交时间`,
        width: 96,
        fixed: true,
        card: "fact",
        exported: (row) => ({ submit_time: timeValue(row.submit_time / 1000) }),
        cell: (row) => <TimeAgo value={row.submit_time / 1000} />,
      },
      {
        id: "took",
        header: t`用时`,
        width: 84,
        card: "fact",
        exported: (row) => ({ finish_time: timeValue(row.finish_time / 1000) }),
        cell: (row) => <Took submitted={row.submit_time / 1000} finished={row.finish_time / 1000} />,
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
        id: "action",
        header: t`类型`,
        width: 100,
        exported: ({ action }) => ({ action }),
        cell: (row) => <ActionBadge action={row.action} />,
      },
      {
        id: "mj_id",
        header: t`任务 ID`,
        width: 168,
        card: "title",
        exported: ({ mj_id }) => ({ mj_id }),
        cell: (row) => <code className="truncate font-mono text-xs">{row.mj_id}</code>,
      },
      {
        id: "code",
        header: t`提交结果`,
        width: 136,
        exported: ({ code }) => ({ code }),
        cell: (row) => <LookBadge look={codeLook(row.code)} />,
      },
      {
        id: "status",
        header: t`任务状态`,
        width: 176,
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
        id: "image_url",
        header: t`结果图片`,
        width: 76,
        card: "fact",
        exported: ({ image_url }) => ({ image_url }),
        cell: (row) =>
          row.image_url ? (
            <ResultButton picture={pictureOf(row)} onOpen={() => onOpen(row)} />
          ) : (
            <span className="text-muted">—</span>
          ),
      },
      {
        id: "prompt",
        header: t`提示词`,
        width: 120,
        grow: true,
        exported: ({ prompt }) => ({ prompt }),
        cell: (row) => <LongText text={row.prompt} />,
      },
      {
        id: "prompt_en",
        header: t`英文提示词`,
        width: 110,
        exported: ({ prompt_en }) => ({ prompt_en }),
        cell: (row) => <LongText text={row.prompt_en} />,
      },
      {
        id: "fail_reason",
        header: t`失败原因`,
        width: 110,
        exported: ({ fail_reason }) => ({ fail_reason }),
        cell: (row) => <LongText text={row.fail_reason} />,
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
