/** What the rest of the process may ask of jobs: the timer that looks after them, and the console's doors. */
import { AppError, fail } from "../../../shared/errors";
import type { TaskPlatform } from "../../../shared/task";
import type { Lang } from "../../../shared/text";
import type { Engine } from "../call/call";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import { Door } from "../response/responder";
import { failureError, thrownError } from "../response/error-response";
import { Failed } from "../../protocol/upstream-error";
import { cancelTask, canCancel } from "./cancel";
import { filesOf, sendFile } from "./file";
import { pollTasks } from "./poll";
import type { ResultFile } from "./provider";
import type { Task } from "../../contracts/task-store";

/** Whose job, for a door that knows its viewer without a key. */
export interface TaskSight {
  platform: TaskPlatform;
  task_id: string;
  /** undefined: an administrator, who sees everybody's. */
  user_id: number | undefined;
}

export interface TaskDesk {
  /** One round of looking after what is open. One instance does it at a time. */
  poll(): Promise<void>;
  /** The file of a job, the `index`th from 0. Never rejects; errors are JSON as OpenAI spells them. */
  file(sight: TaskSight & { index: number }, request: Request, requestId: string, lang: Lang): Promise<Response>;
  /** The kinds of a finished job's files, in order. Throws task_not_found. */
  files(sight: TaskSight): Promise<ResultFile["media"][]>;
  /** Stops a job. Throws task_not_found, task_not_cancellable, upstream_error. */
  cancel(sight: TaskSight): Promise<Task>;
  canCancel(task: Pick<Task, "platform" | "status">): boolean;
}

export function taskDesk(engine: Engine): TaskDesk {
  const see = async ({ platform, task_id, user_id }: TaskSight): Promise<Task> => {
    const { tasks: book } = engine.seams;
    const task =
      user_id === undefined ? await book.anybodys(platform, task_id) : await book.find([platform], task_id, user_id);
    return task ?? fail("task_not_found");
  };
  return {
    poll: () => pollTasks(engine),
    canCancel,
    async file({ index, ...sight }, request, requestId, lang) {
      const door = new Door(requestId, null);
      try {
        return await sendFile(engine, await see(sight), index, request, door);
      } catch (error) {
        if (error instanceof Failed) return door.error(openaiChat, failureError(error.failure, lang, requestId));
        if (!(error instanceof AppError))
          engine.log.error({ err: error, request_id: requestId }, "a file could not be sent");
        return door.error(openaiChat, thrownError(error, lang, requestId));
      }
    },
    files: async (sight) => (await filesOf(engine, await see(sight))).map(({ media }) => media),
    async cancel(sight) {
      try {
        return await cancelTask(engine, await see(sight));
      } catch (error) {
        throw error instanceof Failed
          ? new AppError("upstream_error", { status: error.failure.upstream_status || error.failure.status })
          : error;
      }
    },
  };
}
