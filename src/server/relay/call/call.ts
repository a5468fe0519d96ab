/** The state of one call, from authentication to its log row. Made in handle.ts; every room of the relay reads it. */
import type { Bytes } from "../../lib/sse";
import type { CompiledPrice, Usage } from "../../../shared/pricing";
import type { AttemptRecord, EndReason } from "../../../shared/log";
import type { Lang } from "../../../shared/text";
import type { Logger } from "../../lib/log";
import type { Deadlines } from "./deadlines";
import type { Timers } from "../../lib/timers";
import type { CallerDialect } from "../../protocol/dialects/dialect";
import type { ChatRequest, Warning } from "../../protocol/chat-events";
import type { Form } from "../../lib/request-body/multipart-form";
import type { SpooledBody } from "../../lib/request-body/spooled-body";
import type { Admission, LimitRequest } from "../../contracts/rate-limits";
import type { Operation } from "../operations/operation";
import type { AccessTokenCache } from "../providers/access-token-cache";
import type { ControlPlane } from "../../contracts/control-plane";
import type { PoolChannel } from "../../contracts/channel";
import type { Caller } from "../../contracts/caller";
import type { Routing } from "../routing/router";
import type { SelectionRecord } from "../routing/channel-selector";
import type { RelayStats } from "../../contracts/relay-stats";
import type { FailureClass } from "../../protocol/upstream-failure";
import type { ErrorCode } from "../../../shared/errors";

/** What the relay works with besides the seams; tests give their own. */
export interface RelayDeps {
  log: Logger;
  timers: Timers;
  /** Where calls may go; shared with whoever asks without calling. */
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

export interface Call {
  readonly engine: Engine;
  /** The caller's. */
  readonly dialect: CallerDialect;
  readonly operation: Operation;
  /** With the group that serves, once there is one. */
  caller: Caller;
  readonly lang: Lang;
  readonly ip: string;
  readonly path: string;
  /** The beta features of its dialect that the caller asks for: Anthropic's header of that name. */
  readonly betas: string;
  /** The version of the API that his address names, "" = none. */
  readonly api_version: string;
  /** The program that calls, by its User-Agent. */
  readonly client_type: string;
  readonly request_id: string;
  /** The trace that the caller belongs to (W3C traceparent), where somebody wants to know. It never goes upstream. */
  traceparent?: string;
  /** Epoch milliseconds; in a realtime session when the response began. */
  arrived: number;
  readonly request: ChatRequest;
  /**
   * As the caller wrote it; dropped when an attempt has succeeded. A large one is here only while a request is made of
   * it.
   */
  body: Bytes;
  /** The file of a large body, until the attempts are over. */
  spooled?: SpooledBody;
  /** Instead of `body`: a multipart form. */
  readonly form: Form | undefined;
  /**
   * Output tokens that each of its choices may have at most, where its caller named no limit and not every answer is
   * covered.
   */
  output_limit?: number;
  /** The price in the group that serves; before the first attempt the dearest that is possible. */
  price: CompiledPrice;
  /** Upper bound of the input in tokens. */
  readonly input_bound: number;
  readonly deadlines: Deadlines;
  readonly attempts: AttemptRecord[];
  /** Why these channels, in this order. */
  explain(): SelectionRecord;
  /** Which conversation this is a turn of, where that matters. */
  affinity_key?: string;
  /** What it continues, and where its answer is kept. */
  conversation?: Conversation;
  /** The job that it submits. */
  task_id?: string;
  /** What it may use, for limits; CallMoney says it. */
  limitRequest: LimitRequest;
  /** What a limited caller took by this call. */
  admission?: Admission;
  /** What it took of the channel that it is at. */
  channelSlot: Admission | undefined;
  /** The channel that serves, or that was tried last. */
  channel: PoolChannel | undefined;
  upstream_model: string;
  upstream_request_id: string;
  /** What was lost on the way to the channel and back. */
  warnings: readonly Warning[];
  /** Epoch milliseconds, -1 while none came. */
  first_content_at: number;
  /** The caller has gone. */
  left: boolean;
  /** The answer has ended: nobody can leave it any more. */
  over: boolean;
  /** Told once when the caller goes. */
  onLeave: (() => void) | undefined;
}

/** The conversation that a call is a turn of, as far as deliveries ask for it. */
export interface Conversation {
  /** Lets go what the call says: the vendor alone will keep it. */
  forgetInput(): void;
  /** Keeps a complete answer. `last`: the body, or the frames at the end of the stream. Never throws. */
  keep(call: Call, last: Uint8Array): Promise<void>;
}

/** What a call came to. */
export interface CallEnd {
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
  ended(call: Call, end: CallEnd): void;
  /** A call was refused before a channel was asked. `code`: of shared/errors.ts. */
  refused(code: ErrorCode): void;
}
