/** A row of the table `tasks` as the relay's Task, and back. */
import type { TaskPlatform, TaskStatus } from "../../../shared/task";
import type { TaskRow } from "../../db/schema";
import type { Task, TaskState } from "../../contracts/task-store";

/** JSON that this house wrote; undefined for ''. */
const parsed = (text: string): unknown => (text === "" ? undefined : JSON.parse(text));

/** What names a job, its status, and whose it is. Written by the engine alone, from these very types. */
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
