/**
 * What is known of one call, stage by stage: Arrival, Authenticated, Asked, Admitted, Attempted, Answered. Each record
 * contains the one before and does not change; what changes while a call runs is its Progress.
 */
import type { CompiledPrice, Usage } from "../../../shared/pricing";
import type { AttemptRecord, EndReason } from "../../../shared/log";
import type { Lang } from "../../../shared/text";
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
import type { RelayStats } from "../../contracts/relay-stats";
import type { FailureClass } from "../../protocol/upstream-failure";
import type { ErrorCode } from "../../../shared/errors";

/** What the relay works with besides the control plane; tests give their own. */
export interface RelayDeps {
  log: Logger;
  timers: Timers;
  /** Where calls may go; the dry run asks the same one. */
  routing: Routing;
  observer: CallObserver;
  fetch(url: string, init: BunFetchRequestInit): Promise<Response>;
  /** Whether a TCP connection to the host of a URL can be opened within `ms`. */
  reachable(url: string, ms: number): Promise<boolean>;
}

/** The relay's own part of the process: one per createRelay. */
export interface Engine extends RelayDeps {
  readonly controlPlane: ControlPlane;
  readonly accessTokens: AccessTokenCache;
  readonly stats: RelayStats;
  /** Realtime sessions and streams that are open. */
  readonly sessions: Set<OpenSession>;
  /** The process ends: no new session. */
  draining: boolean;
}

/** What may last longer than the process does after it was asked to end: realtime sessions and streamed answers. */
export interface OpenSession {
  /** Lets what runs be done, or ends it at once. Resolves when it has ended and everything is charged. */
  shutdown(now: boolean): Promise<void>;
}

/** A request whose route is known. */
export interface Arrival {
  readonly engine: Engine;
  /** The caller's. */
  readonly dialect: CallerDialect;
  readonly lang: Lang;
  readonly ip: string;
  readonly path: string;
  /** The program that calls, by its User-Agent. */
  readonly client_type: string;
  /** The beta features of its dialect that the caller asks for: Anthropic's header of that name. */
  readonly betas: string;
  /** The version of the API that the caller's address names, "" = none. */
  readonly api_version: string;
  readonly request_id: string;
  /** The trace that the caller belongs to (W3C traceparent), while traces are made. It never goes upstream. */
  readonly traceparent: string | undefined;
  /** Epoch milliseconds. */
  readonly arrived: number;
}

/** The same, and who calls. */
export interface Authenticated extends Arrival {
  readonly caller: Caller;
}

/** The same, and what is asked. */
export interface Asked extends Authenticated {
  readonly operation: Operation;
  readonly request: Readonly<ChatRequest>;
  readonly content: RequestContent;
  /** Instead of `content`: a multipart form. */
  readonly form: Form | undefined;
  /** Upper bound of the input in tokens. */
  readonly input_bound: number;
  /** What it continues, and where its answer is kept. */
  readonly conversation: Conversation | undefined;
  /** The job that it submits. */
  readonly task_id: string | undefined;
}

/** A call that was let in: its channels, its limits and its hold. */
export interface Admitted {
  readonly asked: Asked;
  /** The channels that may serve it, one after the other. */
  readonly selection: Selection;
  /** Which conversation this is a turn of, where that decides the channel. */
  readonly affinity_key: string | undefined;
  /** The dearest price that is possible: what is held is reckoned by it. */
  readonly price: CompiledPrice;
  /** What it may use, for limits. */
  readonly limitRequest: LimitRequest;
  /**
   * Output tokens that each of its choices may have at most, where its caller named no limit and what is held does not
   * cover every answer.
   */
  readonly output_limit: number | undefined;
  /** What a limited caller took by this call. */
  readonly admission: Admission | undefined;
  readonly deadlines: Deadlines;
  /** One record for each channel that was tried; an attempt adds its own. */
  readonly attempts: AttemptRecord[];
  readonly progress: Progress;
}

/** A call at one channel. The next try makes another one. */
export interface Attempted {
  readonly call: Admitted;
  /** With the key that is used. */
  readonly channel: PoolChannel;
  /** With the group that serves. */
  readonly caller: Caller;
  /** In that group, at that channel: what is billed when it serves. */
  readonly price: CompiledPrice;
  readonly terms: Terms | undefined;
  /** As in Admitted; lower after a vendor found fault with it. */
  readonly output_limit: number | undefined;
  /** What the call took of the channel's own limits. */
  readonly slot: Admission | undefined;
  readonly translation: Translation;
}

/** An attempt that served, and its answer. */
export interface Answered<Answer> {
  readonly attempt: Attempted;
  readonly answer: Answer;
}

/** What of a call changes while it runs. */
export interface Progress {
  /** Epoch milliseconds: when the call arrived; in a realtime session when the response began. */
  began: number;
  /** The attempt that runs or, when none does, the last one. */
  attempt: Attempted | undefined;
  /** Epoch milliseconds, -1 while none came. */
  first_content_at: number;
  /** The caller has gone. */
  left: boolean;
  /** The answer has ended: leaving it changes nothing any more. */
  over: boolean;
  /** Called once when the caller goes. */
  onLeave: (() => void) | undefined;
}

/** How far a call has come that began at `began`. */
export const startProgress = (began: number): Progress => ({
  began,
  attempt: undefined,
  first_content_at: -1,
  left: false,
  over: false,
  onLeave: undefined,
});

/** The conversation that a call is a turn of, as far as its other stages ask for it. */
export interface Conversation {
  /** Leaves the channels that can be asked. Throws what the caller gets when there is none. */
  narrow(selection: Selection): void;
  /** Lets go what the call says: the vendor alone will keep it. */
  forgetInput(): void;
  /** Keeps a complete answer. `last`: the body, or the frames at the end of the stream. Never throws. */
  keep(attempt: Attempted, last: Uint8Array): Promise<void>;
}

/** What a call came to. */
export interface CallEnd {
  /** The one that served, or the last one; undefined: no channel was tried. */
  attempt: Attempted | undefined;
  end_reason: EndReason;
  /** Units charged. */
  quota: number;
  usage: Usage | undefined;
}

export interface CallObserver {
  /** It wants to know which trace a call belongs to. */
  readonly traces: boolean;
  /** A channel was tried. `outcome`: "ok", or the class of the failure. */
  attempted(channel: PoolChannel, outcome: FailureClass | "ok"): void;
  /**
   * A call has left its log row: charged, or failed for nothing. Once for every call; in a realtime session once a
   * response.
   */
  ended(call: Admitted, end: CallEnd): void;
  /** A call was refused before a channel was asked. `code`: of shared/errors.ts. */
  refused(code: ErrorCode): void;
}
