/**
 * What midjourney-proxy answers: to a submit {code, description, properties, result}, to a question the task object.
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
  /** Everything as it came. */
  raw: JsonObject;
}

const ACCEPTED: ReadonlySet<number> = new Set([MJ_CODE.submitted, MJ_CODE.existed, MJ_CODE.queued]);

/** undefined: no answer of this vendor. */
export function readSubmitAnswer(body: unknown): SubmitAnswer | undefined {
  if (!isObject(body)) return undefined;
  const { code, description, result, properties } = body;
  if (typeof code !== "number" || !Number.isInteger(code)) return undefined;
  // Ids are texts; some deployments write them as numbers, and too large ones have lost digits already.
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

/**
 * The error of a gateway in front of the vendor ({description, type, code}, facts/compatibility.md 7.1), or OpenAI's
 * error object.
 */
export function readMjError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  const { description, type, code } = body;
  if (typeof description !== "string" || typeof type !== "string") return openaiChat.readError(body);
  return { message: description, type, code: typeof code === "number" ? String(code) : "", param: null };
}

/**
 * Whether the vendor took the job; undefined when it says so and names none, which nobody could ask after. An upload is
 * taken with its result alone, a list of addresses.
 */
export function isAccepted({ code, upstream_id, raw }: SubmitAnswer, action: MjAction): boolean | undefined {
  if (!ACCEPTED.has(code)) return false;
  return upstream_id !== "" || (action === "UPLOAD" && Array.isArray(raw.result)) ? true : undefined;
}

/** Whether a job's action is one of this vendor's. */
export const isAction = (action: string): action is MjAction => MJ_ACTIONS.some((known) => known === action);

/**
 * The code that the caller reads: "exists" and "queued" are as good as accepted to him (C-371), but for a window that
 * waits to be filled in, where 21 says so.
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
  // Said by descendants of the proxy.
  CANCEL: "FAILURE",
  CANCELLED: "FAILURE",
};

/** The task object, as far as anything depends on it. */
export interface TaskAnswer {
  upstream_id: string;
  /** undefined: a word that means nothing here; nothing changes. */
  status: MjStatus | undefined;
  /** "37%", "" = not said. */
  progress: string;
  fail_reason: string;
  /** The picture, or the first of the films; "" = none yet. */
  file: string;
  /** Epoch milliseconds, 0 = not said. */
  start_time_ms: number;
  finish_time_ms: number;
  /** Everything as it came. */
  raw: JsonObject;
}

/** Actions whose result is words. */
const WORDS: ReadonlySet<string> = new Set<MjAction>(["DESCRIBE", "SHORTEN", "UPLOAD"]);

/** Whether a job that ends well leaves a file. */
export const leavesFile = (action: string): boolean => !WORDS.has(action);

/** Where a file is; a small one may stand in its address itself (RFC 2397). */
const ADDRESS = /^(?:https?:\/\/|data:(?:image|video)\/)/i;
const address = (value: unknown): string => (typeof value === "string" && ADDRESS.test(value) ? value : "");
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const time = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;

/** The picture of a task object; "" = none. */
export const pictureOf = (task: JsonObject): string => address(task.imageUrl);

/**
 * The films of a task object: `videoUrl`, or `videoUrls` as addresses, as objects that hold one, or as the text of such
 * a list.
 */
export function filmsOf({ videoUrl, videoUrls }: JsonObject): readonly string[] {
  const list: unknown = typeof videoUrls === "string" ? tryParse(Buffer.from(videoUrls)) : videoUrls;
  const films = (Array.isArray(list) ? list : [])
    .map((film: unknown) => address(isObject(film) ? film.url : film))
    .filter((film) => film !== "");
  const first = address(videoUrl);
  return first === "" ? films : [first, ...films.filter((film) => film !== first)];
}

/** undefined: no task object. */
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
    file: pictureOf(body) || (filmsOf(body)[0] ?? ""),
    start_time_ms: time(startTime),
    finish_time_ms: time(finishTime),
    raw: body,
  };
}
