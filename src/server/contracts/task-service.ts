/** The operations on jobs for the rest of the process. */
import type { TaskPlatform } from "../../shared/task";
import type { Lang } from "../../shared/text";
import type { Task } from "./task-store";

/** The viewer of a job, for routes that know them without a key. */
export interface TaskAccess {
  platform: TaskPlatform;
  task_id: string;
  /** undefined: an administrator, who may see every job. */
  user_id: number | undefined;
}

export interface TaskService {
  /** One round of polling open jobs. Only one instance does it at a time. */
  poll(): Promise<void>;
  /** The file of a job, the `index`th from 0. Never rejects; errors are JSON in OpenAI's form. */
  file(access: TaskAccess & { index: number }, request: Request, requestId: string, lang: Lang): Promise<Response>;
  /** The kinds of a finished job's files, in order. Throws task_not_found. */
  files(access: TaskAccess): Promise<ResultFile["media"][]>;
  /** Cancels a job. Throws task_not_found, task_not_cancellable, upstream_error. */
  cancel(access: TaskAccess): Promise<Task>;
  canCancel(task: Pick<Task, "platform" | "status">): boolean;
}

/**
 * The location of a finished job's file. `media` is the kind that the job makes; the response never has another one.
 */
export type ResultFile = { media: "image" | "video" | "audio" } &
  /**
   * `public`: an address that needs no credentials, fetched under the egress rule. `channel`: the channel's own
   * address, with these headers and its proxy.
   */
  (
    | { from: "public" | "channel"; url: string; headers?: Record<string, string> }
    /** The vendor delivers it inside a response: the bytes, fetched again. undefined: it no longer exists. */
    | { from: "answer"; read(): Promise<{ type: string; bytes: Uint8Array<ArrayBuffer> } | undefined> }
  );
