/** Jobs as their owners and the poller look for them. */
import { and, asc, desc, eq, gt, inArray, lt, lte, ne, notInArray, or, type SQL } from "drizzle-orm";
import { FINAL_STATUSES, type TaskPlatform } from "../../../shared/task";
import type { Services } from "../../contracts/context";
import type { TaskStore } from "../../contracts/task-store";
import { withoutNul } from "../../db/sql";
import { findTask, taskOf } from "./row";

/** No job is left alone for longer: the longest pause of relay/tasks/clock.ts, and some more. */
const LONGEST_PAUSE_MS = 3_600_000;

type Queries = Pick<TaskStore, "byClientKey" | "find" | "findMany" | "list" | "findAny" | "remove" | "due" | "nudge">;

export function taskQueries({ db, now }: Pick<Services, "db" | "now">): Queries {
  const t = db.t.tasks;
  const owned = (platforms: readonly TaskPlatform[], user_id: number) =>
    and(inArray(t.platform, [...platforms]), eq(t.user_id, user_id));
  const one = (where: SQL | undefined) => findTask(db, where);
  return {
    byClientKey: (client_key) => one(eq(t.client_key, client_key)),

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
      // Later than any pause lasts: the clock was set back since.
      const isDue = or(lte(t.next_poll_at_ms, now()), gt(t.next_poll_at_ms, now() + LONGEST_PAUSE_MS));
      const rows = await db.q
        .select()
        .from(t)
        .where(and(ne(t.next_poll_at_ms, 0), isDue))
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
