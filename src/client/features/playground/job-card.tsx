import { useLingui } from "@lingui/react/macro";
import { Link } from "wouter";
import { jsonObject } from "../../../shared/channel";
import type { DrawingView, JobFile, Opened, TaskDetail } from "../../../shared/task-list";
import { ErrorPanel } from "../../components/error-panel";
import { Quota } from "../../components/quota";
import { LookBadge } from "../../components/status-badge";
import { trpc } from "../../lib/trpc";
import { Skeleton } from "../../ui/skeleton";
import { CancelButton } from "../task/cancel-button";
import { JobProgress, Took } from "../task/job-cells";
import { JobFiles } from "../task/job-files";
import { isOver, statusLook } from "../task/job-looks";
import { pictureOf } from "../midjourney/midjourney-columns";
import { jobOptions } from "../task/use-jobs";

/** A job that this page has submitted. */
export interface SubmittedJob {
  drawing: boolean;
  /** The id that its owner knows. */
  name: string;
  prompt: string;
}

/** One submitted job, watched until it is over: how far it is, what it made, what it cost. */
export function JobCard({ job }: { job: SubmittedJob }) {
  return (
    <article className="grid grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border border-line bg-surface p-4">
      {job.drawing ? <Drawing job={job} /> : <Task job={job} />}
    </article>
  );
}

/** Its row by its name: the lists are asked, which know both. */
function Drawing({ job: { name, prompt } }: { job: SubmittedJob }) {
  const list = trpc.midjourney.list.useQuery({ mj_id: name }, { meta: { quiet: true } });
  const id = list.data?.items[0]?.id;
  const query = trpc.midjourney.get.useQuery({ id: id ?? 0 }, { ...jobOptions(), enabled: id !== undefined });
  const row = query.data;
  if (!row)
    return (
      <Waiting error={list.error ?? query.error} onRetry={() => void (id === undefined ? list : query).refetch()} />
    );
  const picture: JobFile[] = row.image_url ? [{ media: "image", url: pictureOf(row) }] : [];
  return (
    <Watched
      row={row}
      prompt={prompt}
      address={`/midjourney?open=${row.id}`}
      files={row.files.length > 0 ? row.files : picture}
      words={describedIn(row)}
      times={{ submitted: row.submit_time / 1000, finished: row.finish_time / 1000 }}
    />
  );
}

function Task({ job: { name, prompt } }: { job: SubmittedJob }) {
  const list = trpc.task.list.useQuery({ task_id: name }, { meta: { quiet: true } });
  const id = list.data?.items[0]?.id;
  const query = trpc.task.get.useQuery({ id: id ?? 0 }, { ...jobOptions(), enabled: id !== undefined });
  const row = query.data;
  if (!row)
    return (
      <Waiting error={list.error ?? query.error} onRetry={() => void (id === undefined ? list : query).refetch()} />
    );
  return (
    <Watched
      row={row}
      prompt={prompt}
      address={`/task?open=${row.id}`}
      files={row.files}
      words={wordsOf(row)}
      times={{ submitted: row.submit_time, finished: row.finish_time }}
    />
  );
}

/**
 * The description of a picture: the vendor's last prompt (midjourney-proxy docs/api.md, "finalPrompt"), or its
 * English one.
 */
function describedIn({ action, properties, prompt_en }: DrawingView): string {
  if (action !== "DESCRIBE") return "";
  const last = jsonObject(properties)?.finalPrompt;
  return typeof last === "string" && last !== "" ? last : prompt_en;
}

/** Lyrics are a text in the vendor's answer. */
function wordsOf({ data }: TaskDetail): string {
  const text: unknown = typeof data === "object" && data !== null ? Reflect.get(data, "text") : undefined;
  return typeof text === "string" ? text : "";
}

function Waiting({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return error ? <ErrorPanel error={error} onRetry={onRetry} /> : <Skeleton className="h-16" />;
}

function Watched({
  row,
  prompt,
  address,
  times,
  files,
  words = "",
}: {
  row: Opened<DrawingView | TaskDetail>;
  prompt: string;
  /** Of the same job in its list. */
  address: string;
  times: { submitted: number; finished: number };
  files: readonly JobFile[];
  words?: string;
}) {
  const { t } = useLingui();
  return (
    <>
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <LookBadge look={statusLook(row.status)} />
        <p className="min-w-0 flex-1 truncate font-medium">{prompt}</p>
        {row.cancellable ? <CancelButton id={row.id} /> : null}
      </header>
      {isOver(row.status) ? null : <JobProgress progress={row.progress || "0%"} status={row.status} />}
      {row.fail_reason ? <p className="text-red-fg wrap-anywhere">{row.fail_reason}</p> : null}
      <JobFiles files={files} />
      {words ? (
        <p className="max-h-80 overflow-y-auto whitespace-pre-wrap rounded-lg bg-sunken p-3" tabIndex={0}>
          {words}
        </p>
      ) : null}
      <footer className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
        <Took {...times} />
        <Link
          href={row.request_id ? `/log?request_id=${encodeURIComponent(row.request_id)}` : "/log"}
          className="text-accent-text hover:underline"
        >
          {t`费用`} <Quota value={row.quota} decimals={6} />
        </Link>
        <Link href={address} className="text-accent-text hover:underline">{t`任务详情`}</Link>
      </footer>
    </>
  );
}
