/**
 * What may leave the server of a job: never the engine's state nor the input, and channels to administrators alone. The
 * provider chooses what of the vendor's answer (`data`) an owner sees.
 */
import type { TaskDetail, TaskRest, TaskView } from "../../../shared/task-list";
import type { TaskRow } from "../../db/schema";
import type { LogScope } from "../log/filter";

/** The members that both lists share; times in the table's milliseconds. */
export const presentJob = (scope: LogScope, row: TaskRow) => ({
  id: row.id,
  user_id: row.user_id,
  username: row.username,
  channel_id: scope === "all" ? row.channel_id : 0,
  group: row.group,
  model: row.model,
  action: row.action,
  status: row.status,
  progress: row.progress,
  fail_reason: row.fail_reason,
  prompt: row.prompt,
  quota: row.quota,
  refunded: row.refunded,
  request_id: row.charge_id,
  submit_time: row.submit_time_ms,
  start_time: row.start_time_ms,
  finish_time: row.finish_time_ms,
});

/** JSON of a column; undefined for '' and for other text. */
export function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);

/** A job of /api/task: times in seconds. */
export function presentTask(scope: LogScope, row: TaskRow): TaskView {
  const job = presentJob(scope, row);
  return {
    ...job,
    submit_time: seconds(job.submit_time),
    start_time: seconds(job.start_time),
    finish_time: seconds(job.finish_time),
    task_id: row.task_id,
    platform: row.platform,
  };
}

export const presentTaskDetail = (scope: LogScope, row: TaskRow): TaskDetail => ({
  ...presentTask(scope, row),
  data: parsed(row.data) ?? null,
});

/** The members that existing front-ends read (new-api model/task.go, 2025-04). */
export function presentTaskRest(scope: LogScope, row: TaskRow): TaskRest {
  const task = presentTaskDetail(scope, row);
  return {
    ...task,
    created_at: task.submit_time,
    updated_at: Math.max(task.submit_time, task.start_time, task.finish_time),
    properties: { input: task.prompt },
  };
}
