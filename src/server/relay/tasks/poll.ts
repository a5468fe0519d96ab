/**
 * One round of polling: due jobs are polled, by channel and key; interrupted submits are ended; jobs past their
 * deadline fail. Only one instance does it at a time (the lease in src/server/serve.ts), but nothing breaks when two
 * do.
 */
import { isFinal } from "../../../shared/task";
import type { Engine } from "../call/call";
import { UpstreamError } from "../../protocol/upstream-error";
import { failureOf } from "../../protocol/upstream-failure";
import { credentialId } from "../providers/credential-id";
import { endsJob } from "../realtime/drained";
import { keyHolding } from "../routing/key-rotation";
import type { PoolChannel } from "../../contracts/channel";
import { applyReport, failTask } from "./apply";
import { failureFrom } from "./attempt";
import { REQUEST_TIMEOUT_MS, pauseOf, SUBMIT_CHECK_MS, POLL_TIMEOUT_MS, watcherTimes } from "./clock";
import type { TaskWatcher } from "./provider";
import { watcherOf } from "./registry";
import type { Task } from "../../contracts/task-store";
import { withTaskContext } from "./provider-context";

/** Most jobs of one round; the rest follows in the next. */
const MOST_A_ROUND = 500;
/** Until a job of a vendor that this release does not know is looked at again. */
const UNKNOWN_PAUSE_MS = 1_800_000;
/** Vendors polled concurrently, and concurrent polls of one vendor. */
const AT_ONCE = 8;

/** Failure reasons that come from Weir: stored as text in tasks.fail_reason. */
const REASONS = {
  late: "the job was not finished in time",
  drained: "the channel of the job was taken out of service",
  channel_gone: "the channel of the job is gone",
  never_accepted: "the upstream never accepted the job",
} as const;

/** Runs `work` over all items, a few at a time. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, items.length) }, async () => {
      for (const item of left) await work(item);
    }),
  );
}

/** One round. Never throws because of one job; a failed poll is due again later. */
export async function pollTasks(engine: Engine): Promise<void> {
  const due = await engine.controlPlane.tasks.due(MOST_A_ROUND);
  const groups = new Map<string, PollGroup>();
  for (const task of due) {
    const group = await pollTarget(engine, task).catch(
      (error: unknown) => void engine.log.error({ err: error, task: task.task_id }, "a job could not be looked after"),
    );
    if (!group) continue;
    const { watcher, channel } = group;
    const key = `${watcher.platform} ${credentialId(channel)}`;
    const known = groups.get(key);
    if (known) known.tasks.push(task);
    else groups.set(key, { ...group, tasks: [task] });
  }
  const batches = [...groups.values()].flatMap(({ tasks, ...rest }) => {
    const { poll_many = 1 } = rest.watcher;
    const state = { down: false };
    return Array.from({ length: Math.ceil(tasks.length / poll_many) }, (_, i) => ({
      ...rest,
      state,
      tasks: tasks.slice(i * poll_many, (i + 1) * poll_many),
    }));
  });
  await each(batches, (sideRequest) => pollChannel(engine, sideRequest));
}

/** Failures that another request to the same vendor would only repeat, each after its full timeout. */
const DOWN: ReadonlySet<string> = new Set(["timeout", "unreachable", "cut"]);

/** Polls one job at once, for a waiting caller. Failures are left to the rounds. */
export async function pollNow(engine: Engine, task: Task): Promise<void> {
  if (isFinal(task.status)) return;
  try {
    const sideRequest = await pollTarget(engine, task);
    if (sideRequest) await pollChannel(engine, { ...sideRequest, tasks: [task], state: { down: false } });
  } catch (error) {
    engine.log.error({ err: error, task: task.task_id }, "a job could not be looked after");
  }
}

interface PollGroup {
  watcher: TaskWatcher;
  channel: PoolChannel;
  tasks: Task[];
}

