/**
 * The responses of midjourney-proxy: {code, description, properties, result} to a submit, the task object to a query.
 * Wire shapes: github.com/novicezk/midjourney-proxy docs/api.md sections 1 and 2,
 * github.com/litter-coder/midjourney-proxy-plus docs/api.md (buttons, MODAL), read November 2026.
 */
import { MJ_ACTIONS, MJ_CODE, type MjAction, WINDOW_ACTIONS } from "../../../../shared/midjourney";
import { openaiChat } from "../../../protocol/dialects/openai-chat/dialect";
import type { WireError } from "../../../protocol/chat-events";
import { isObject, type JsonObject, tryParse } from "../../../lib/json-bytes";

export interface SubmitAnswer {
  code: number;
  description: string;
  /** The vendor's id of the job; "" = none. */
  upstream_id: string;
  properties: JsonObject;
  /** The response unchanged. */
  raw: JsonObject;
}

const ACCEPTED: ReadonlySet<number> = new Set([MJ_CODE.submitted, MJ_CODE.existed, MJ_CODE.queued]);

/** undefined: not a response of this vendor. */
export function readSubmitAnswer(body: unknown): SubmitAnswer | undefined {
  if (!isObject(body)) return undefined;
  const { code, description, result, properties } = body;
  if (typeof code !== "number" || !Number.isInteger(code)) return undefined;
  // Ids are strings; some deployments send numbers, and large numbers have lost digits already.
  const id =
    typeof result === "string"
      ? result
      : typeof result === "number" && Number.isSafeInteger(result)
        ? String(result)
        : "";
  return {
    code,
    description: typeof description === "string" ? description : "",
    upstream_id: id,
    properties: isObject(properties) ? properties : {},
    raw: body,
  };
}

/** The error of a gateway in front of the vendor ({description, type, code}), or OpenAI's error object. */
export function readMjError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  const { description, type, code } = body;
  if (typeof description !== "string" || typeof type !== "string") return openaiChat.readError(body);
  return { message: description, type, code: typeof code === "number" ? String(code) : "", param: null };
}

/**
 * Whether the vendor accepted the job; undefined when it says so without an id, because such a job cannot be polled. An
 * upload is accepted with its result alone, a list of addresses.
 */
export function isAccepted({ code, upstream_id, raw }: SubmitAnswer, action: MjAction): boolean | undefined {
  if (!ACCEPTED.has(code)) return false;
  return upstream_id !== "" || (action === "UPLOAD" && Array.isArray(raw.result)) ? true : undefined;
}

/** Whether a job's action belongs to this vendor. */
export const isAction = (action: string): action is MjAction => MJ_ACTIONS.some((known) => known === action);

/**
 * The code that the caller gets: "exists" and "queued" become "accepted" (C-371), except for a modal that waits for
 * input, which is reported as 21.
 */
export function callerCode(code: number, action: MjAction): number {
  if (code === MJ_CODE.queued) return MJ_CODE.submitted;
  return code === MJ_CODE.existed && !WINDOW_ACTIONS.has(action) ? MJ_CODE.submitted : code;
}

export type MjStatus = "NOT_START" | "SUBMITTED" | "MODAL" | "IN_PROGRESS" | "SUCCESS" | "FAILURE";
const statuses: Readonly<Record<string, MjStatus>> = {
  NOT_START: "NOT_START",
  SUBMITTED: "SUBMITTED",
  MODAL: "MODAL",
  IN_PROGRESS: "IN_PROGRESS",
  SUCCESS: "SUCCESS",
  FAILURE: "FAILURE",
  // Sent by forks of the proxy.
  CANCEL: "FAILURE",
  CANCELLED: "FAILURE",
};

/** The members of the task object that the relay uses. */
export interface TaskAnswer {
  upstream_id: string;
  /** undefined: an unknown status, which changes nothing. */
  status: MjStatus | undefined;
  /** "37%", "" = unknown. */
  progress: string;
  fail_reason: string;
  /** The image, or the first of the videos; "" = none yet. */
  file: string;
  /** Epoch milliseconds, 0 = unknown. */
  start_time_ms: number;
  finish_time_ms: number;
  /** The object unchanged. */
  raw: JsonObject;
}

/** Actions whose result is text. */
const WORDS: ReadonlySet<string> = new Set<MjAction>(["DESCRIBE", "SHORTEN", "UPLOAD"]);

/** Whether a successful job has a file. */
export const leavesFile = (action: string): boolean => !WORDS.has(action);

/** The URL of a file; a small one may be a data URL (RFC 2397). */
const ADDRESS = /^(?:https?:\/\/|data:(?:image|video)\/)/i;
const address = (value: unknown): string => (typeof value === "string" && ADDRESS.test(value) ? value : "");
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const time = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;

/** The image of a task object; "" = none. */
export const pictureOf = (task: JsonObject): string => address(task.imageUrl);

/**
 * The videos of a task object: `videoUrl`, or `videoUrls` as URLs, as objects that contain one, or as a JSON string of
 * such a list.
 */
export function videosOf({ videoUrl, videoUrls }: JsonObject): readonly string[] {
  const list: unknown = typeof videoUrls === "string" ? tryParse(Buffer.from(videoUrls)) : videoUrls;
  const videos = (Array.isArray(list) ? list : [])
    .map((film: unknown) => address(isObject(film) ? film.url : film))
    .filter((film) => film !== "");
  const first = address(videoUrl);
  return first === "" ? videos : [first, ...videos.filter((film) => film !== first)];
}

/** undefined: not a task object. */
export function readTask(body: unknown): TaskAnswer | undefined {
  if (!isObject(body)) return undefined;
  const { id, status, progress, failReason, startTime, finishTime } = body;
  const upstream_id = typeof id === "number" ? String(id) : text(id);
  if (upstream_id === "") return undefined;
  return {
    upstream_id,
    status: typeof status === "string" && Object.hasOwn(statuses, status) ? statuses[status] : undefined,
    progress: /^\d{1,3}%$/.test(text(progress)) ? text(progress) : "",
    fail_reason: text(failReason),
    file: pictureOf(body) || (videosOf(body)[0] ?? ""),
    start_time_ms: time(startTime),
    finish_time_ms: time(finishTime),
    raw: body,
  };
}
