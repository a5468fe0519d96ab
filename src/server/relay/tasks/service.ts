/** The task functions for the rest of the process: the polling timer, and the console's routes. */
import { AppError, fail } from "../../../shared/errors";
import type { Engine } from "../call/call";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import { Responder } from "../response/responder";
import { failureError, thrownError } from "../response/error-response";
import { UpstreamError } from "../../protocol/upstream-error";
import { cancelTask, canCancel } from "./cancel";
import { filesOf, sendFile } from "./file";
import { pollTasks } from "./poll";
import type { Task } from "../../contracts/task-store";
import type { TaskService, TaskAccess } from "../../contracts/task-service";

export function createTaskService(engine: Engine): TaskService {
  const findTask = async ({ platform, task_id, user_id }: TaskAccess): Promise<Task> => {
    const { tasks: taskStore } = engine.controlPlane;
    const task =
      user_id === undefined
        ? await taskStore.findAny(platform, task_id)
        : await taskStore.find([platform], task_id, user_id);
    return task ?? fail("task_not_found");
  };
  return {
    poll: () => pollTasks(engine),
    canCancel,
    async file({ index, ...access }, request, requestId, lang) {
      const responder = new Responder(requestId, null);
      try {
        return await sendFile(engine, await findTask(access), index, request, responder);
      } catch (error) {
        if (error instanceof UpstreamError)
          return responder.error(openaiChat, failureError(error.failure, lang, requestId));
        if (!(error instanceof AppError))
          engine.log.error({ err: error, request_id: requestId }, "a file could not be sent");
        return responder.error(openaiChat, thrownError(error, { engine, lang, request_id: requestId }));
      }
    },
    files: async (access) => (await filesOf(engine, await findTask(access))).map(({ media }) => media),
    async cancel(access) {
      try {
        return await cancelTask(engine, await findTask(access));
      } catch (error) {
        throw error instanceof UpstreamError
          ? new AppError("upstream_error", { status: error.failure.upstream_status || error.failure.status })
          : error;
      }
    },
  };
}
