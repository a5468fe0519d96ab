/** A job as the relay sees it, and the store of jobs: every change of a status or of money goes through it. */
import type { JobSettlement } from "../../shared/log";
import type { TaskPlatform, TaskStatus } from "../../shared/task";
import type { Usage } from "../protocol/chat-events";
import type { JsonObject } from "../lib/json-bytes";
import type { CallTimes } from "../../shared/charge";
import type { Lang } from "../../shared/text";
import type { UsageDoubt } from "../../shared/usage-doubt";

/** The pricing terms of a job: the part of a call's terms that is stored after the submit. */
export interface Priced {
  /** By ratio: tokens. */
  usage: Usage;
  /** By call: how many results, and factors such as seconds, size, resolution. */
  times?: CallTimes;
  /** The vendor may run turns that are not shown (hidden-turns.ts). */
  hidden_turns?: true;
}

/** The engine's own data of a job, never shown (tasks.state). */
export interface TaskState {
  /** Units held before the submit; 0 = a free job, which has no charge to wait for. */
  units: number;
  /** The compiled price it was accepted at, as text (relay/tasks/price.ts). '' = it was not priced. */
  price: string;
  priced: Priced;
  /** Names of the budgets that its charge was taken from. */
  budgets: readonly string[];
  /** The caller's language, for later log rows. */
  lang: Lang;
  /** Hash of the submit's body, for a repeated Idempotency-Key. */
  input_hash: string;
  /** Consecutive failed polls. */
  fails: number;
  /** Units that a completed job costs beyond its charge, not yet charged. */
  owed?: number;
  /** Counts of the vendor that were rejected as impossible; stored on the row of the correction. */
  usage_doubts?: readonly UsageDoubt[];
  /**
   * The provider's own data for polling, cancelling and finding files. Never shown, so it may contain addresses and
   * ids.
   */
  own: JsonObject;
}

/** A job. Times are epoch milliseconds, 0 = not yet. */
export interface Task {
  readonly id: number;
  /** The id as its owner sees it. */
  readonly task_id: string;
  readonly platform: TaskPlatform;
  readonly action: string;
  readonly user_id: number;
  readonly username: string;
  readonly token_id: number;
  readonly group: string;
  readonly channel_id: number;
  readonly channel_key_id: number;
  /** As the caller named it. */
  readonly model: string;
  /** The vendor's id; '' until the vendor has accepted the submit. */
  readonly upstream_id: string;
  readonly parent_id: string;
  readonly status: TaskStatus;
  /** "45%" */
  readonly progress: string;
  readonly fail_reason: string;
  readonly prompt: string;
  readonly submit_time_ms: number;
  readonly start_time_ms: number;
  readonly finish_time_ms: number;
  /** Units charged, minus refunds. */
  readonly quota: number;
  /** Request id of its charge. */
  readonly charge_id: string;
  /** Units refunded. */
  readonly refunded: number;
  /** The caller's input, without media. */
  readonly input: JsonObject;
  /** The vendor's last response, as the provider shows it; undefined before the first. */
  readonly data: unknown;
  readonly state: TaskState;
  readonly polls: number;
  readonly deadline_ms: number;
}

/** A job that is about to be submitted. */
export type NewTask = Omit<
  Task,
  | "id"
  | "status"
  | "progress"
  | "fail_reason"
  | "upstream_id"
  | "start_time_ms"
  | "finish_time_ms"
  | "quota"
  | "refunded"
  | "data"
  | "polls"
> & {
  /** A caller's Idempotency-Key, hashed with their id; undefined = none. */
  client_key: string | undefined;
  next_poll_at_ms: number;
};

/** The tokens of a finished job. */
export type JobTokens = Omit<JobSettlement, "quota">;

/** The changes of a job in progress; absent members stay. */
export interface TaskChange {
  status?: TaskStatus;
  progress?: string;
  fail_reason?: string;
  prompt?: string;
  start_time_ms?: number;
  finish_time_ms?: number;
  data?: unknown;
  state?: TaskState;
  /** 0 = it is no longer polled. */
  next_poll_at_ms?: number;
  polls?: number;
}

