/** A row of the table `tasks` as the relay's Task, and back. */
import { and, eq, type SQL, sql } from "drizzle-orm";
import { LOG_TYPE } from "../../../shared/log";
import type { TaskPlatform, TaskStatus } from "../../../shared/task";
import { cut, TEXT_LIMITS } from "../../../shared/text-limits";
import type { Task, TaskChange, TaskState } from "../../contracts/task-store";
import type { Tables, TaskRow } from "../../db/schema";
import { withoutNul } from "../../db/sql";
import type { Db } from "../../db/types";

/** JSON that `jsonText` wrote; undefined for ''. */
const parsed = (text: string): unknown => (text === "" ? undefined : JSON.parse(text));

/** Name, status and owner of a job. Only this feature writes the columns, from these very types. */
export const nameOf = ({ platform, status, task_id, user_id }: TaskRow) => ({
  platform: platform as TaskPlatform,
  status: status as TaskStatus,
  task_id,
  user_id,
});

export const taskOf = (row: TaskRow): Task => ({
  ...row,
  ...nameOf(row),
  input: (parsed(row.input) ?? {}) as Task["input"],
  data: parsed(row.data),
  state: parsed(row.state) as TaskState,
});

export const jsonText = (value: unknown): string => (value === undefined ? "" : JSON.stringify(value));

export async function findTask({ q, t }: Pick<Db, "q" | "t">, where: SQL | undefined): Promise<Task | undefined> {
  const [row] = await q.select().from(t.tasks).where(where);
  return row && taskOf(row);
}

/** The columns that a change sets; texts of callers and vendors without what an engine cannot store. */
export function changedColumns(t: Tables["tasks"], { data, state, prompt, fail_reason, ...rest }: TaskChange) {
  // The job of an erased user goes on without its content: eraseUser empties `input`, which is never empty otherwise.
  const unlessErased = (text: string) => sql<string>`case when ${t.input} = '' then '' else ${withoutNul(text)} end`;
  return {
    ...rest,
    ...(fail_reason !== undefined && { fail_reason: cut(withoutNul(fail_reason), TEXT_LIMITS.task_reason) }),
    ...(prompt !== undefined && { prompt: unlessErased(cut(prompt, TEXT_LIMITS.task_prompt)) }),
    ...(data !== undefined && { data: unlessErased(jsonText(data)) }),
    ...(state && { state: withoutNul(jsonText(state)) }),
  };
}

/** The log row of a job's charge. */
export const isChargeRow = ({ logs }: Pick<Tables, "logs">, charge_id: string): SQL | undefined =>
  and(eq(logs.request_id, charge_id), eq(logs.type, LOG_TYPE.consume));
