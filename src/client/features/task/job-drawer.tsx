import { useLingui } from "@lingui/react/macro";
import { ChevronDown, ChevronUp } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { JobFile } from "../../../shared/task-list";
import { ErrorPanel } from "../../components/error-panel";
import { FactLine } from "../../components/facts";
import { Quota } from "../../components/quota";
import { LookBadge } from "../../components/status-badge";
import { formatTime } from "../../lib/format";
import { CodeBlock } from "../../ui/code-block";
import { CopyButton } from "../../ui/copy-button";
import { Drawer } from "../../ui/drawer";
import { IconButton } from "../../ui/icon-button";
import { Skeleton } from "../../ui/skeleton";
import { LogUser } from "../log/log-user";
import { ActionBadge, JobProgress, type JobTimes, Took } from "./job-cells";
import { JobFiles } from "./job-files";
import { statusLook } from "./job-looks";

/** A job as the drawer shows it, whichever list it is from. */
export interface OpenJob {
  /** The id that its owner knows. */
  name: string;
  /** Of the address that leads here. */
  address: string;
  row: {
    id: number;
    user_id: number;
    username: string;
    channel_id: number;
    group: string;
    model: string;
    action: string;
    status: string;
    progress: string;
    fail_reason: string;
    prompt: string;
    quota: number;
    refunded: number;
    request_id: string;
  };
  times: JobTimes & { started: number };
  files: readonly JobFile[];
  /** What one list knows and the other does not. */
  more?: ReactNode;
}

/** Everything about one job: what it made, what it cost, why it failed, and the row as JSON. */
export function JobDrawer({
  job,
  error,
  admin,
  actions,
  onClose,
  onStep,
  onRetry,
}: {
  /** undefined while it is read. */
  job: OpenJob | undefined;
  error: unknown;
  admin: boolean;
  /** Buttons beside the title. */
  actions?: ReactNode;
  onClose: () => void;
  /** To the next row of the list (1) or the one before (-1). */
  onStep: (by: 1 | -1) => void;
  onRetry: () => void;
}) {
  const { t } = useLingui();
  return (
    <Drawer
      open
      modal={false}
      pageKeys
      onOpenChange={(open) => !open && onClose()}
      title={t`任务详情`}
      headerExtra={
        <>
          {job ? <LookBadge look={statusLook(job.row.status)} /> : null}
          {actions}
          {job ? <CopyButton text={location.origin + job.address} label={t`复制链接`} /> : null}
          <IconButton label={t`上一条`} shortcut="K" onClick={() => onStep(-1)}>
            <ChevronUp />
          </IconButton>
          <IconButton label={t`下一条`} shortcut="J" onClick={() => onStep(1)}>
            <ChevronDown />
          </IconButton>
        </>
      }
    >
      {job ? (
        <Facts job={job} admin={admin} />
      ) : error ? (
        <ErrorPanel error={error} onRetry={onRetry} />
      ) : (
        <Skeleton className="h-64" />
      )}
    </Drawer>
  );
}

const moment = (seconds: number): string => (seconds > 0 ? formatTime(seconds) : "—");

function Facts({ job, admin }: { job: OpenJob; admin: boolean }) {
  const { t } = useLingui();
  const { row, times, name } = job;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <JobFiles files={job.files} />
      <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1.5">
        <FactLine name={t`任务 ID`}>
          <span className="flex items-center gap-1">
            <code className="truncate font-mono text-xs">{name}</code>
            <CopyButton text={name} label={t`复制任务 ID`} />
          </span>
        </FactLine>
        <FactLine name={t`类型`}>
          <ActionBadge action={row.action} />
        </FactLine>
        {row.model ? (
          <FactLine name={t`模型`}>
            <code className="font-mono text-xs">{row.model}</code>
          </FactLine>
        ) : null}
        <FactLine name={t`进度`}>
          <JobProgress progress={row.progress} status={row.status} />
        </FactLine>
        {row.fail_reason ? (
          <FactLine name={t`失败原因`}>
            <span className="text-red-fg">{row.fail_reason}</span>
          </FactLine>
        ) : null}
        {row.prompt ? <FactLine name={t`提示词`}>{row.prompt}</FactLine> : null}
        {job.more}
        <FactLine name={t`提交时间`}>{moment(times.submitted)}</FactLine>
        <FactLine name={t`开始执行`}>{moment(times.started)}</FactLine>
        <FactLine name={t`完成时间`}>{moment(times.finished)}</FactLine>
        <FactLine name={t`用时`}>
          <Took submitted={times.submitted} finished={times.finished} />
        </FactLine>
        <FactLine name={t`花费`}>
          <span className="flex flex-wrap gap-x-3">
            <Quota value={row.quota} decimals={6} />
            {row.request_id ? (
              <Link
                href={`/log?request_id=${encodeURIComponent(row.request_id)}`}
                className="text-accent-text hover:underline"
              >{t`查看账单`}</Link>
            ) : null}
          </span>
        </FactLine>
        {row.refunded > 0 ? (
          <FactLine name={t`已退款`}>
            <Quota value={row.refunded} decimals={6} />
          </FactLine>
        ) : null}
        {row.group ? <FactLine name={t`分组`}>{row.group}</FactLine> : null}
        {admin ? (
          <FactLine name={t`用户`}>
            <LogUser id={row.user_id} name={row.username} />
          </FactLine>
        ) : null}
        {admin && row.channel_id > 0 ? (
          <FactLine name={t`渠道 ID`}>
            <Link href={`/channel?open=${row.channel_id}`} className="text-accent-text tabular-nums hover:underline">
              {row.channel_id}
            </Link>
          </FactLine>
        ) : null}
      </dl>
      <section>
        <h3 className="mb-1 font-medium">{t`原始数据`}</h3>
        <CodeBlock label={t`原始数据`} code={JSON.stringify(row, null, 2)} wrap />
      </section>
    </div>
  );
}
