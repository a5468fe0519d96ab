/**
 * A vendor of jobs: one file that builds its requests and reads its responses. Everything else (holds, deadlines,
 * concurrent changes, refunds, restarts, polling by one instance) is the engine's. How to add one:
 * docs/recipes/add-a-task-provider.md.
 */
import type { ChannelTypeKey, Operation as OperationKey } from "../../../shared/channel-types";
import type { TaskPlatform, TaskStatus } from "../../../shared/task";
import type { UsageDoubt } from "../../../shared/usage-doubt";
import type { Usage, WireError } from "../../protocol/chat-events";
import type { JsonObject } from "../../lib/json-bytes";
import type { Terms } from "../../protocol/call-terms";
import type { ProviderContext } from "../providers/provider";
import type { RelayOptions, ControlPlane } from "../../contracts/control-plane";
import type { PoolChannel } from "../../contracts/channel";
import type { Events } from "./events";
import type { Priced, Task } from "../../contracts/task-store";
import type { ResultFile } from "../../contracts/task-service";

/** One request to a channel. */
export interface TaskRequest {
  method: "GET" | "POST" | "DELETE";
  url: string;
  /** The provider's own headers, authentication included; names in lower case. */
  headers: Record<string, string>;
  /** An object is sent as JSON. */
  body?: JsonObject | string | FormData | Blob;
  /** false: the channel's param_override does not apply, because this is not a model call. */
  override?: false;
  /**
   * For vendors that require a signature: the final headers, from the body's text and the headers after all overrides
   * of the operator (param_override, header_override).
   */
  sign?(body: string, headers: Record<string, string>): Record<string, string> | Promise<Record<string, string>>;
  /** The vendor's error in a body, with an error status or a 200; undefined: none. Absent: OpenAI's format. */
  readError?(body: unknown): WireError | undefined;
}

/** The tools of a provider: the network with the attempt's timeout and the channel's proxy, time, access tokens. */
export interface TaskProviderContext extends ProviderContext {
  /**
   * Sends a request and reads its response. Throws Failed, classified by protocol/upstream-failure.ts, for no response,
   * an error status, an error in a 200 that `readError` finds, and a response that is not a JSON object.
   */
  json(request: TaskRequest): Promise<JsonObject>;
  /** The same for a JSON array. */
  list(request: TaskRequest): Promise<readonly unknown[]>;
  /** The same for an event stream. The timeout of a request covers only its first event. */
  events(request: TaskRequest): Promise<Events>;
}

/** A job that is being submitted to a channel. */
export interface Job<Input> {
  channel: PoolChannel;
  /** The vendor's name: the channel's model mapping is applied. */
  model: string;
  action: string;
  input: Input;
  /** The public id of the job; it may be sent to a vendor that accepts an id. */
  task_id: string;
  /** The job that it follows: then `channel` is that job's. */
  parent?: Task;
}

/** A vendor's report of a job. Absent members stay unchanged. */
export interface TaskReport {
  status: TaskStatus;
  /** 0 to 100; a smaller value than the known one is ignored. */
  percent?: number;
  /** Of a failure: the vendor's message. The engine removes addresses and keys. */
  fail_reason?: string;
  /** Epoch milliseconds. */
  start_time_ms?: number;
  finish_time_ms?: number;
  /** JSON shown to the owner and in the lists. Replaces the earlier value. */
  data?: unknown;
  /** Members that are set in the stored `data`: for a report that covers several jobs. */
  merge?: JsonObject;
  /** Replaces `task.state.own`. */
  own?: JsonObject;
  prompt?: string;
  /** With SUCCESS: the final price terms, if they are known only now (seconds, tokens). Absent: as accepted. */
  final?: FinalPrice;
}

export interface FinalPrice extends Priced {
  /** The usage assumed if the vendor had reported none; absent: the usage at submit. */
  estimate?: Usage;
  /** Implausible counts of parts; the total is checked as well. */
  doubts?: readonly UsageDoubt[];
}

/** The vendor has accepted a job. */
export interface Accepted {
  /** The id by which it is polled. Never ''. */
  upstream_id: string;
  data?: unknown;
  own?: JsonObject;
  prompt?: string;
  /** Its state, if the answer says so; it may even be finished. Absent: SUBMITTED. */
  report?: TaskReport;
}

