/**
 * Midjourney by way of midjourney-proxy and its Plus variant (channel types 2 and 5): actions, statuses, codes.
 * Sources: github.com/novicezk/midjourney-proxy docs/api.md and github.com/litter-coder/midjourney-proxy-plus
 * docs/api.md, read November 2026.
 */

/** Action -> the model that channels serve and that has a price. */
export const MJ_MODELS = {
  IMAGINE: "mj_imagine",
  UPSCALE: "mj_upscale",
  VARIATION: "mj_variation",
  HIGH_VARIATION: "mj_high_variation",
  LOW_VARIATION: "mj_low_variation",
  PAN: "mj_pan",
  DESCRIBE: "mj_describe",
  BLEND: "mj_blend",
  UPLOAD: "mj_upload",
  SHORTEN: "mj_shorten",
  REROLL: "mj_reroll",
  INPAINT: "mj_inpaint",
  ZOOM: "mj_zoom",
  CUSTOM_ZOOM: "mj_custom_zoom",
  MODAL: "mj_modal",
  SWAP_FACE: "swap_face",
  EDITS: "mj_edits",
  VIDEO: "mj_video",
} as const;

export type MjAction = keyof typeof MJ_MODELS;
export const MJ_ACTIONS = Object.keys(MJ_MODELS) as readonly MjAction[];

/** Actions that open a window for the caller's input instead of making a picture. */
export const WINDOW_ACTIONS: ReadonlySet<MjAction> = new Set(["INPAINT", "CUSTOM_ZOOM"]);

/** `code` of the response to a submit. */
export const MJ_CODE = {
  submitted: 1,
  no_account: 3,
  request_error: 4,
  unknown: 5,
  /** The job exists already, or waits for the input of its window. */
  existed: 21,
  queued: 22,
  queue_full: 23,
  banned_word: 24,
  /** Our own: too many calls; its HTTP status is 429. */
  busy: 30,
} as const;

/** The speed of a job: the path segment before /mj is `mj-<mode>`. */
export const MJ_MODES = ["fast", "relax", "turbo"] as const;
export type MjMode = (typeof MJ_MODES)[number];
/** A token's mode; "" leaves it to the caller. */
export const TOKEN_MJ_MODES = ["", ...MJ_MODES] as const;
export type TokenMjMode = (typeof TOKEN_MJ_MODES)[number];

/** A stored mode; "" for an invalid one. */
export const tokenMjMode = (text: string): TokenMjMode => TOKEN_MJ_MODES.find((mode) => mode === text) ?? "";

/**
 * The part of a job that is stored and may be shown (tasks.data): the vendor's response to the submit, and the last
 * task object.
 */
export interface MjData {
  /** MJ_CODE; 0 = the submit was not answered, or refused in another way. */
  code: number;
  /** The vendor's text of the response to the submit. */
  description: string;
  properties: Readonly<Record<string, unknown>>;
  /** Of an upload: the addresses for use in prompts. */
  result?: readonly unknown[];
  /**
   * The vendor's task object as received; absent before the first. Its picture may only be shown through mjImageUrl.
   */
  task?: Readonly<Record<string, unknown>>;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** tasks.data, whatever it contains. */
export function readMjData(data: unknown): MjData {
  const { code, description, properties, result, task } = isRecord(data) ? data : {};
  return {
    code: typeof code === "number" ? code : 0,
    description: typeof description === "string" ? description : "",
    properties: isRecord(properties) ? properties : {},
    ...(Array.isArray(result) && { result }),
    ...(isRecord(task) && { task }),
  };
}

/** A text of the task object; "" where it is missing or no text. */
export const mjText = ({ task }: Pick<MjData, "task">, name: string): string => {
  const value = task?.[name];
  return typeof value === "string" ? value : "";
};

export const MJ_IMAGE_PATH = "/mj/image/";
export const MJ_NOTIFY_PATH = "/mj/notify/";
export const MJ_VIDEO_PATH = "/mj/video/";

/**
 * The address of a job's picture for its owner; "" while there is none. `server`: our own address without a trailing
 * slash; undefined = the vendor's address is shown (option MjForwardUrlEnabled off). `fresh`: a number that changes
 * with the picture; absent when it is finished.
 */
export function mjImageUrl(
  task_id: string,
  data: Pick<MjData, "task">,
  server: string | undefined,
  fresh?: number,
): string {
  const url = mjText(data, "imageUrl");
  if (url === "" || server === undefined) return url;
  return `${server}${MJ_IMAGE_PATH}${task_id}${fresh === undefined ? "" : `?rand=${fresh}`}`;
}
