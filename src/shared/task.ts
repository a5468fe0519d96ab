/**
 * Jobs that take minutes: drawing, music, video, batches, background responses. The names that SQL, wire and console
 * share; their labels and colours are the console's. Their lists: task-list.ts.
 */

/**
 * Status of a job. NOT_START: not known to be accepted yet. MODAL: Midjourney waits for its owner's input. UNKNOWN: the
 * vendor sent an unknown status.
 */
export const TASK_STATUSES = [
  "NOT_START",
  "SUBMITTED",
  "QUEUED",
  "IN_PROGRESS",
  "MODAL",
  "UNKNOWN",
  "SUCCESS",
  "FAILURE",
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Final statuses. */
export const FINAL_STATUSES = ["SUCCESS", "FAILURE"] as const satisfies readonly TaskStatus[];
export type FinalStatus = (typeof FINAL_STATUSES)[number];

export const isFinal = (status: TaskStatus): status is FinalStatus => status === "SUCCESS" || status === "FAILURE";

/**
 * The platform of a job, as in the column `platform`; the name is that of a filter. `mj` rows are listed by /api/mj,
 * the others by /api/task.
 */
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

/** The result of a job, as in the column `action`. */
export const TASK_ACTIONS = {
  mj: [
    "IMAGINE",
    "UPSCALE",
    "VARIATION",
    "HIGH_VARIATION",
    "LOW_VARIATION",
    "PAN",
    "DESCRIBE",
    "BLEND",
    "UPLOAD",
    "SHORTEN",
    "REROLL",
    "INPAINT",
    "ZOOM",
    "CUSTOM_ZOOM",
    "MODAL",
    "SWAP_FACE",
    "EDITS",
    "VIDEO",
  ],
  suno: ["MUSIC", "LYRICS"],
  video: ["generate", "textGenerate", "firstTailGenerate", "referenceGenerate", "remixGenerate"],
  batch: ["BATCH"],
  response: ["RESPONSE"],
} as const;
