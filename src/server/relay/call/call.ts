/**
 * The record of one call, stage by stage: Arrival, Authenticated, Asked, Admitted, Attempted, Answered. Each record
 * contains the one before and does not change; the state that changes while a call runs is its Progress.
 */
import type { CompiledPrice, Usage } from "../../../shared/pricing";
import type { AttemptRecord, EndReason } from "../../../shared/log";
import type { Lang } from "../../../shared/text";
import type { PassedReason, PassedStep } from "../../../shared/virtual-models";
import type { Logger } from "../../lib/log";
import type { Deadlines } from "./deadlines";
import type { Timers } from "../../lib/timers";
import type { Terms } from "../../protocol/call-terms";
import type { CallerDialect } from "../../protocol/dialects/dialect";
import type { ChatRequest } from "../../protocol/chat-events";
import type { Form } from "../../lib/request-body/multipart-form";
import type { Admission, LimitRequest } from "../../contracts/rate-limits";
import type { Operation } from "../operations/operation";
import type { AccessTokenCache } from "../providers/access-token-cache";
import type { ControlPlane } from "../../contracts/control-plane";
import type { PoolChannel } from "../../contracts/channel";
import type { Caller } from "../../contracts/caller";
import type { Routing } from "../routing/router";
import type { Selection } from "../routing/channel-selector";
import type { RequestContent } from "./request-content";
import type { Translation } from "./translation";
import type { Drain } from "../../../shared/drain";
import type { RunningCalls } from "./running-calls";
import type { RelayStats } from "../../contracts/relay-stats";
import type { FailureKind } from "../../../shared/failures";
import type { ErrorCode } from "../../../shared/errors";

/** The relay's dependencies besides the control plane; tests pass their own. */
export interface RelayDeps {
  log: Logger;
  timers: Timers;
  /** Routing of calls; the dry run uses the same one. */
  routing: Routing;
  observer: CallObserver;
  fetch(url: string, init: BunFetchRequestInit): Promise<Response>;
  /** Whether a TCP connection to the host of a URL can be opened within `ms`. */
  reachable(url: string, ms: number): Promise<boolean>;
}

/** The relay's state in the process: one per createRelay. */
export interface Engine extends RelayDeps {
  readonly controlPlane: ControlPlane;
  readonly accessTokens: AccessTokenCache;
  readonly stats: RelayStats;
  /** Realtime sessions and streams that are open. */
  readonly sessions: Set<OpenSession>;
  /** Calls that a channel is at work on. */
  readonly running: RunningCalls;
  /** The process is ending: no new sessions. */
  draining: boolean;
  /** This instance drains: no new calls. */
  drain: Drain | undefined;
}

/** Work that may outlast a request to end the process: realtime sessions and streamed responses. */
export interface OpenSession {
  /** Where it ends when its channel drains: at the end of its response. */
  readonly channel?: PoolChannel;
  /** Lets running work finish, or ends it at once. Resolves when it has ended and everything is charged. */
  shutdown(now: boolean): Promise<void>;
}

/** A request whose route is known. */
export interface Arrival {
  readonly engine: Engine;
  /** The caller's request id. */
  readonly dialect: CallerDialect;
  readonly lang: Lang;
  readonly ip: string;
  readonly path: string;
  /** The calling program, from its User-Agent. */
  readonly client_type: string;
  /** The beta features that the caller requests: Anthropic's anthropic-beta header. */
  readonly betas: string;
  /** The API version in the caller's URL, "" = none. */
  readonly api_version: string;
  readonly request_id: string;
  /** The caller's trace (W3C traceparent), while tracing is on. It is never sent upstream. */
  readonly traceparent: string | undefined;
  /** Epoch milliseconds. */
  readonly arrived: number;
}

/** An arrival with its caller. */
export interface Authenticated extends Arrival {
  readonly caller: Caller;
}

/** An authenticated call with its content. */
export interface Asked extends Authenticated {
  readonly operation: Operation;
  readonly request: Readonly<ChatRequest>;
  readonly content: RequestContent;
  /** Instead of `content`: a multipart form. */
  readonly form: Form | undefined;
  /** Upper bound of the input in tokens. */
  readonly input_bound: number;
  /** The stored response that it continues, and the place for its own. */
  readonly conversation: Conversation | undefined;
  /** The job that it submits. */
  readonly task_id: string | undefined;
  /** The virtual model that the caller named, where `request.model` is the model of one of its steps. */
  readonly virtual?: { readonly name: string; readonly fixed_price: boolean };
}

/** A step of a virtual model that may serve the call. */
export interface LadderStep {
  readonly asked: Asked;
  readonly selection: Selection;
  readonly affinity_key: string | undefined;
  /** The highest price possible at this step. */
  readonly price: CompiledPrice;
}

