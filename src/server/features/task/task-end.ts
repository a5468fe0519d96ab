/** How jobs go on and end: each change of a status together with the money that it moves. */
import { and, eq, ne, sql } from "drizzle-orm";
import type { JobSettlement } from "../../../shared/log";
import type { EventName } from "../../../shared/events";
import { textColumns } from "../../../shared/log-text";
import type { TaskStatus } from "../../../shared/task";
import { type Services, seconds } from "../../contracts/context";
import type { CallLog, RefundedCharge } from "../../contracts/ledger";
import type { JobTokens, Task, TaskChange, TaskStore } from "../../contracts/task-store";
import { run, type Steps } from "../../db/transaction";
import { forUpdate } from "../../db/sql";
import type { Q } from "../../db/types";
import { parseObject } from "../wallet/hold-draft";
import { refundRequestId, refundSteps, toBudgets } from "../wallet/refund";
import { noteRefunds } from "./refunds";
import { changedColumns, findTask, isChargeRow, jsonText } from "./row";

type Needs = Pick<Services, "db" | "ledger" | "now" | "events" | "changes">;
type Steppers = Pick<Needs, "db" | "now" | "events">;
type Endings = Pick<TaskStore, "note" | "succeed" | "fail" | "collect">;

/** Counts that were not believed, for the row of a correction. */
const doubtsOf = ({ usage_doubts }: Task["state"]): { usage_doubts?: Task["state"]["usage_doubts"] } =>
  usage_doubts ? { usage_doubts } : {};

/** Request id of the charge for what a finished job cost beyond its first charge. */
const extraRequestId = (charge_id: string): string => `${charge_id}/extra`;

const chargeOf = ({ user_id, username, token_id, group, channel_id, model, quota }: Task): RefundedCharge => ({
  user_id,
  username,
  token_id,
  token_name: "",
  channel: channel_id,
  channel_name: "",
  group,
  model_name: model,
  quota,
  visible: true,
});

export const taskEndings = (services: Needs): Endings => ({
  async note({ id }, from, change) {
    const t = services.db.t.tasks;
    const [noted] = await services.db.q
      .update(t)
      .set(changedColumns(t, change))
      .where(and(eq(t.id, id), eq(t.status, from)))
      .returning({ owner: t.user_id });
    // Most answers of a vendor say that nothing moved, and only set when to ask again.
    if (noted && (change.status ?? change.progress) !== undefined) services.changes.tell("task", noted.owner);
    return noted !== undefined;
  },
  async succeed(task, from, quota, change, tokens) {
    const steps = (q: Q) => succeedSteps(services, q, task, from, quota, change, tokens);
    const won = await services.db.tx(steps, { durable: true });
    if (won) services.changes.tell("task", task.user_id);
    return won;
  },
  async fail(task, from, fail_reason, change) {
    const steps = (q: Q) => failSteps(services, q, task, from, fail_reason, change);
    const won = await services.db.tx(steps, { durable: true });
    if (won) services.changes.tell("task", task.user_id);
    return won;
  },
  collect: (id) => collect(services, id),
});

function* succeedSteps(
  { db, now, events }: Steppers,
  q: Q,
  task: Task,
  from: TaskStatus,
  quota: number,
  change: TaskChange,
  tokens: JobTokens | undefined,
): Steps<boolean> {
  const t = db.t.tasks;
  const more = quota - task.quota;
  const state = { ...(change.state ?? task.state), ...(more > 0 && { owed: more }) };
  // What is owed keeps it on the poller's list.
  const next_poll_at_ms = more > 0 ? now() : 0;
  const won = yield* run(
    q
      .update(t)
      .set({ ...changedColumns(t, { ...change, state }), status: "SUCCESS", next_poll_at_ms })
      .where(and(eq(t.id, task.id), eq(t.status, from)))
      .returning({ id: t.id }),
  );
  if (won.length === 0) return false;
  if (more < 0) yield* giveBack({ db, now, events }, q, { ...task, state }, "job_cost_less", -more);
  yield* noteRefunds({ db }, q, task);
  if (tokens) yield* noteSettlement({ db }, q, task.charge_id, { quota, ...tokens });
  return true;
}

