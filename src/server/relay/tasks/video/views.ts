/**
 * A job in the format of each route: OpenAI's video, the task object of `/v1/video/generations`, Kling's and Jimeng's
 * own responses.
 */
import type { TaskStatus } from "../../../../shared/task";
import { videoTariff } from "../../../../shared/video-tariffs";
import { compact, list, number, object, text } from "../../../protocol/dialects/shared/json";
import type { JsonObject } from "../../../lib/json-bytes";
import type { Task } from "../../../contracts/task-store";

const seconds = (ms: number): number => Math.floor(ms / 1000);
const percentOf = ({ progress, status }: Task): number =>
  status === "SUCCESS" ? 100 : Number.parseInt(progress, 10) || 0;

/** The shown part of a finished job (provider.ts). */
function shown({ data }: Task): {
  files: string[];
  count: number;
  pictures: boolean;
  seconds?: number;
  error: JsonObject;
} {
  const { files, count, media, seconds: length, error } = object(data);
  const urls = list(files).filter((file) => typeof file === "string");
  return compact({
    files: urls,
    count: number(count) ?? 1,
    pictures: media === "image",
    seconds: number(length),
    error: object(error),
  });
}

/**
 * The URLs of the files of a finished job: the vendor's if they are public, else Weir's own content route, which needs
 * the caller's key. None before it is finished.
 */
function addressesOf(task: Task, server: string): string[] {
  if (task.status !== "SUCCESS") return [];
  const { files, count } = shown(task);
  if (files.length > 0) return files;
  return Array.from(
    { length: count },
    (_, index) => `${server}/v1/videos/${task.task_id}/content${index === 0 ? "" : `?index=${index}`}`,
  );
}

type Words = Readonly<Record<TaskStatus, string>>;

const openaiStatuses: Words = {
  NOT_START: "queued",
  SUBMITTED: "queued",
  QUEUED: "queued",
  IN_PROGRESS: "in_progress",
  MODAL: "in_progress",
  UNKNOWN: "in_progress",
  SUCCESS: "completed",
  FAILURE: "failed",
};

/**
 * OpenAI's video object (types of the `openai` SDK 7.55), with `task_id` and `metadata.url` added as in
 * `/v1/video/generations`.
 */
export function openaiVideo(task: Task, server: string): JsonObject {
  const { input, model, parent_id, finish_time_ms, status } = task;
  const { seconds: made, error } = shown(task);
  const length = made ?? number(input.seconds) ?? videoTariff(model)?.seconds;
  const failed = { code: text(error.code) || "video_generation_failed", message: task.fail_reason };
  const urls = addressesOf(task, server);
  return {
    id: task.task_id,
    task_id: task.task_id,
    object: "video",
    model,
    status: openaiStatuses[status],
    progress: percentOf(task),
    created_at: seconds(task.submit_time_ms),
    completed_at: status === "SUCCESS" ? seconds(finish_time_ms) : null,
    expires_at: null,
    prompt: task.prompt,
    seconds: length === undefined ? "" : String(length),
    size: text(input.size),
    remixed_from_video_id: parent_id === "" ? null : parent_id,
    error: status === "FAILURE" ? failed : null,
    ...(status === "SUCCESS" && { metadata: { url: urls[0], ...(urls.length > 1 && { urls }) } }),
  };
}

/** The task object of `/v1/video/generations`. Its clients also read a finished job's URL from `fail_reason`. */
export function taskObject(task: Task, server: string): JsonObject {
  const [url] = addressesOf(task, server);
  return {
    task_id: task.task_id,
    action: task.action,
    status: task.status,
    fail_reason: url ?? task.fail_reason,
    submit_time: seconds(task.submit_time_ms),
    start_time: seconds(task.start_time_ms),
    finish_time: seconds(task.finish_time_ms),
    progress: task.progress,
    data: compact({ ...object(task.data), url }),
  };
}

const klingStatuses: Words = {
  NOT_START: "submitted",
  SUBMITTED: "submitted",
  QUEUED: "submitted",
  IN_PROGRESS: "processing",
  MODAL: "processing",
  UNKNOWN: "processing",
  SUCCESS: "succeed",
  FAILURE: "failed",
};

/** Kling's response about a task; its times are milliseconds. */
export function klingAnswer(task: Task, server: string, request_id: string): JsonObject {
  const { seconds: made } = shown(task);
  const urls = addressesOf(task, server);
  const length = made ?? number(task.input.seconds) ?? videoTariff(task.model)?.seconds;
  const duration = length === undefined ? "" : String(length);
  return {
    code: 0,
    message: "SUCCEED",
    request_id,
    task_id: task.task_id,
    data: {
      task_id: task.task_id,
      task_status: klingStatuses[task.status],
      task_status_msg: task.fail_reason,
      task_info: {},
      created_at: task.submit_time_ms,
      updated_at: task.finish_time_ms || task.start_time_ms || task.submit_time_ms,
      ...(task.status === "SUCCESS" && {
        task_result: { videos: urls.map((url, index) => ({ id: `${task.task_id}-${index}`, url, duration })) },
      }),
    },
  };
}

const jimengStatuses: Words = {
  NOT_START: "in_queue",
  SUBMITTED: "in_queue",
  QUEUED: "in_queue",
  IN_PROGRESS: "generating",
  MODAL: "generating",
  UNKNOWN: "generating",
  SUCCESS: "done",
  FAILURE: "done",
};

/** The code of a successful response, and of one with a failed job in it. */
const DONE = 10_000;
const FAILED = 50_500;

const envelope = (code: number, message: string, request_id: string, data: JsonObject | null): JsonObject => ({
  code,
  data,
  message,
  request_id,
  status: code,
  time_elapsed: "",
});

/** Jimeng's answer to a submit. */
export const jimengAccepted = ({ task_id }: Task, request_id: string): JsonObject =>
  envelope(DONE, "Success", request_id, { task_id });

/** Jimeng's response to a query: a failed job is `done`, and the code distinguishes it. */
export function jimengResult(task: Task, server: string, request_id: string): JsonObject {
  const { error, pictures } = shown(task);
  if (task.status === "FAILURE") {
    const code = Number(error.code);
    return envelope(code >= FAILED - 100 && code < FAILED + 100 ? code : FAILED, task.fail_reason, request_id, {
      status: "done",
    });
  }
  const urls = addressesOf(task, server);
  const made = task.status !== "SUCCESS" ? {} : pictures ? { image_urls: urls } : { video_url: urls[0] };
  return envelope(DONE, "Success", request_id, { status: jimengStatuses[task.status], ...made });
}
