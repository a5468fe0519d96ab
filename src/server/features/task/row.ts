/** A row of the table `tasks` as the relay's Task, and back. */
import type { TaskPlatform, TaskStatus } from "../../../shared/task";
import type { TaskRow } from "../../db/schema";
import type { Task, TaskState } from "../../relay/tasks/task";

/** JSON that this house wrote; undefined for ''. */
const parsed = (text: string): unknown => (text === "" ? undefined : JSON.parse(text));

export const taskOf = (row: TaskRow): Task => ({
  ...row,
  // Written by the engine alone, from these very types.
  platform: row.platform as TaskPlatform,
  status: row.status as TaskStatus,
  input: (parsed(row.input) ?? {}) as Task["input"],
  data: parsed(row.data),
  state: parsed(row.state) as TaskState,
});

export const jsonText = (value: unknown): string => (value === undefined ? "" : JSON.stringify(value));