/** Writes what a job came to on the row of its charge. Nothing happens where there is no such row. */
function* noteSettlement({ db }: Pick<Needs, "db">, q: Q, charge_id: string, settled: JobSettlement): Steps<void> {
  const { logs } = db.t;
  const charge = isChargeRow(db.t, charge_id);
  const [row] = yield* run(forUpdate(db, q.select({ id: logs.id, other: logs.other }).from(logs).where(charge)));
  if (!row) return;
  const other = JSON.stringify({ ...parseObject(row.other), settled });
  yield* run(q.update(logs).set({ other }).where(charge).returning({ id: logs.id }));
}

function* failSteps(
  { db, now, events }: Steppers,
  q: Q,
  task: Task,
  from: TaskStatus,
  fail_reason: string,
  change: TaskChange,
): Steps<boolean> {
  const t = db.t.tasks;
  const won = yield* run(
    q
      .update(t)
      .set({
        ...changedColumns(t, { ...change, fail_reason }),
        status: "FAILURE",
        progress: "100%",
        next_poll_at_ms: 0,
        finish_time_ms: change.finish_time_ms ?? now(),
        // A submit that was never accepted may be repeated with its key.
        ...(from === "NOT_START" && { client_key: null }),
      })
      .where(and(eq(t.id, task.id), eq(t.status, from)))
      .returning({ id: t.id }),
  );
  if (won.length === 0) return false;
  yield* giveBack({ db, now, events }, q, task, "job_failed");
  yield* noteRefunds({ db }, q, task);
  return true;
}

/** Gives back a charge, or `units` of it. Does nothing where there is no charge. */
function* giveBack({ db, now, events }: Steppers, q: Q, task: Task, event: EventName, units?: number): Steps<void> {
  const { task_id, charge_id, state } = task;
  const refund = {
    charge_id,
    text: () => ({ code: event, params: { task_id } }),
    other: { task_id, ...doubtsOf(state) },
    ...(units !== undefined && { quota: units }),
    // Only an accepted job is known to have been charged.
    ...(task.status !== "NOT_START" && { cleaned: chargeOf(task) }),
    budgets: state.budgets,
  };
  const result = yield* refundSteps(db, q, refund, seconds({ now }));
  if (!result.refunded) return;
  yield* events.announce(jobEvent(task, event, refundRequestId(charge_id), seconds({ now })));
}

const jobEvent = ({ task_id, channel_id, user_id }: Task, name: EventName, request_id: string, at: number) => ({
  name,
  params: { task_id },
  request_id,
  at,
  channel: channel_id,
  user_id,
});

async function collect(services: Needs, id: number): Promise<void> {
  const { db, ledger, events } = services;
  const t = db.t.tasks;
  const task = await findTask(db, eq(t.id, id));
  const owed = task?.state.owed ?? 0;
  if (!task || owed <= 0) return;
  const { user_id, token_id } = task;
  const log = await extraChargeRow(services, task, owed);
  await ledger.settle({ request_id: log.request_id, user_id, token_id, quota: owed, log });
  const { owed: _, ...state } = task.state;
  await db.tx(function* (q) {
    const won = yield* run(
      q
        .update(t)
        // An operator may have refunded meanwhile.
        .set({ state: jsonText(state), quota: sql`${t.quota} + ${owed}`, next_poll_at_ms: 0 })
        .where(and(eq(t.id, id), eq(t.status, "SUCCESS"), ne(t.next_poll_at_ms, 0)))
        .returning({ id: t.id }),
    );
    if (won.length === 0) return;
    yield* toBudgets(db, q, state.budgets, -owed);
    yield* events.announce(jobEvent(task, "job_cost_more", log.request_id, log.created_at));
  });
}

/** The log row of what a job cost beyond its first charge, after that charge's row. */
async function extraChargeRow({ db, now }: Needs, task: Task, owed: number): Promise<CallLog> {
  const { charge_id, user_id, token_id, task_id, state } = task;
  const { logs } = db.t;
  const [charge] = await db.q
    .select({
      username: logs.username,
      token_name: logs.token_name,
      channel: logs.channel,
      channel_name: logs.channel_name,
      group: logs.group,
      model_name: logs.model_name,
      visible: logs.visible,
    })
    .from(logs)
    .where(isChargeRow(db.t, charge_id));
  return {
    group: task.group,
    model_name: task.model,
    username: task.username,
    channel: task.channel_id,
    ...charge,
    request_id: extraRequestId(charge_id),
    created_at: seconds({ now }),
    user_id,
    token_id,
    quota: owed,
    ...textColumns({ code: "job_cost_more", params: { task_id } }),
    other: JSON.stringify({ task_id, charge_of: charge_id, ...doubtsOf(state) }),
    end_reason: "complete",
  };
}
