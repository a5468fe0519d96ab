/**
 * Jobs in the table `tasks`: contracts/task-store.ts says what is asked of it. Whoever moves a status does so from the
 * one that he has seen, and only who succeeds moves money, in the same transaction.
 */
import { and, asc, desc, eq, gt, inArray, lt, lte, ne, notInArray, or, sql } from "drizzle-orm";
import { LOG_TYPE } from "../../../shared/log";
import { FINAL_STATUSES, type TaskPlatform } from "../../../shared/task";
import type { Text } from "../../../shared/text";
import { cut, TEXT_LIMITS } from "../../../shared/text-limits";
import { type Services, seconds } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { withoutNul } from "../../db/sql";
import type { NewTask, Task, TaskStore, TaskChange } from "../../contracts/task-store";
import type { RefundedCharge } from "../../contracts/ledger";
import { refundSteps, toBudgets } from "../wallet/refund";
import { jsonText, taskOf } from "./row";

/** What the row of a correction says of counts that were not believed. */
const doubtsOf = ({ usage_doubts }: Task["state"]): { usage_doubts?: Task["state"]["usage_doubts"] } =>
  usage_doubts ? { usage_doubts } : {};

type Needs = Pick<Services, "db" | "ledger" | "now">;

/** Request id of the charge of what a finished job cost beyond its first one. */
export const extraRequestId = (charge_id: string): string => `${charge_id}/extra`;

const texts = {
  failed: (id: string): Text => ({ zh: `任务 ${id} 失败，退还额度`, en: `Task ${id} failed, its quota is given back` }),
  cheaper: (id: string): Text => ({
    zh: `任务 ${id} 按实际用量结算，退还差额`,
    en: `Task ${id} cost less than was charged, the difference is given back`,
  }),
  dearer: (id: string): Text => ({
    zh: `任务 ${id} 按实际用量结算，补扣差额`,
    en: `Task ${id} cost more than was charged, the difference is charged`,
  }),
};

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

