/**
 * The greatest length of every text that a caller, their program or their vendor can put into a table, in characters.
 * Inputs of forms have their bounds where the form is declared (TOKEN_LIMITS, USERNAME_MAX, the other inputs of
 * shared/).
 */
export const TEXT_LIMITS = {
  /** logs, holds, usage_hourly, tasks, stored_objects: a call for a longer name is refused. */
  model: 256,
  /** logs.content: why a call failed, which may quote the call. */
  log_content: 2_000,
  /** logs.other and holds.draft: the path of a call. */
  request_path: 256,
  /** logs.upstream_request_id, and each attempt's in logs.other. */
  upstream_request_id: 128,
  /** sessions and push_subscriptions. */
  user_agent: 300,
  /** identities.name, and the first display name of an account. */
  identity_name: 50,
  /** tasks.prompt: a job with a longer one is refused. */
  task_prompt: 32_768,
  /** tasks.input, as JSON without media: a job with more is refused. */
  task_input: 65_536,
  /** tasks.fail_reason, in a vendor's words. */
  task_reason: 2_000,
  /** log_bodies, bytes of each side before they are packed. */
  call_content: 256 * 1024,
  /** audit_log, each of before and after; what is longer is named but not kept. */
  audit: 20_000,
  /** payment_callbacks.body: of a call that carried the right signature, and of any other. */
  payment_callback: 16 * 1024,
  payment_callback_of_strangers: 2 * 1024,
  payment_trade_no: 64,
} as const;

/** The beginning of a text, without half a character at its end. */
export function cut(text: string, limit: number): string {
  return text.length <= limit ? text : text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, "");
}

/** An upstream's id of its response, as it may be stored and shown: characters that no id contains are left out. */
export const cleanRequestId = (id: string): string =>
  cut(id, TEXT_LIMITS.upstream_request_id * 2)
    .replace(/[^\w.:;,@/+=~-]/g, "")
    .slice(0, TEXT_LIMITS.upstream_request_id);