/** A page of a user's own jobs, newest first unless `order` says otherwise. */
export interface TaskPage {
  /** The task_id after which it begins. */
  after?: string;
  order: "asc" | "desc";
  limit: number;
}

/**
 * The store of jobs (features/task/task-store.ts). Every change is conditional on the status that it is based on
 * (compare-and-set): of two concurrent changes one succeeds, and only that one moves money.
 */
export interface TaskStore {
  /** Writes a job before its submit, status NOT_START. undefined: its client key is already used. */
  open(task: NewTask): Promise<Task | undefined>;
  /** The caller's job with that client key, if there is one. */
  byClientKey(client_key: string): Promise<Task | undefined>;
  /** Records the channel of the submit, before each attempt. */
  place(id: number, place: Pick<Task, "platform" | "channel_id" | "channel_key_id" | "group" | "state">): Promise<void>;
  /** The vendor has accepted: its id is stored before anything is charged. False: the job was given up meanwhile. */
  answered(
    id: number,
    answer: Pick<Task, "upstream_id" | "data" | "state" | "deadline_ms"> & { prompt?: string },
  ): Promise<boolean>;
  /**
   * NOT_START -> SUBMITTED, if its charge is in the ledger (or it is free); `quota` is then the charge. False: it is
   * not, or another change came first.
   */
  activate(id: number, quota: number, next_poll_at_ms: number): Promise<boolean>;
  /** A change that moves no money. False: its status is no longer `from`. */
  note(task: Pick<Task, "id">, from: TaskStatus, change: TaskChange): Promise<boolean>;
  /**
   * -> SUCCESS. `quota` is the corrected price: a lower price is refunded in the same transaction; a higher one is owed
   * (`state.owed`) until `collect` has charged it. `tokens`: what the vendor counted; with the price they are written
   * on the row of its charge, which was made at an estimate. False: its status is no longer `from`.
   */
  succeed(task: Task, from: TaskStatus, quota: number, change: TaskChange, tokens?: JobTokens): Promise<boolean>;
  /** Whether the ledger has a job's charge. */
  charged(task: Pick<Task, "charge_id">): Promise<boolean>;
  /** Whether the units of its submit are still held: then it is being submitted, or a sweep will end the hold. */
  held(task: Pick<Task, "charge_id">): Promise<boolean>;
  /** Charges the amount that a finished job owes; repeated calls charge it once. */
  collect(id: number): Promise<void>;
  /**
   * -> FAILURE, with its whole charge returned to user, token, totals and budgets in the same transaction; without a
   * charge nothing moves. False: its status is no longer `from`.
   */
  fail(task: Task, from: TaskStatus, fail_reason: string, change: TaskChange): Promise<boolean>;
  /** The caller's own job; undefined when there is none, and when it belongs to another user. */
  find(platforms: readonly TaskPlatform[], task_id: string, user_id: number): Promise<Task | undefined>;
  findMany(platforms: readonly TaskPlatform[], task_ids: readonly string[], user_id: number): Promise<Task[]>;
  list(platforms: readonly TaskPlatform[], user_id: number, page: TaskPage): Promise<Task[]>;
  /** A job of any owner, for routes whose link is the permission (an image proxy). */
  findAny(platform: TaskPlatform, task_id: string): Promise<Task | undefined>;
  /** The owner removes a finished job from their list. False: there is none, or it is not finished. */
  remove(platforms: readonly TaskPlatform[], task_id: string, user_id: number): Promise<boolean>;
  /** Jobs whose next poll is due, the longest waiting first. */
  due(limit: number): Promise<Task[]>;
  /**
   * A vendor's callback for these channels: the job is polled in the next round. The callback's content is not trusted.
   */
  nudge(channel_ids: readonly number[], upstream_id: string): Promise<void>;
}
