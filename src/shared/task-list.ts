/**
 * Reading jobs: filters, pages and rows of the two lists, drawing (`/api/mj/`, milliseconds) and everything else
 * (`/api/task/`, seconds). Specification: C-153 to C-156, C-286 to C-294, C-552 to C-556.
 */
import * as z from "zod";
import type { Page } from "./envelope";
import { listSize, pageShape } from "./paging";

/** The fields of a job in both lists. Texts are never null. */
interface JobView {
  id: number;
  user_id: number;
  username: string;
  /** 0 for ordinary users. */
  channel_id: number;
  group: string;
  model: string;
  action: string;
  status: string;
  /** "45%" or ''. */
  progress: string;
  fail_reason: string;
  prompt: string;
  /** Units charged, minus refunds. */
  quota: number;
  /** Units refunded. */
  refunded: number;
  /** Request id of the log row of its charge; '' = nothing was charged. */
  request_id: string;
  /** 0 until then. In milliseconds (drawing) or seconds (tasks). */
  submit_time: number;
  start_time: number;
  finish_time: number;
}

/** A drawing job; times in milliseconds. */
export interface DrawingView extends JobView {
  mj_id: string;
  /** The vendor's code of the submit: 1 accepted, 21, 22; 0 = not accepted. */
  code: number;
  description: string;
  prompt_en: string;
  state: string;
  /** The picture's address, or ''. */
  image_url: string;
  /** JSON, or ''. */
  buttons: string;
  properties: string;
}

/** Any other job; times in seconds. */
export interface TaskView extends JobView {
  task_id: string;
  platform: string;
}

/** With the vendor's last answer, as its owner may see it. */
export type TaskDetail = TaskView & { data?: unknown };

/** A row of `GET /api/task/`. Jobs keep no other times: made at the submit, last changed at the latest of the three. */
export type TaskRest = TaskDetail & { created_at: number; updated_at: number; properties: { input: string } };

/** A file that a job made, in the order of the job's files. */
export interface JobFile {
  media: "image" | "video" | "audio";
  /** An address on this server, without its origin. */
  url: string;
}

/** A job opened in the console. */
export type Opened<Row> = Row & {
  files: JobFile[];
  /** It is still running, and its vendor can cancel it. */
  cancellable: boolean;
};

/** A page with its total: exact up to MAX_TASK_TOTAL rows, and that number with `total_exact` false beyond. */
export interface JobPage<Row> extends Page<Row> {
  total_exact: boolean;
}

/** Counting further would cost more than the number is worth. */
export const MAX_TASK_TOTAL = 10_000;

const id = z.string().max(200).optional();
/** Later times are refused; milliseconds of these are exact. */
const MAX_SECONDS = 1e12;
const seconds = z.number().min(0).max(MAX_SECONDS).optional();
const milliseconds = z
  .number()
  .min(0)
  .max(MAX_SECONDS * 1000)
  .optional();
const channel = z.int().min(0).optional();

/** REST; invalid values count as absent, `end_timestamp=NaN` for one (C-556). */
const listed = pageShape;
const drawingSelf = {
  mj_id: id,
  start_timestamp: milliseconds.catch(undefined),
  end_timestamp: milliseconds.catch(undefined),
};
const taskSelf = {
  task_id: id,
  platform: id,
  action: id,
  status: id,
  start_timestamp: seconds.catch(undefined),
  end_timestamp: seconds.catch(undefined),
};
export const drawingSelfRest = z.object({ ...listed, ...drawingSelf });
export const drawingListRest = z.object({ ...listed, ...drawingSelf, channel_id: channel.catch(undefined) });
export const taskSelfRest = z.object({ ...listed, ...taskSelf });
export const taskListRest = z.object({ ...listed, ...taskSelf, channel_id: channel.catch(undefined) });

/** The console: pages from 1 with a total. Channel and user are for administrators, and ignored from others. */
const paged = {
  page: z.int().min(1).max(1e9).default(1),
  page_size: listSize,
  action: id,
  status: id,
  channel_id: channel,
  username: id,
};
export const drawingListInput = z.object({
  ...paged,
  mj_id: id,
  start_timestamp: milliseconds,
  end_timestamp: milliseconds,
});
export const taskListInput = z.object({
  ...paged,
  task_id: id,
  platform: id,
  start_timestamp: seconds,
  end_timestamp: seconds,
});

export const jobInput = z.object({ id: z.int().positive() });

/** A file of a job by the job's row, the `n`th from 0: `GET /api/task/file?id=7&n=0`. */
export const jobFileRest = z.object({ id: z.int().positive(), n: z.int().min(0).max(10_000).default(0) });
