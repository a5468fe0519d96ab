/**
 * The control plane as the relay sees it: authenticate a token, look up a price, select a channel, admit a call, move
 * money, write a log. The relay sees nothing else of the features and no database.
 */
import type { CurrencyRates } from "../../shared/currency-rates";
import type { AppError } from "../../shared/errors";
import type { CompiledPrice } from "../../shared/pricing";
import type { Lang } from "../../shared/text";
import type { UsageDoubt } from "../../shared/usage-doubt";
import type { ChannelTrouble } from "./channel-trouble";
import type { WordList } from "./word-list";
import type { Admit } from "./admission";
import type { CallLedger, CallLog } from "./ledger";
import type { KeepContent } from "./content-capture";
import type { JsonObject } from "../lib/json-bytes";
import type { Limits } from "./rate-limits";
import type { StoredObjectStore } from "./stored-objects";
import type { TaskStore } from "./task-store";
import type { VendorRules } from "./vendor-rules";
import type { Caller, Funds } from "./caller";
import type { Pool, PoolChannel } from "./channel";
import type { FindVirtual } from "./virtual-models";

export interface ControlPlane {
  /**
   * The caller behind a presented key (any spelling: with or without `sk-`, `-<channel id>` at the end). Throws
   * AppError token_missing, token_invalid, token_expired, token_exhausted, token_disabled, user_banned,
   * token_ip_denied, token_channel_denied, group_denied.
   */
  authenticate(key: string | undefined, ip: string, lang: Lang): Promise<Caller>;
  /**
   * Calls `ended` with the reason when the key does not authenticate any more, for what outlasts a call; an empty
   * budget is no reason. Returns what stops it.
   */
  watchKey(key: string | undefined, ip: string, ended: (reason: AppError) => void): () => void;
  /** undefined when the model has neither price nor ratio and SelfUseMode is off. */
  price(model: string, group: string, userGroup: string): CompiledPrice | undefined;
  pool: Pool;
  /** Finds virtual models; absent: there are none. */
  readonly virtual?: FindVirtual;
  /** The only way into limits and hold, for calls, jobs, batches and realtime sessions. */
  admit: Admit;
  /** Extends and ends the holds of admitted calls. */
  ledger: CallLedger;
  /** The caller's spending limits: the token's figures, or the user's (option DisplayTokenStatEnabled). */
  funds(caller: Caller): Promise<Funds>;
  /** Writes the row of a call that was not charged (type 5, error). Never throws into the relay. */
  recordFailure(log: CallLog): Promise<void>;
  /** The same for a call that was refused with `code` before any channel was tried: many equal ones share a row. */
  recordRefusal(log: CallLog, code: string): Promise<void>;
  /** Stores requests and responses; absent while the operator keeps no contents (option LogContentEnabled). */
  readonly keepContent?: KeepContent | undefined;
  /** The limits of channels; a caller's own are `admit`'s. */
  limits: Omit<Limits, "admit">;
  /** Stored responses and files of callers. */
  storedObjects: StoredObjectStore;
  /** Asynchronous jobs. */
  tasks: TaskStore;
  /**
   * Opens an address that a vendor named, under the egress rule (lib/egress.ts); the body is not read. Throws AppError
   * address_forbidden, and the errors of fetch and DNS.
   */
  openAddress(address: string, request: { headers?: Record<string, string>; signal: AbortSignal }): Promise<Response>;
  /**
   * Posts the result of a job to an address that a caller named, under the egress rule. Returns at once and never
   * throws; sent once.
   */
  sendWebhook(address: string, body: JsonObject): void;
  /** Called for every failed attempt: the channel may have to be disabled. Returns at once and never throws. */
  channelFailed(channel: PoolChannel, trouble: ChannelTrouble): void;
  /** Called for every usage count that was rejected: the channel is marked. Returns at once and never throws. */
  usageDoubted(
    channel: Pick<PoolChannel, "id">,
    doubts: readonly UsageDoubt[],
    of: { request_id: string; request: { model: string } },
  ): void;
  /** Options that the relay reads, with their value at the time of the call. */
  option: RelayOptions;
  /** Epoch milliseconds. */
  now(): number;
}

/** The options of Midjourney drawing. */
export interface MidjourneyOptions {
  /** notifyHook: callers may be notified of their jobs. */
  readonly notify: boolean;
  /** accountFilter is passed on. */
  readonly accountFilter: boolean;
  /** --fast, --relax and --turbo are removed from prompts. */
  readonly modeClear: boolean;
  /** A follow-up job requires that the job before it succeeded. */
  readonly checkSuccess: boolean;
  /** Pictures are served from here. */
  readonly forwardUrl: boolean;
}

/**
 * The options that the relay reads from the option store (shared/options.ts); one getter each, so a change applies to
 * the next call.
 */
export interface RelayOptions {
  readonly retryTimes: number;
  /**
   * A call that an upstream may have accepted is retried elsewhere if it costs fewer units than this (option
   * RetryMaxCost).
   */
  readonly repeatBelowUnits: number;
  /** Units that a stream's hold grows by, from the option PreConsumedQuota (in tokens). */
  readonly preConsumedTokens: number;
  /** Cap of the output tokens assumed for an unstreamed call without a maximum. */
  readonly maxHoldOutputTokens: number;
  readonly logConsume: boolean;
  readonly pingAfterMs: number;
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  /** Time that all attempts before the response's head share. */
  readonly attemptBudgetMs: number;
  /** Words that no request may contain; undefined when none are checked. */
  readonly sensitiveWords?: WordList | undefined;
  /** A request that contains one goes on with a mask in its place; absent: the request is refused. */
  readonly maskSensitive?: boolean;
  /** The operator's settings for single vendors' models; absent: none. */
  readonly vendorRules?: VendorRules;
  /** Conversations return to the channel that served them last. */
  readonly stickyRouting?: boolean;
  /** Calls without balance are refused with the family's 401 and 403; absent: with 429 insufficient_quota. */
  readonly quotaRefusedWith403?: boolean;
  /** What drains ends realtime sessions after their running response; false: only its deadline does. */
  readonly drainEndsRealtime: boolean;
  /** Unfinished jobs of a drained channel or key fail at its deadline; false: they go on. */
  readonly drainEndsJobs: boolean;
  readonly maxBodyBytes: number;
  /** The Midjourney features that callers may use (options Mj…). */
  readonly midjourney: MidjourneyOptions;
  /** This server's public address without a trailing slash, "" = not set. */
  readonly serverAddress: string;
  /** The price of a batch as a share of its calls' price (option BatchRatio). */
  readonly batchRatio: number;
  /** For costs of channels in other currencies (option CurrencyRates). */
  readonly currencyRates: CurrencyRates;
  /** Whether drawing jobs, and other jobs, are accepted. */
  readonly drawing: boolean;
  readonly tasks: boolean;
  /** Units per unit of the displayed currency: QuotaPerUnit for dollars, else 1. */
  readonly balanceUnit: number;
}
