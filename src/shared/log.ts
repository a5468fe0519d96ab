import type { Text } from "./text";
import type { PriceRule } from "./price-rules";
import type { UsageDoubt } from "./usage-doubt";
import type { PassedStep } from "./virtual-models";

/** Types of log rows. 1 to 4 are the original API's; 5 and 6 are decided in C-360. */
export const LOG_TYPE = { topup: 1, consume: 2, admin: 3, system: 4, error: 5, refund: 6 } as const;
export type LogType = (typeof LOG_TYPE)[keyof typeof LOG_TYPE];

/** Whether roll-ups contain a row: not yet, yes, or never (a channel test is no caller's). */
export const FOLDED = { not_yet: 0, done: 1, never: 2 } as const;

export const LOG_TYPE_NAMES: Record<LogType, Text> = {
  1: { zh: "充值", en: "Top-up" },
  2: { zh: "消费", en: "Usage" },
  3: { zh: "管理", en: "Admin" },
  4: { zh: "系统", en: "System" },
  5: { zh: "错误", en: "Error" },
  6: { zh: "退款", en: "Refund" },
};

/** Why a call ended. Every call has exactly one reason. */
export const END_REASONS = {
  complete: { zh: "完整结束", en: "Complete" },
  caller_left: { zh: "调用方断开", en: "Caller left" },
  upstream_cut: { zh: "上游中断", en: "Upstream cut" },
  idle_timeout: { zh: "空闲超时", en: "Idle timeout" },
  upstream_error: { zh: "上游错误", en: "Upstream error" },
  out_of_quota: { zh: "额度用尽", en: "Out of quota" },
  gateway_restart: { zh: "网关重启", en: "Gateway restart" },
  refused: { zh: "已拒绝", en: "Refused" },
} as const satisfies Record<string, Text>;
export type EndReason = keyof typeof END_REASONS;

/** Why no other channel was tried although there was one. */
export const NOT_RETRIED = {
  may_be_accepted: { zh: "上游可能已受理，未再重试", en: "Not tried again: the upstream may have accepted it" },
  retry_budget: {
    zh: "该模型 10 秒内的重试已达上限，未再重试",
    en: "Not tried again: too many retries of this model within 10 s",
  },
  time_budget: { zh: "重试总时间已用完，未再重试", en: "Not tried again: the time for attempts was over" },
} as const satisfies Record<string, Text>;
export type NotRetried = keyof typeof NOT_RETRIED;

/** One attempt at one channel, as stored in `other.admin_info.attempts` (administrators only). */
export interface AttemptRecord {
  channel: number;
  channel_name: string;
  /** Upstream HTTP status, 0 when none was received. */
  status: number;
  /** Kind of failure (shared/failures.ts), '' on success. */
  failure: string;
  message: string;
  /** Milliseconds since the call arrived. */
  start_ms: number;
  duration_ms: number;
  /** Milliseconds from the attempt's start to its first content, -1 when none came. */
  first_content_ms: number;
  upstream_request_id: string;
  /** The dialect in which the channel was called, where it is not its type's. */
  dialect?: string;
  /** Why this was the last attempt although there was another channel. */
  not_retried?: NotRetried;
  /** The key of a channel with several: its row, its place from 1, and its last characters. */
  key?: { id: number; position: number; hint: string };
}

/** Members of a refusal's `other`: repetitions are counted instead of stored as rows. */
export interface RepeatedRefusal {
  /** How many more like this one. */
  repeated: number;
  /** When the last of them was, epoch seconds. */
  repeated_until: number;
}

/** What a finished job cost, all in all. */
export interface JobSettlement {
  /** Units. */
  quota: number;
  prompt_tokens: number;
  completion_tokens: number;
}

/** The JSON of a consumption row's `other`. Existing front-ends read the first block; the rest is Weir's. */
export interface ConsumeOther {
  model_ratio: number;
  completion_ratio: number;
  /** -1 when priced by ratio. */
  model_price: number;
  group_ratio: number;
  /** -1 when GroupGroupRatio did not apply. */
  user_group_ratio: number;
  group: string;
  /** Milliseconds to the first content of a stream; -1 when none. */
  frt?: number;
  cache_tokens?: number;
  cache_ratio?: number;
  is_model_mapped?: boolean;
  upstream_model_name?: string;
  /** The name that was priced, where that is not the requested model. */
  billed_model?: string;
  /** The virtual model that the caller named; the row's model is the one that answered. */
  asked_model?: string;
  /** Its steps that did not answer, in order. */
  passed_steps?: readonly PassedStep[];
  request_path: string;
  /** The rule of its price; absent: the plain price. */
  price_rule?: PriceRule;
  /** The job that the call submitted, by the id that its owner uses. */
  task_id?: string;
  /** What the job came to when it was done; the difference to the charge has a row of its own. */
  settled?: JobSettlement;
  /** The program that called (shared/client-type.ts). */
  client_type?: string;
  /**
   * True when tokens, or a part of them, were estimated: no usage came, a stream ended early, or a count was
   * implausible.
   */
  estimated?: boolean;
  /** Implausible counts of the upstream (protocol/usage-check.ts). */
  usage_doubts?: readonly UsageDoubt[];
  /**
   * True when the channel does not bill calls that ended in this way (setting.bill_broken, setting.bill_left): the bill
   * is empty.
   */
  waived?: boolean;
  end_reason: EndReason;
  /** Units that Weir's own cache marks saved against plain input, exact; below zero where writing cost more. */
  cache_saved?: string;
  /** Bill lines of shared/charge.ts; their units sum to the charge before its one rounding. */
  bill: readonly unknown[];
  warnings?: string[];
  admin_info?: {
    use_channel: string[];
    attempts: AttemptRecord[];
    /** Why this channel: candidates and filters. */
    selection?: unknown;
    /** Budgets that count this charge, as named in budget_spend; a refund is subtracted from them. */
    budgets?: readonly string[];
  };
}
