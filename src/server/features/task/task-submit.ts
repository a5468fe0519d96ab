/** A job from its row in the table to its accepted charge. */
import { and, eq } from "drizzle-orm";
import type { Services } from "../../contracts/context";
import type { NewTask, TaskStore } from "../../contracts/task-store";
import { withoutNul } from "../../db/sql";
import { run } from "../../db/transaction";
import { changedColumns, isChargeRow, jsonText, taskOf } from "./row";

type Submissions = Pick<TaskStore, "open" | "place" | "answered" | "charged" | "held" | "activate">;

export function taskSubmissions({ db, changes }: Pick<Services, "db" | "changes">): Submissions {
  const { tasks: t, logs, holds } = db.t;
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
      if (row) changes.tell("task", row.user_id);
      return row && taskOf(row);
    },

    async place(id, { state, ...place }) {
      await db.q
        .update(t)
        .set({ ...place, state: jsonText(state) })
        .where(and(eq(t.id, id), eq(t.status, "NOT_START")));
    },

    async answered(id, { upstream_id, deadline_ms, ...answer }) {
      const rows = await db.q
        .update(t)
        .set({ upstream_id: withoutNul(upstream_id), deadline_ms, ...changedColumns(t, answer) })
        .where(and(eq(t.id, id), eq(t.status, "NOT_START")))
        .returning({ id: t.id });
      return rows.length > 0;
    },

    async charged({ charge_id }) {
      return (await db.q.select({ id: logs.id }).from(logs).where(isChargeRow(db.t, charge_id))).length > 0;
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
          quota === 0
            ? [row]
            : yield* run(q.select({ id: logs.id }).from(logs).where(isChargeRow(db.t, row.charge_id)));
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
  };
}
