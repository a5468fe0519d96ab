/** What every system's rows become before anything is decided or written: the same shapes whatever they came from. */
import type { FinalStatus, TaskPlatform } from "../../../shared/task";
import type { JsonObject } from "../../lib/json-bytes";

/** Units are those of the source's QuotaPerUnit, which is taken over; times are epoch seconds. */
/** 0 = none; budgets in units. */
export interface SourceLimits {
  rpm: number;
  tpm: number;
  concurrency: number;
  budget_day: number;
  budget_month: number;
}

export const NO_LIMITS: SourceLimits = { rpm: 0, tpm: 0, concurrency: 0, budget_day: 0, budget_month: 0 };

/** Units that are spent in the running day and month, of budgets. */
export interface SourceSpend {
  day: number;
  month: number;
}

export interface SourceUser {
  id: string;
  username: string;
  /** A hash that Weir verifies (bcrypt, `scrypt:…`), or "" for none. */
  password_hash: string;
  display_name: string;
  email: string;
  role: number;
  status: number;
  group: string;
  /** What is left; may be negative. */
  quota: number;
  used_quota: number;
  request_count: number;
  access_token: string;
  aff_code: string;
  aff_count: number;
  aff_quota: number;
  aff_history_quota: number;
  inviter: string;
  /** JSON of the user's own settings, secrets in clear. */
  setting: string;
  created_at: number;
  last_login_at: number;
  deleted_at: number | null;
  identities: readonly { provider: string; subject: string; name: string }[];
  limits: SourceLimits;
  /** Absent: the source does not know. */
  spend?: SourceSpend;
}

export interface SourceToken {
  id: string;
  user: string;
  name: string;
  /** Without "sk-"; "" where only `sha256` is known. */
  key: string;
  /** Hex SHA-256 of the whole key as callers send it, "sk-" included; "" where the key is known. */
  sha256: string;
  /** Shown in lists where the key is not known. */
  hint: string;
  status: number;
  remain_quota: number;
  used_quota: number;
  unlimited_quota: boolean;
  expired_time: number;
  created_time: number;
  accessed_time: number;
  model_limits_enabled: boolean;
  model_limits: string;
  allow_ips: string;
  group: string;
  limits: SourceLimits;
  /** As of a user. */
  spend?: SourceSpend;
}

export interface SourceKey {
  key: string;
  status: number;
  reason: string;
}

export interface SourceChannel {
  id: string;
  /** Weir's number; absent: the source's type has no equal. */
  type?: number;
  /** The source's type, as its operators call it. */
  was: string;
  name: string;
  keys: readonly SourceKey[];
  multi_key_mode: "" | "random" | "polling";
  base_url: string;
  other: string;
  models: string;
  group: string;
  model_mapping: string;
  status_code_mapping: string;
  setting: string;
  param_override: string;
  header_override: string;
  test_model: string;
  auto_ban: number;
  tag: string;
  priority: number;
  weight: number;
  openai_organization: string;
  status: number;
  response_time: number;
  used_quota: number;
  balance: number;
  balance_updated_time: number;
  test_time: number;
  created_time: number;
  other_info: string;
  /** What of it is not taken over, in words. */
  notes: readonly string[];
}

export interface SourceCode {
  id: string;
  user: string;
  name: string;
  key: string;
  /** 1 unused, 2 disabled, 3 used. */
  status: number;
  quota: number;
  created_time: number;
  expired_time: number;
  /** Of a used code: when, and the user ("" where the source does not know). */
  used?: { at: number; by: string };
}

/** A paid order. What it gave is in its user's balance already. */
export interface SourceOrder {
  id: string;
  user: string;
  trade_no: string;
  /** Dollars that were ordered, or tokens where balances are shown so. */
  amount: number;
  quota: number;
  /** In the currency's major unit, "73.00". */
  money: string;
  /** Lower case, "" where the source does not know. */
  currency: string;
  provider: string;
  payment_method: string;
  provider_ref: string;
  create_time: number;
  complete_time: number;
}

/** A job that has ended: a drawing, a song, a video. Times are epoch milliseconds. */
export interface SourceJob {
  id: string;
  user: string;
  channel: string;
  token: string;
  platform: TaskPlatform;
  action: string;
  task_id: string;
  upstream_id: string;
  group: string;
  model: string;
  status: FinalStatus;
  progress: string;
  fail_reason: string;
  prompt: string;
  submit_time_ms: number;
  start_time_ms: number;
  finish_time_ms: number;
  /** Units that were charged; of a failed one they were given back. */
  quota: number;
  /** As tasks.data has it of this platform. */
  data: unknown;
  /** As TaskState.own has it: what its files are found by. */
  own: JsonObject;
}

/** A row of the log: type as in shared/log.ts. */
export interface SourceLog {
  id: string;
  user: string;
  token: string;
  channel: string;
  created_at: number;
  type: number;
  username: string;
  token_name: string;
  model_name: string;
  group: string;
  quota: number;
  prompt_tokens: number;
  completion_tokens: number;
  /** Parts of the prompt that were read from a cache and written to it. */
  cache_read: number;
  cache_write: number;
  use_time: number;
  is_stream: boolean;
  content: string;
  ip: string;
}

/** A row that is not taken, and why. */
export interface Left {
  left: string;
}

export const isLeft = <R extends object>(record: R | Left): record is Left => "left" in record;