/** The steps of a call to a virtual model, and where it stands. */
export interface Ladder {
  readonly current: LadderStep;
  /** The steps that did not answer, and why. */
  readonly passed: readonly PassedStep[];
  /** Leaves the current step. Returns the next one, undefined when no step is left that is taken for such reasons. */
  pass(why: PassedReason): LadderStep | undefined;
  /** Whether `pass` would find a step: then no time is spent on waiting for the current one. */
  mayPass(why: PassedReason): boolean;
  /** Tells the caller which model answers, where the operator allows it. */
  tell?(model: string): void;
}

/** An admitted call: its channels, its limits and its hold. */
export interface Admitted {
  readonly asked: Asked;
  /** The channels that may serve it, in order of selection. */
  readonly selection: Selection;
  /** The conversation that it belongs to, where that decides the channel. */
  readonly affinity_key: string | undefined;
  /** The highest price possible: the hold is calculated from it. */
  readonly price: CompiledPrice;
  /** The moment of the hold, epoch milliseconds: rules of prices that know the hour keep to it. */
  readonly held_at: number;
  /** Its possible use, for limits. */
  readonly limitRequest: LimitRequest;
  /**
   * The output limit of each of its choices, where the caller named none and the hold does not cover the longest
   * possible response.
   */
  readonly output_limit: number | undefined;
  /** The call's use of a limited caller's limits. */
  readonly admission: Admission | undefined;
  readonly deadlines: Deadlines;
  /** One record for each channel that was tried; an attempt adds its own. */
  readonly attempts: AttemptRecord[];
  readonly progress: Progress;
  /** The steps of a virtual model; absent: the caller named a model. */
  readonly ladder?: Ladder | undefined;
}

/** A part of a translated call that an attempt leaves out: the summary of thoughts, or earlier turns' thoughts. */
export type LeftOut = "summary" | "thoughts";

/** A call at one channel. The next attempt makes another record. */
export interface Attempted {
  readonly call: Admitted;
  /** With the key that is used. */
  readonly channel: PoolChannel;
  /** With the group that serves. */
  readonly caller: Caller;
  /** The price in that group, at that channel: billed when it serves. */
  readonly price: CompiledPrice;
  readonly terms: Terms | undefined;
  /** As in Admitted; lower after a vendor rejected the call. */
  readonly output_limit: number | undefined;
  /** What the vendor has refused of it. */
  readonly left_out?: readonly LeftOut[];
  /** The call's use of the channel's own limits. */
  readonly slot: Admission | undefined;
  readonly translation: Translation;
}

/** A successful attempt and its response. */
export interface Answered<Answer> {
  readonly attempt: Attempted;
  readonly answer: Answer;
}

/** The state of a call that changes while it runs. */
export interface Progress {
  /** Epoch milliseconds: when the call arrived; in a realtime session when the response began. */
  began: number;
  /** The current attempt or, between attempts, the last one. */
  attempt: Attempted | undefined;
  /** Epoch milliseconds, -1 before the first. */
  first_content_at: number;
  /** The caller has disconnected. */
  left: boolean;
  /** The response has ended: a disconnect changes nothing any more. */
  over: boolean;
  /** Called once when the caller disconnects. */
  onLeave: (() => void) | undefined;
  /** Ends the wait before another attempt; called when the caller disconnects. */
  wake: (() => void) | undefined;
}

/** The progress of a call that began at `began`. */
export const startProgress = (began: number): Progress => ({
  began,
  attempt: undefined,
  first_content_at: -1,
  left: false,
  over: false,
  onLeave: undefined,
  wake: undefined,
});

/** The conversation of a call, as the later stages use it. */
export interface Conversation {
  /** The response that it continues, where its turns are sent again: the vendor knows of none. */
  readonly continues: string | undefined;
  /** Keeps only the channels that can serve it. Throws the caller's error when there is none. */
  narrow(selection: Selection): void;
  /** Drops the call's content: only the vendor will keep it. */
  forgetInput(): void;
  /** Stores a complete response. `last`: the body, or the frames at the end of the stream. Never throws. */
  keep(attempt: Attempted, last: Uint8Array): Promise<void>;
}

/** The result of a call. */
export interface CallEnd {
  /** The one that served, or the last one; undefined: no channel was tried. */
  attempt: Attempted | undefined;
  end_reason: EndReason;
  /** Units charged. */
  quota: number;
  usage: Usage | undefined;
}

export interface CallObserver {
  /** Whether it needs the trace of each call. */
  readonly traces: boolean;
  /** A channel was tried. `outcome`: "ok", or the class of the failure. */
  attempted(channel: PoolChannel, outcome: FailureKind | "ok"): void;
  /**
   * A call has left its log row: charged, or failed and free. Once for every call; in a realtime session once per
   * response.
   */
  ended(call: Admitted, end: CallEnd): void;
  /** A call was refused before any channel was called. `code`: of shared/errors.ts. */
  refused(code: ErrorCode): void;
}
