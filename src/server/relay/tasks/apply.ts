/** What a vendor says of a job, and what the house makes of it: progress never goes back, a success needs a result. */
import { isFinal, type TaskStatus } from "../../../shared/task";
import { cleanText } from "../failures";
import type { Seams } from "../seams";
import { pauseOf } from "./clock";
import { unitsOf, unpackPrice } from "./price";
import type { TaskReport, TaskWatcher } from "./provider";
import type { Task, TaskChange } from "./task";

/** How far a job is: a report that is behind what is known is an old one. MODAL and UNKNOWN may follow anything that runs. */
const rank: Readonly<Record<TaskStatus, number>> = {
  NOT_START: 0, SUBMITTED: 1, QUEUED: 2, IN_PROGRESS: 3, UNKNOWN: 3, MODAL: 3, SUCCESS: 4, FAILURE: 4,
};

export const NO_RESULT = "the upstream reported success without a result";

const percentOf = (progress: string): number => Number(/^(\d{1,3})%$/.exec(progress)?.[1] ?? 0);

/** A report as the change it makes; the job's status is `task.status` until the book has taken it. */
function changeOf(task: Task, report: TaskReport, now: number): TaskChange {
  const percent = Math.min(100, Math.max(percentOf(task.progress), Math.floor(report.percent ?? 0)));
  const began = report.start_time_ms ?? (rank[report.status] >= rank.IN_PROGRESS ? now : 0);
  return {
    status: rank[report.status] < rank[task.status] ? task.status : report.status,
    progress: `${isFinal(report.status) ? 100 : Math.min(percent, 99)}%`,
    polls: task.polls + 1,
    state: { ...task.state, fails: 0, ...(report.own && { own: report.own }) },
    ...(task.start_time_ms === 0 && began > 0 && { start_time_ms: began }),
    ...(report.data !== undefined && { data: report.data }),
    ...(report.prompt !== undefined && { prompt: report.prompt }),
  };
}

/** Takes a report of a job in. False: somebody else has decided about the job meanwhile; nothing changed. */
export async function applyReport(seams: Pick<Seams, "tasks" | "now">, watcher: TaskWatcher, task: Task, report: TaskReport): Promise<boolean> {
  if (isFinal(task.status)) return false;
  const { tasks: book } = seams;
  const now = seams.now();
  const change = changeOf(task, report, now);
  if (!isFinal(report.status)) {
    return book.note(task, task.status, { ...change, next_poll_at_ms: now + pauseOf(watcher, now - task.submit_time_ms, 0) });
  }
  const ended = { ...change, finish_time_ms: report.finish_time_ms ?? now, next_poll_at_ms: 0 };
  const { data = task.data, state = task.state } = change;
  if (report.status === "FAILURE") return book.fail(task, task.status, cleanText(report.fail_reason ?? "failed"), ended);
  if (!watcher.hasResult({ action: task.action, data, state })) return book.fail(task, task.status, NO_RESULT, ended);
  const price = unpackPrice(task.state.price);
  const quota = report.final && price ? unitsOf(price, report.final) : task.quota;
  const won = await book.succeed(task, task.status, quota, ended);
  if (won && quota > task.quota) await book.collect(task.id);
  return won;
}
