/** What the rest of the process may ask of jobs: the timer that looks after them, and the console's doors. */
import { AppError, fail } from "../../../shared/errors";
import type { Engine } from "../call/call";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import { Door } from "../response/responder";
import { failureError, thrownError } from "../response/error-response";
import { Failed } from "../../protocol/upstream-error";
import { cancelTask, canCancel } from "./cancel";
import { filesOf, sendFile } from "./file";
import { pollTasks } from "./poll";
import type { Task } from "../../contracts/task-store";
import type { TaskDesk, TaskSight } from "../../contracts/task-desk";

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
