/** What the rest of the process may ask of jobs. */
import type { TaskPlatform } from "../../shared/task";
import type { Lang } from "../../shared/text";
import type { Task } from "./task-store";

/** Whose job, for a door that knows its viewer without a key. */
export interface TaskAccess {
  platform: TaskPlatform;
  task_id: string;
  /** undefined: an administrator, who sees everybody's. */
  user_id: number | undefined;
}

export interface TaskService {
  /** One round of looking after what is open. One instance does it at a time. */
  poll(): Promise<void>;
  /** The file of a job, the `index`th from 0. Never rejects; errors are JSON as OpenAI spells them. */
  file(access: TaskAccess & { index: number }, request: Request, requestId: string, lang: Lang): Promise<Response>;
  /** The kinds of a finished job's files, in order. Throws task_not_found. */
  files(access: TaskAccess): Promise<ResultFile["media"][]>;
  /** Stops a job. Throws task_not_found, task_not_cancellable, upstream_error. */
  cancel(access: TaskAccess): Promise<Task>;
  canCancel(task: Pick<Task, "platform" | "status">): boolean;
}

/** Where a finished job's file is. `media` is the kind that the job makes; a browser is told no other. */
export type ResultFile = { media: "image" | "video" | "audio" } &
  /**
   * `public`: anybody may fetch it, under the egress rule. `channel`: the channel's own address, with these headers and
   * its proxy.
   */
  (
    | { from: "public" | "channel"; url: string; headers?: Record<string, string> }
    /** The vendor hands it over inside an answer: the bytes, asked for anew. undefined: it is not there any more. */
    | { from: "answer"; read(): Promise<{ type: string; bytes: Uint8Array<ArrayBuffer> } | undefined> }
  );