/** What the engine needs of a provider after the submit, without knowing the kind's input. */
export interface TaskWatcher {
  readonly platform: TaskPlatform;
  /** Poll interval in milliseconds. Default 15 s; doubled after each failed poll, up to 5 min. */
  readonly poll_ms?: number;
  /** Milliseconds from the submit after which an unfinished job has failed. Default 24 h. */
  readonly lifetime_ms?: number;
  /** Most jobs of one `poll`. 1 (default): they are polled one by one, a few at a time. */
  readonly poll_many?: number;
  /**
   * The reports of jobs of one channel (and key): upstream id -> report. A job without a report is polled again later,
   * until its lifetime ends; a job that the vendor no longer knows is a FAILURE. Throws Failed.
   */
  poll(
    tasks: readonly Task[],
    channel: PoolChannel,
    context: TaskProviderContext,
  ): Promise<ReadonlyMap<string, TaskReport>>;
  /** Whether a SUCCESS has the requested result. One without it is a failure, and refunded. */
  hasResult(task: Pick<Task, "action" | "data" | "state">): boolean;
  /**
   * Files of a finished job, in order; absent: it has none. `channel` and `tools` are undefined when the channel is
   * deleted. `half_done`: also those of a running job.
   */
  files?(
    task: Task,
    channel: PoolChannel | undefined,
    context: TaskProviderContext | undefined,
  ): readonly ResultFile[] | Promise<readonly ResultFile[]>;
  readonly half_done?: boolean;
  /** The webhook of a job and the body to send after a change. */
  hook?(task: Task, controlPlane: Pick<ControlPlane, "option" | "now">): { url: string; body: JsonObject } | undefined;
  /** The owner has deleted a finished job: deletes it at its vendor as well. Throws Failed, which is ignored. */
  forget?(task: Task, channel: PoolChannel, context: TaskProviderContext): Promise<void>;
  /** Cancels a job, where the vendor supports it, and returns its report. Throws Failed. */
  cancel?(task: Task, channel: PoolChannel, context: TaskProviderContext): Promise<TaskReport>;
}

export interface TaskProvider<Input> extends TaskWatcher {
  /** The channel types that it serves (shared/channel-types.ts). */
  readonly types: readonly ChannelTypeKey[];
  /** Whether a channel of these types supports it; absent: all do. `model` is the vendor's name. */
  serves?(channel: PoolChannel, model: string, input: Input, action: string): boolean;
  /**
   * The price terms before the submit, for the hold and the charge. Absent: one call at the model's price. `exact` must
   * be true where nothing is corrected later.
   */
  terms?(input: Input, model: string, action: string, parent?: Task): Terms;
  /**
   * The caller's body without what the channel leaves out: rules of prices ask for what is sent. Absent: all is sent.
   */
  passes?(body: JsonObject, channel: PoolChannel): JsonObject;
  /** Submits the job. Throws Failed, and RequestFault for an input that this vendor does not support. */
  submit(job: Job<Input>, context: TaskProviderContext): Promise<Accepted>;
}

/** A kind of job: one input, several vendors. A route of the kind submits to any channel that serves the model. */
export interface TaskKind<Input> {
  /** The operation that names it in logs, plans and the channel form. */
  readonly operation: OperationKey;
  /** Whether the operator allows such jobs (options DrawingEnabled, TaskEnabled). */
  enabled(option: RelayOptions): boolean;
  /** In order: the first that serves the channel's type and the model is used. */
  readonly providers: readonly TaskProvider<Input>[];
}

/** A route's request to the engine. */
export interface TaskOrder<Input> {
  kind: TaskKind<Input>;
  action: string;
  /** The model name for price, limits and routing. */
  model: string;
  input: Input;
  /** The part of the input that is stored with the job (JSON, without media). */
  kept: JsonObject;
  /** '' where there is none. */
  prompt: string;
  /** The request's bytes: a repeated client key with other bytes is refused. */
  body: Uint8Array;
  /** The job it follows, owned by the caller (`tasks.find`): only its channel and key are used. */
  parent?: Task;
  /** The only channel and key that can do it, if not the parent's. */
  at?: Pick<Task, "channel_id" | "channel_key_id">;
  /** The prefix of its public id; absent: "task_". */
  id_prefix?: string;
  /** Its public id; absent: the prefix and 32 random characters. Must not be guessable. */
  task_id?: string;
  /**
   * Stores what else its owner needs to find it. Runs after the vendor has accepted and before the charge; throws when
   * it cannot be written.
   */
  accepted?(job: Pick<Task, "upstream_id" | "channel_id" | "channel_key_id">): Promise<void>;
}
