/** A drawing job in the format of its owner's client: the camelCase object of midjourney-proxy. */
import { type MjData, MJ_VIDEO_PATH, mjImageUrl, mjText, readMjData } from "../../../../shared/midjourney";
import { isFinal } from "../../../../shared/task";
import type { JsonObject } from "../../../lib/json-bytes";
import type { Task } from "../../../contracts/task-store";
import { callerCode, videosOf, isAction } from "./answer";

export interface MjShown {
  /** Weir's base address for images; undefined = the vendor's addresses are returned. */
  server: string | undefined;
  /** Epoch milliseconds. */
  now: number;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The videos: the vendor's addresses, or Weir's. */
function shownVideos(task_id: string, { task = {} }: Pick<MjData, "task">, { server }: MjShown): readonly string[] {
  const videos = videosOf(task);
  return server === undefined
    ? videos
    : videos.map((_, index) => `${server}${MJ_VIDEO_PATH}${task_id}${index === 0 ? "" : `/${index}`}`);
}

/** A job as its owner sees it. Times are epoch milliseconds, 0 = not yet; strings are never null. */
export function shownTask(job: Task, shown: MjShown): JsonObject {
  const data = readMjData(job.data);
  const { task = {} } = data;
  const films = shownVideos(job.task_id, data, shown);
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

/** `finalPrompt` and `finalZhPrompt` are always present: they hold the result of describe and shorten. */
function propertiesOf({ task, properties }: MjData): JsonObject {
  const given = task?.properties;
  const own: JsonObject =
    typeof given === "object" && given !== null && !Array.isArray(given) ? { ...given } : properties;
  return { ...own, finalPrompt: text(own.finalPrompt), finalZhPrompt: text(own.finalZhPrompt) };
}

/** The response to an accepted submit: the vendor's, with our id and the code for callers. */
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
