/**
 * What a vendor of jobs is: one file that builds its requests and reads its answers. Everything else (holds, deadlines,
 * who wins, refunds, restarts, polling by one instance) is the engine's. How to add one:
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
  /** The provider's own, authentication included; names in small letters. */
  headers: Record<string, string>;
  /** An object is sent as JSON. */
  body?: JsonObject | string | FormData | Blob;
  /** false: the channel's param_override does not apply, because this is no call of a model. */
  override?: false;
  /**
   * For vendors that want a signature: the headers as they leave, from the body's text and the headers after every
   * change that the operator makes (param_override, header_override).
   */
  sign?(body: string, headers: Record<string, string>): Record<string, string> | Promise<Record<string, string>>;
  /**
   * The vendor's error in a body, of an error status and of a 200 alike; undefined: there is none. Absent: OpenAI's.
   */
  readError?(body: unknown): WireError | undefined;
}

/**
 * The world as a provider sees it: the network under the attempt's time limit and the channel's proxy, time, access
 * tokens.
 */
export interface TaskProviderContext extends ProviderContext {
  /**
   * Sends a request and reads its answer. Throws Failed, classified by protocol/upstream-failure.ts, for no answer, an
   * error status, an error in a 200 that `readError` finds, and what is no JSON object.
   */
  json(request: TaskRequest): Promise<JsonObject>;
  /** The same for an answer that is a JSON list. */
  list(request: TaskRequest): Promise<readonly unknown[]>;
  /** The same for an answer that is a stream of events. Only its first event is within the time limit of a request. */
  events(request: TaskRequest): Promise<Events>;
}

/** A job on its way to a channel. */
export interface Job<Input> {
  channel: PoolChannel;
  /** As the vendor names it: the channel's model mapping is applied. */
  model: string;
  action: string;
  input: Input;
  /** The id that its owner will know; a vendor that takes an id of ours may be given it. */
  task_id: string;
  /** The job that it follows: then `channel` is that job's. */
  parent?: Task;
}

/** What the vendor has to say of a job. Absent members stay as they are. */
export interface TaskReport {
  status: TaskStatus;
  /** 0 to 100; one that is smaller than what is known is ignored. */
  percent?: number;
  /** Of a failure: the vendor's words. Cleaned of addresses and keys by the engine. */
  fail_reason?: string;
  /** Epoch milliseconds. */
  start_time_ms?: number;
  finish_time_ms?: number;
  /** What the owner and the lists are shown: JSON. Replaces what was there. */
  data?: unknown;
  /** Members that are set in `data` as it is kept: for a report that is that of several jobs. */
  merge?: JsonObject;
  /** Replaces `task.state.own`. */
  own?: JsonObject;
  prompt?: string;
  /** With SUCCESS: what it is really priced by, where that is known only now (seconds, tokens). Absent: as accepted. */
  final?: FinalPrice;
}

export interface FinalPrice extends Priced {
  /** What it would have used if its vendor had not said so; absent: what it was accepted at. */
  estimate?: Usage;
  /** Counts of single parts that were not believed; what the whole comes to is looked at besides. */
  doubts?: readonly UsageDoubt[];
}

/** The vendor has taken a job. */
export interface Accepted {
  /** The id that it is polled by. Never ''. */
  upstream_id: string;
  data?: unknown;
  own?: JsonObject;
  prompt?: string;
  /** Where it stands already, if the answer says so; it may even be finished. Absent: SUBMITTED. */
  report?: TaskReport;
}

