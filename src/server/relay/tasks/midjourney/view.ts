/**
 * A drawing job as its owner's program reads it: the camelCase object of midjourney-proxy (facts/compatibility.md 7.1).
 */
import { type MjData, MJ_VIDEO_PATH, mjImageUrl, mjText, readMjData } from "../../../../shared/midjourney";
import { isFinal } from "../../../../shared/task";
import type { JsonObject } from "../../../lib/json-bytes";
import type { Task } from "../../../contracts/task-store";
import { callerCode, filmsOf, isAction } from "./answer";

export interface MjShown {
  /** Our address for pictures; undefined = the vendor's are told. */
  server: string | undefined;
  /** Epoch milliseconds. */
  now: number;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The films: their own addresses, or ours. */
function filmsShown(task_id: string, { task = {} }: Pick<MjData, "task">, { server }: MjShown): readonly string[] {
  const films = filmsOf(task);
  return server === undefined
    ? films
    : films.map((_, index) => `${server}${MJ_VIDEO_PATH}${task_id}${index === 0 ? "" : `/${index}`}`);
}

/** What a job is to its owner. Times are epoch milliseconds, 0 = not yet; texts are never null. */
export function shownTask(job: Task, shown: MjShown): JsonObject {
  const data = readMjData(job.data);
  const { task = {} } = data;
  const films = filmsShown(job.task_id, data, shown);
  return {
    id: job.task_id,
    action: job.action,
    customId: text(job.input.customId),
    botType: text(job.input.botType),
    prompt: job.prompt === "" ? mjText(data, "prompt") : job.prompt,
    promptEn: mjText(data, "promptEn"),
    description: mjText(data, "description"),
    state: text(job.input.state),
    submitTime: job.submit_time_ms,
    startTime: job.start_time_ms,
    finishTime: job.finish_time_ms,
    imageUrl: mjImageUrl(job.task_id, data, shown.server, isFinal(job.status) ? undefined : shown.now),
    ...(films.length > 0 && { videoUrl: films[0], videoUrls: films.map((url) => ({ url })) }),
    status: job.status,
    progress: job.progress,
    failReason: job.fail_reason,
    buttons: Array.isArray(task.buttons) ? task.buttons : [],
    maskBase64: "",
    properties: propertiesOf(data),
  };
}

/** `finalPrompt` and `finalZhPrompt` are always there: they are what describing and shortening come to. */
function propertiesOf({ task, properties }: MjData): JsonObject {
  const given = task?.properties;
  const own: JsonObject =
    typeof given === "object" && given !== null && !Array.isArray(given) ? { ...given } : properties;
  return { ...own, finalPrompt: text(own.finalPrompt), finalZhPrompt: text(own.finalZhPrompt) };
}

/** The answer to a submit that was taken: the vendor's, with our id and the code as callers read it. */
export function shownAnswer(job: Task, shown: MjShown): JsonObject {
  const data = readMjData(job.data);
  const { code, description, properties, result } = data;
  const { imageUrl } = properties;
  return {
    code: isAction(job.action) ? callerCode(code, job.action) : code,
    description,
    properties:
      imageUrl === undefined
        ? properties
        : { ...properties, imageUrl: mjImageUrl(job.task_id, { task: properties }, shown.server) },
    result: result ?? job.task_id,
  };
}
