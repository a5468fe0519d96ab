/**
 * Cancels a job, where its vendor supports it. The charge is refunded when the vendor reports that the job has stopped.
 */
import { fail } from "../../../shared/errors";
import { isFinal } from "../../../shared/task";
import type { Engine } from "../call/call";
import { applyReport } from "./apply";
import { REQUEST_TIMEOUT_MS, POLL_TIMEOUT_MS } from "./clock";
import { channelOf } from "./file";
import { watcherOf } from "./registry";
import type { Task } from "../../contracts/task-store";
import { withTaskContext } from "./provider-context";

/** Whether a job can be cancelled: for lists and their buttons. */
export const canCancel = ({ platform, status }: Pick<Task, "platform" | "status">): boolean =>
  !isFinal(status) && status !== "NOT_START" && watcherOf(platform)?.cancel !== undefined;

/** Cancels a job and returns its new state. Throws task_not_cancellable, and Failed for an error of the vendor. */
export async function cancelTask(engine: Engine, task: Task): Promise<Task> {
  const watcher = watcherOf(task.platform);
  const channel = channelOf(engine, task);
  if (!canCancel(task) || !watcher?.cancel || !channel) fail("task_not_cancellable");
  const { cancel } = watcher;
  const report = await withTaskContext(
    engine,
    channel,
    { ms: REQUEST_TIMEOUT_MS, total_ms: POLL_TIMEOUT_MS },
    (context) => cancel.call(watcher, task, channel, context),
  );
  await applyReport(engine.controlPlane, watcher, task, report);
  return (await engine.controlPlane.tasks.find([task.platform], task.task_id, task.user_id)) ?? fail("task_not_found");
}