export function createTaskStore(services: Needs): TaskStore {
  const { db, ledger, now } = services;
  const { tasks: t, logs, holds } = db.t;
  const chargeRow = (charge_id: string) => and(eq(logs.request_id, charge_id), eq(logs.type, LOG_TYPE.consume));
  const owned = (platforms: readonly TaskPlatform[], user_id: number) =>
    and(inArray(t.platform, [...platforms]), eq(t.user_id, user_id));

  /**
   * An erased user's job goes on without what it is about (eraseUser empties its input, which otherwise is never
   * empty).
   */
  const unlessErased = (text: string) => sql<string>`case when ${t.input} = '' then '' else ${withoutNul(text)} end`;

  /** Texts of callers and vendors as both engines keep them. */
  const clean = ({ data, state, prompt, fail_reason, ...rest }: TaskChange) => ({
    ...rest,
    ...(fail_reason !== undefined && { fail_reason: cut(withoutNul(fail_reason), TEXT_LIMITS.task_reason) }),
    ...(prompt !== undefined && { prompt: unlessErased(cut(prompt, TEXT_LIMITS.task_prompt)) }),
    ...(data !== undefined && { data: unlessErased(jsonText(data)) }),
    ...(state && { state: withoutNul(jsonText(state)) }),
  });

  async function one(where: ReturnType<typeof and>): Promise<Task | undefined> {
    const [row] = await db.q.select().from(t).where(where);
    return row && taskOf(row);
  }

  /** Gives back a charge, or `units` of it. Nothing where there is none. */
  function* giveBack(q: Q, task: Task, text: (id: string) => Text, units?: number): Steps<void> {
    const { id, task_id, charge_id, state } = task;
    const refund = {
      charge_id,
      content: text(task_id)[state.lang],
      other: { task_id, ...doubtsOf(state) },
      ...(units !== undefined && { quota: units }),
      // Only what was accepted is known to have been charged.
      ...(task.status !== "NOT_START" && { cleaned: chargeOf(task) }),
      budgets: state.budgets,
    };
    const result = yield* refundSteps(db, q, refund, seconds(services));
    if (!result.refunded) return;
    const { quota } = result;
    // A charge that a sweep made was never noted here.
    yield* run(
      q
        .update(t)
        .set({ quota: Math.max(0, task.quota - quota), refunded: quota })
        .where(eq(t.id, id))
        .returning({ id: t.id }),
    );
  }

  return {
    async open({ client_key, ...task }: NewTask) {
      const [row] = await db.q
        .insert(t)
        .values({
          ...task,
          client_key: client_key ?? null,
          status: "NOT_START",
          prompt: withoutNul(task.prompt),
          input: withoutNul(jsonText(task.input)),
          state: withoutNul(jsonText(task.state)),
        })
        .onConflictDoNothing()
        .returning();
      return row && taskOf(row);
    },

    byClientKey: (client_key) => one(eq(t.client_key, client_key)),

    async place(id, { state, ...place }) {
      await db.q
        .update(t)
        .set({ ...place, state: jsonText(state) })
        .where(and(eq(t.id, id), eq(t.status, "NOT_START")));
    },

    async answered(id, { upstream_id, deadline_ms, ...answer }) {
      const rows = await db.q
        .update(t)
        .set({ upstream_id: withoutNul(upstream_id), deadline_ms, ...clean(answer) })
        .where(and(eq(t.id, id), eq(t.status, "NOT_START")))
        .returning({ id: t.id });
      return rows.length > 0;
    },

    async charged({ charge_id }) {
      return (await db.q.select({ id: logs.id }).from(logs).where(chargeRow(charge_id))).length > 0;
    },

    async held({ charge_id }) {
      return (
        (await db.q.select({ id: holds.request_id }).from(holds).where(eq(holds.request_id, charge_id))).length > 0
      );
    },

    activate: (id, quota, next_poll_at_ms) =>
      db.tx(function* (q) {
        const [row] = yield* run(q.select({ charge_id: t.charge_id }).from(t).where(eq(t.id, id)));
        if (!row) return false;
        const charge =
          quota === 0 ? [row] : yield* run(q.select({ id: logs.id }).from(logs).where(chargeRow(row.charge_id)));
        if (charge.length === 0) return false;
        const won = yield* run(
          q
            .update(t)
            .set({ status: "SUBMITTED", quota, progress: "0%", next_poll_at_ms })
            .where(and(eq(t.id, id), eq(t.status, "NOT_START")))
            .returning({ id: t.id }),
        );
        return won.length > 0;
      }),

    async note({ id }, from, change) {
      const rows = await db.q
        .update(t)
        .set(clean(change))
        .where(and(eq(t.id, id), eq(t.status, from)))
        .returning({ id: t.id });
      return rows.length > 0;
    },

    succeed: (task, from, quota, change) =>
      db.tx(
        function* (q) {
          const more = quota - task.quota;
          const state = { ...(change.state ?? task.state), ...(more > 0 && { owed: more }) };
          // What is owed keeps it on the poller's list.
          const next_poll_at_ms = more > 0 ? now() : 0;
          const won = yield* run(
            q
              .update(t)
              .set({ ...clean({ ...change, state }), status: "SUCCESS", next_poll_at_ms })
              .where(and(eq(t.id, task.id), eq(t.status, from)))
              .returning({ id: t.id }),
          );
          if (won.length === 0) return false;
          if (more < 0) yield* giveBack(q, { ...task, state }, texts.cheaper, -more);
          return true;
        },
        { durable: true },
      ),

    fail: (task, from, fail_reason, change) =>
      db.tx(
        function* (q) {
          const won = yield* run(
            q
              .update(t)
              // A submit that came to nothing may be said again with its key.
              .set({
                ...clean({ ...change, fail_reason }),
                status: "FAILURE",
                progress: "100%",
                next_poll_at_ms: 0,
                finish_time_ms: change.finish_time_ms ?? now(),
                ...(from === "NOT_START" && { client_key: null }),
              })
              .where(and(eq(t.id, task.id), eq(t.status, from)))
              .returning({ id: t.id }),
          );
          if (won.length === 0) return false;
          yield* giveBack(q, task, texts.failed);
          return true;
        },
        { durable: true },
      ),

    async collect(id) {
      const task = await one(eq(t.id, id));
      const owed = task?.state.owed ?? 0;
      if (!task || owed <= 0) return;
      const { charge_id, user_id, token_id, task_id } = task;
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
        .where(chargeRow(charge_id));
      const request_id = extraRequestId(charge_id);
      const log = {
        group: task.group,
        model_name: task.model,
        username: task.username,
        channel: task.channel_id,
        ...charge,
        request_id,
        created_at: seconds(services),
        user_id,
        token_id,
        quota: owed,
        content: texts.dearer(task_id)[task.state.lang],
        other: JSON.stringify({ task_id, charge_of: charge_id, ...doubtsOf(task.state) }),
        end_reason: "complete",
      };
      await ledger.settle({ request_id, user_id, token_id, quota: owed, log });
      const { owed: _, ...state } = task.state;
      await db.tx(function* (q) {
        const won = yield* run(
          q
            .update(t)
            .set({ state: jsonText(state), quota: task.quota + owed, next_poll_at_ms: 0 })
            .where(and(eq(t.id, id), eq(t.status, "SUCCESS"), ne(t.next_poll_at_ms, 0)))
            .returning({ id: t.id }),
        );
        if (won.length > 0) yield* toBudgets(db, q, state.budgets, -owed);
      });
    },

    find: (platforms, task_id, user_id) => one(and(owned(platforms, user_id), eq(t.task_id, withoutNul(task_id)))),

    async findMany(platforms, task_ids, user_id) {
      if (task_ids.length === 0) return [];
      const rows = await db.q
        .select()
        .from(t)
        .where(and(owned(platforms, user_id), inArray(t.task_id, task_ids.map(withoutNul))));
      return rows.map(taskOf);
    },

    async list(platforms, user_id, { after, order, limit }) {
      const from = after === undefined ? undefined : await one(and(owned(platforms, user_id), eq(t.task_id, after)));
      if (after !== undefined && !from) return [];
      const afterCursor = order === "asc" ? gt : lt;
      const turn = order === "asc" ? asc : desc;
      const later =
        from &&
        or(
          afterCursor(t.submit_time_ms, from.submit_time_ms),
          and(eq(t.submit_time_ms, from.submit_time_ms), afterCursor(t.id, from.id)),
        );
      const rows = await db.read
        .select()
        .from(t)
        .where(and(owned(platforms, user_id), later))
        .orderBy(turn(t.submit_time_ms), turn(t.id))
        .limit(limit);
      return rows.map(taskOf);
    },

    findAny: (platform, task_id) => one(and(eq(t.platform, platform), eq(t.task_id, withoutNul(task_id)))),

    async remove(platforms, task_id, user_id) {
      const gone = await db.q
        .delete(t)
        .where(
          and(
            owned(platforms, user_id),
            eq(t.task_id, task_id),
            inArray(t.status, [...FINAL_STATUSES]),
            eq(t.next_poll_at_ms, 0),
          ),
        )
        .returning({ id: t.id });
      return gone.length > 0;
    },

    async due(limit) {
      const rows = await db.q
        .select()
        .from(t)
        .where(and(ne(t.next_poll_at_ms, 0), lte(t.next_poll_at_ms, now())))
        .orderBy(asc(t.next_poll_at_ms))
        .limit(limit);
      return rows.map(taskOf);
    },

    async nudge(channel_ids, upstream_id) {
      if (channel_ids.length === 0) return;
      await db.q
        .update(t)
        .set({ next_poll_at_ms: now() })
        .where(
          and(
            inArray(t.channel_id, [...channel_ids]),
            eq(t.upstream_id, withoutNul(upstream_id)),
            notInArray(t.status, ["NOT_START", ...FINAL_STATUSES]),
          ),
        );
    },
  };
}