/** Ends jobs that need no poll; returns the credentials for the rest. */
async function pollTarget(engine: Engine, task: Task): Promise<Omit<PollGroup, "tasks"> | undefined> {
  const { tasks: taskStore, pool, now } = engine.controlPlane;
  if (isFinal(task.status)) return void (await taskStore.collect(task.id));
  if (task.status === "NOT_START") return void (await endInterruptedSubmit(engine, task));
  const watcher = watcherOf(task.platform);
  if (now() >= task.deadline_ms) return void (await failTask(engine.controlPlane, watcher, task, REASONS.late));
  if (!watcher) {
    const next_poll_at_ms = Math.min(task.deadline_ms, now() + UNKNOWN_PAUSE_MS);
    return void (await taskStore.note(task, task.status, { next_poll_at_ms }));
  }
  // Jobs of a disabled channel are still polled.
  const holder = pool.byId(task.channel_id);
  if (!holder) return void (await failTask(engine.controlPlane, watcher, task, REASONS.channel_gone));
  const channel = keyHolding(holder.channel, task.channel_key_id);
  // A disabled key of several may be enabled again.
  if (!channel) return void (await postpone(engine, watcher, task, task.state.fails + 1));
  if (endsJob(engine, channel)) return void (await failTask(engine.controlPlane, watcher, task, REASONS.drained));
  return { watcher, channel };
}

/** A submit whose process ended, or whose charge is late. */
async function endInterruptedSubmit({ controlPlane }: Engine, task: Task): Promise<void> {
  const { tasks: taskStore, ledger, now } = controlPlane;
  const watcher = watcherOf(task.platform);
  // In this order: a settle turns a hold into a charge.
  const held = await taskStore.held(task);
  const charged = await taskStore.charged(task);
  if (task.upstream_id !== "" && watcher && (charged || task.state.units === 0)) {
    await taskStore.activate(task.id, task.state.units, now() + watcherTimes(watcher).poll_ms);
    return;
  }
  // Charged without an upstream id, or neither charged nor held: a sweep did that, so the process that submitted it is
  // gone.
  if (!charged && held && now() < task.deadline_ms)
    return void (await taskStore.note(task, "NOT_START", { next_poll_at_ms: now() + SUBMIT_CHECK_MS }));
  if (!charged) await ledger.release(task.charge_id);
  await taskStore.fail(task, "NOT_START", REASONS.never_accepted, {});
}

async function pollChannel(
  engine: Engine,
  { watcher, channel, tasks, state }: PollGroup & { state: { down: boolean } },
): Promise<void> {
  const { controlPlane, log } = engine;
  try {
    if (state.down) throw new UpstreamError(failureOf("unreachable"));
    const reports = await withTaskContext(
      engine,
      channel,
      { ms: REQUEST_TIMEOUT_MS, total_ms: POLL_TIMEOUT_MS },
      (context) => watcher.poll(tasks, channel, context),
    );
    for (const task of tasks) {
      const report = reports.get(task.upstream_id);
      if (report) await applyReport(controlPlane, watcher, task, report);
      else await postpone(engine, watcher, task, 0);
    }
  } catch (error) {
    const failure = failureFrom(error, channel, log);
    state.down ||= DOWN.has(failure.kind);
    log.warn({ platform: watcher.platform, channel: channel.id, failure: failure.kind }, "jobs could not be asked for");
    if (failure.upstream_status === 401) engine.accessTokens.drop(channel);
    for (const task of tasks) await postpone(engine, watcher, task, task.state.fails + 1).catch(() => undefined);
  }
}

/** The poll failed: the next one follows after a pause that grows with the failures, at the deadline at the latest. */
async function postpone({ controlPlane }: Engine, watcher: TaskWatcher, task: Task, fails: number): Promise<void> {
  const now = controlPlane.now();
  const next_poll_at_ms = Math.min(
    Math.max(task.deadline_ms, now),
    now + pauseOf(watcher, now - task.submit_time_ms, fails),
  );
  await controlPlane.tasks.note(task, task.status, {
    polls: task.polls + 1,
    state: { ...task.state, fails },
    next_poll_at_ms,
  });
}
