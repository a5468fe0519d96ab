/** Applies a vendor's report to a job: progress never goes back, and a success needs a result. */
import { isFinal, type TaskStatus } from "../../../shared/task";
import type { UsageDoubt } from "../../../shared/usage-doubt";
import type { Usage } from "../../protocol/chat-events";
import { cleanText } from "../../protocol/clean-text";
import { isObject } from "../../lib/json-bytes";
import type { ControlPlane } from "../../contracts/control-plane";
import { completionTokens, promptTokens } from "../billing/log-row";
import { pauseOf } from "./clock";
import { unitsOf, unpackPrice } from "./price";
import { checkUsage, tokensOn } from "../../protocol/usage-check";
import type { FinalPrice, TaskReport, TaskWatcher } from "./provider";
import type { Priced, Task, TaskChange } from "../../contracts/task-store";

/**
 * The order of states: a report that is behind the known state is outdated. MODAL and UNKNOWN may follow any running
 * state.
 */
const rank: Readonly<Record<TaskStatus, number>> = {
  NOT_START: 0,
  SUBMITTED: 1,
  QUEUED: 2,
  IN_PROGRESS: 3,
  UNKNOWN: 3,
  MODAL: 3,
  SUCCESS: 4,
  FAILURE: 4,
};

/** Most doubts stored with a job: a batch may have one for every line. */
const MOST_DOUBTS = 10;

const NO_RESULT = "the upstream reported success without a result";

const percentOf = (progress: string): number => Number(/^(\d{1,3})%$/.exec(progress)?.[1] ?? 0);

/** A vendor's time (its clock or unit may be wrong) clamped between `from` and now. 0 or undefined: unknown. */
const within = (time_ms: number | undefined, from: number, now: number): number | undefined =>
  time_ms !== undefined && time_ms > 0 ? Math.max(from, Math.min(Math.floor(time_ms), now)) : undefined;

/** The change that a report makes; the job's status is `task.status` until the store has written it. */
function changeOf(task: Task, report: TaskReport, now: number): TaskChange {
  const percent = Math.min(100, Math.max(percentOf(task.progress), Math.floor(report.percent ?? 0)));
  const began =
    within(report.start_time_ms, task.submit_time_ms, now) ?? (rank[report.status] >= rank.IN_PROGRESS ? now : 0);
  return {
    status: rank[report.status] < rank[task.status] ? task.status : report.status,
    progress: `${isFinal(report.status) ? 100 : Math.min(percent, 99)}%`,
    polls: task.polls + 1,
    state: { ...task.state, fails: 0, ...(report.own && { own: report.own }) },
    ...(task.start_time_ms === 0 && began > 0 && { start_time_ms: began }),
    ...(report.data !== undefined && { data: report.data }),
    ...(report.merge && { data: { ...(isObject(task.data) && task.data), ...report.merge } }),
    ...(report.prompt !== undefined && { prompt: report.prompt }),
  };
}

/** Applies a report. False: the job was changed concurrently, and nothing is written. */
export async function applyReport(
  controlPlane: Pick<ControlPlane, "tasks" | "now" | "option" | "sendWebhook" | "pool" | "usageDoubted">,
  watcher: TaskWatcher,
  task: Task,
  report: TaskReport,
): Promise<boolean> {
  if (isFinal(task.status)) return false;
  const { tasks: taskStore } = controlPlane;
  const now = controlPlane.now();
  const change = changeOf(task, report, now);
  if (!isFinal(report.status)) {
    const won = await taskStore.note(task, task.status, {
      ...change,
      next_poll_at_ms: now + pauseOf(watcher, now - task.submit_time_ms, 0),
    });
    if (won) notifyChange(controlPlane, watcher, task, change);
    return won;
  }
  const began = change.start_time_ms ?? task.start_time_ms;
  const ended = {
    ...change,
    finish_time_ms: within(report.finish_time_ms, Math.max(task.submit_time_ms, began), now) ?? now,
    next_poll_at_ms: 0,
  };
  const { data = task.data, state = task.state } = change;
  const fails =
    report.status === "FAILURE"
      ? cleanText(report.fail_reason ?? "failed")
      : watcher.hasResult({ action: task.action, data, state })
        ? undefined
        : NO_RESULT;
  if (fails !== undefined) return failTask(controlPlane, watcher, task, fails, ended);
  const price = unpackPrice(task.state.price);
  const final = report.final && price ? checkedPrice(controlPlane, task, report.final) : undefined;
  const quota = final && price ? unitsOf(price, final.priced) : task.quota;
  const doubted = final && final.doubts.length > 0 ? { state: { ...state, usage_doubts: final.doubts } } : {};
  const usage = final?.priced.usage;
  const tokens = usage && { prompt_tokens: promptTokens(usage), completion_tokens: completionTokens(usage) };
  const won = await taskStore.succeed(task, task.status, quota, { ...ended, ...doubted }, tokens);
  if (won) notifyChange(controlPlane, watcher, task, { ...ended, status: "SUCCESS" });
  if (won && quota > task.quota) await taskStore.collect(task.id);
  return won;
}

/** The final price terms of a job, as far as its vendor's count is plausible (protocol/usage-check.ts). */
function checkedPrice(
  { pool, usageDoubted }: Pick<ControlPlane, "pool" | "usageDoubted">,
  task: Task,
  final: FinalPrice,
): { priced: Priced; doubts: readonly UsageDoubt[] } {
  const { usage: accepted, hidden_turns } = task.state.priced;
  const estimate = (): Usage => final.estimate ?? accepted;
  const { usage, doubts } = checkUsage(final.usage, {
    estimate: { input: estimate, output: estimate },
    max_output: tokensOn("output", accepted),
    hidden: () => hidden_turns === true,
    ...(pool.byId(task.channel_id)?.channel.setting.trust_usage && { trusted: true }),
  });
  const all = [...(final.doubts ?? []), ...doubts].slice(0, MOST_DOUBTS);
  if (all.length > 0)
    usageDoubted({ id: task.channel_id }, all, { request_id: task.charge_id, request: { model: task.model } });
  return { priced: { ...final, usage }, doubts: all };
}

/** Ends a job as failed. False: the job was changed concurrently. */
export async function failTask(
  controlPlane: Pick<ControlPlane, "tasks" | "now" | "option" | "sendWebhook">,
  watcher: TaskWatcher | undefined,
  task: Task,
  fail_reason: string,
  change: TaskChange = {},
): Promise<boolean> {
  const won = await controlPlane.tasks.fail(task, task.status, fail_reason, change);
  if (won && watcher)
    notifyChange(controlPlane, watcher, task, {
      finish_time_ms: controlPlane.now(),
      ...change,
      status: "FAILURE",
      progress: "100%",
      fail_reason,
    });
  return won;
}

/** Sends the job's webhook, if it has one, after a change. */
function notifyChange(
  controlPlane: Pick<ControlPlane, "now" | "option" | "sendWebhook">,
  watcher: TaskWatcher,
  task: Task,
  change: TaskChange,
): void {
  const after: Task = { ...task, ...change };
  if (after.status === task.status && after.progress === task.progress) return;
  const hook = watcher.hook?.(after, controlPlane);
  if (hook) controlPlane.sendWebhook(hook.url, hook.body);
}
