/**
 * Jobs that take minutes: drawing, music, video, batches, background responses. The names that SQL, wire and console share;
 * their words and colours are the console's.
 */
import * as z from "zod";
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "./envelope";

/**
 * Where a job stands (specification, task status). NOT_START: not known to be accepted yet. MODAL: Midjourney waits for its
 * owner. UNKNOWN: the vendor said something that nobody knows.
 */
export const TASK_STATUSES = ["NOT_START", "SUBMITTED", "QUEUED", "IN_PROGRESS", "MODAL", "UNKNOWN", "SUCCESS", "FAILURE"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** A job in one of these will not change any more. */
export const FINAL_STATUSES = ["SUCCESS", "FAILURE"] as const satisfies readonly TaskStatus[];
export type FinalStatus = (typeof FINAL_STATUSES)[number];

export const isFinal = (status: TaskStatus): status is FinalStatus => status === "SUCCESS" || status === "FAILURE";

/** Who does a job, as the column `platform` says it; the name is that of a filter. `mj` rows are listed by /api/mj, the others by /api/task. */
export const TASK_PLATFORMS = {
  mj: "Midjourney",
  suno: "Suno",
  kling: "Kling",
  jimeng: "Jimeng",
  vidu: "Vidu",
  doubao: "Doubao",
  sora: "Sora",
  veo: "Veo",
  wan: "Wan",
  hailuo: "Hailuo",
  replicate: "Replicate",
  batch: "Batch",
  response: "Response",
} as const satisfies Record<string, string>;
export type TaskPlatform = keyof typeof TASK_PLATFORMS;

/** What a job makes, as the column `action` says it. Midjourney's and Suno's are the specification's, the videos' those of facts/compatibility.md 7.3. */
export const TASK_ACTIONS = {
  mj: [
    "IMAGINE", "UPSCALE", "VARIATION", "HIGH_VARIATION", "LOW_VARIATION", "PAN", "DESCRIBE", "BLEND", "UPLOAD", "SHORTEN", "REROLL", "INPAINT",
    "ZOOM", "CUSTOM_ZOOM", "MODAL", "SWAP_FACE", "EDITS", "VIDEO",
  ],
  suno: ["MUSIC", "LYRICS"],
  video: ["generate", "textGenerate", "firstTailGenerate", "referenceGenerate", "remixGenerate"],
  batch: ["BATCH"],
  response: ["RESPONSE"],
} as const;

/** A row of /api/task and /api/task/self. Texts are never null. */
export interface TaskView {
  id: number;
  task_id: string;
  platform: string;
  action: string;
  status: TaskStatus;
  /** "45%" */
  progress: string;
  fail_reason: string;
  prompt: string;
  model: string;
  /** Epoch seconds; 0 = not yet. */
  submit_time: number;
  start_time: number;
  finish_time: number;
  /** Units charged, net of what was given back. */
  quota: number;
  /** The vendor's last answer, without addresses that only the engine may use. */
  data: unknown;
  /** Administrators only. */
  channel_id?: number;
  user_id?: number;
  username?: string;
}

/** A row of /api/mj and /api/mj/self (specification, mj fields). Texts are never null. */
export interface MjView {
  id: number;
  mj_id: string;
  action: string;
  /** The code that the vendor answered the submit with: 1, 21, 22, 0 = none. */
  code: number;
  status: TaskStatus;
  progress: string;
  prompt: string;
  prompt_en: string;
  description: string;
  state: string;
  fail_reason: string;
  image_url: string;
  buttons: string;
  properties: string;
  /** Epoch milliseconds; 0 = not yet. */
  submit_time: number;
  start_time: number;
  finish_time: number;
  quota: number;
  /** 0 or absent for ordinary users. */
  channel_id?: number;
  user_id?: number;
  username?: string;
}

/** Absent, '' and NaN as texts are "no filter" at the REST door already. */
const id = z.number().int().min(0).optional();
const time = z.number().optional();

/** Filters of both lists. Times are seconds for /api/task and milliseconds for /api/mj. */
const listInput = {
  p: z.number().int().min(0).default(1),
  page_size: z.number().int().min(1).max(MAX_PAGE_SIZE).default(DEFAULT_PAGE_SIZE),
  /** Honoured for administrators only. */
  channel_id: id,
  start_timestamp: time,
  end_timestamp: time,
  status: z.string().max(32).optional(),
  action: z.string().max(64).optional(),
};

export const taskListInput = z.object({ ...listInput, task_id: z.string().max(128).optional(), platform: z.string().max(32).optional() });
export type TaskListInput = z.infer<typeof taskListInput>;

export const mjListInput = z.object({ ...listInput, mj_id: z.string().max(128).optional() });
export type MjListInput = z.infer<typeof mjListInput>;