/** What the engine needs of a provider after the submit: nothing here knows the kind's input. */
export interface TaskWatcher {
  readonly platform: TaskPlatform;
  /** How often it is asked, milliseconds. Default 15 s; doubled after each failed poll, up to 5 min. */
  readonly poll_ms?: number;
  /** Milliseconds from the submit after which a job that is not finished has failed. Default 24 h. */
  readonly lifetime_ms?: number;
  /** Most jobs of one `poll`. 1 (default): they are asked one by one, a few at a time. */
  readonly poll_many?: number;
  /**
   * What became of jobs of one channel (and key): upstream id -> report. One that is not in the answer is asked again
   * later, until its lifetime ends; a job that the vendor says it does not have any more is a FAILURE. Throws Failed.
   */
  poll(
    tasks: readonly Task[],
    channel: PoolChannel,
    context: TaskProviderContext,
  ): Promise<ReadonlyMap<string, TaskReport>>;
  /** Whether a SUCCESS carries what was asked for. One that does not is a failure, and refunded. */
  hasResult(task: Pick<Task, "action" | "data" | "state">): boolean;
  /**
   * Files of a finished job, in order; absent: it makes none. `channel` and `tools` are undefined when the channel is
   * gone.
   * `half_done`: asked for those of a job that runs as well.
   */
  files?(
    task: Task,
    channel: PoolChannel | undefined,
    context: TaskProviderContext | undefined,
  ): readonly ResultFile[] | Promise<readonly ResultFile[]>;
  readonly half_done?: boolean;
  /** Who wants to be told that the job has changed, and in which words. */
  hook?(task: Task, controlPlane: Pick<ControlPlane, "option" | "now">): { url: string; body: JsonObject } | undefined;
  /**
   * The owner has deleted a finished job: what its vendor keeps of it goes as well. Throws Failed; nothing depends on
   * it.
   */
  forget?(task: Task, channel: PoolChannel, context: TaskProviderContext): Promise<void>;
  /** Stops a job, where the vendor can: what it is then. Throws Failed. */
  cancel?(task: Task, channel: PoolChannel, context: TaskProviderContext): Promise<TaskReport>;
}

export interface TaskProvider<Input> extends TaskWatcher {
  /** The channel types that it calls (shared/channel-types.ts). */
  readonly types: readonly ChannelTypeKey[];
  /** Whether a channel of these types can do it; absent: all can. `model` is the vendor's name. */
  serves?(channel: PoolChannel, model: string, input: Input, action: string): boolean;
  /**
   * What it is priced by, before the submit: held and charged so. Absent: one call at the model's price. `exact` must
   * be true where nothing is corrected later.
   */
  terms?(input: Input, model: string, action: string, parent?: Task): Terms;
  /** Asks the vendor for it. Throws Failed, and RequestFault for an input that this vendor cannot be told. */
  submit(job: Job<Input>, context: TaskProviderContext): Promise<Accepted>;
}

/** A kind of job: one input, several vendors. A door of the kind submits to whichever channel serves the model. */
export interface TaskKind<Input> {
  /** The operation that logs, plans and the channel form name it by. */
  readonly operation: OperationKey;
  /** Whether the operator lets such jobs be made (options DrawingEnabled, TaskEnabled). */
  enabled(option: RelayOptions): boolean;
  /** In order: the first that calls a channel's type and serves the model is asked. */
  readonly providers: readonly TaskProvider<Input>[];
}

/** What a door asks the engine for. */
export interface TaskOrder<Input> {
  kind: TaskKind<Input>;
  action: string;
  /** Priced, limited and routed by this name. */
  model: string;
  input: Input;
  /** What of the input is kept with the job (JSON, without media). */
  kept: JsonObject;
  /** '' where there is none. */
  prompt: string;
  /** The request's bytes: the same client key with other bytes is refused. */
  body: Uint8Array;
  /** The job it follows, the caller's own (`book.find`): its channel and key alone are asked. */
  parent?: Task;
  /** The channel and key that alone can do it, where that is not the parent's. */
  at?: Pick<Task, "channel_id" | "channel_key_id">;
  /** How its public id begins; absent: "task_". */
  id_prefix?: string;
  /** Its public id; absent: the prefix and 32 characters. Must not be guessable. */
  task_id?: string;
  /**
   * Writes what else its owner needs to find it. The vendor has accepted, nothing is charged; throws where it cannot be
   * written.
   */
  accepted?(job: Pick<Task, "upstream_id" | "channel_id" | "channel_key_id">): Promise<void>;
}
