/**
 * What can go wrong with an upstream: one kind for each cause that the relay treats, or a caller is told, differently.
 * The rules of each kind are in protocol/failure-rules.ts; here is which class it belongs to and how it reads in the
 * log. An operator reads the cause; the call's owner reads what the caller was told (`told`), or the upstream's own
 * text where that may be quoted. docs/generated/failures.md shows all of it in one place.
 */
import type { ErrorCode } from "./errors";
import type { Text } from "./text";

/**
 * `account`: fatal for the channel's account until its operator acts. `named_wait`: the upstream said when to come
 * again. `transient`: it may pass by itself. `caller`: the request's own. `ours`: a limit of our own.
 */
export const FAILURE_CLASSES = ["account", "named_wait", "transient", "caller", "ours"] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** `by_wait`: a named wait where the upstream named one, transient where it did not. */
type ClassOfKind = Exclude<FailureClass, "named_wait"> | "by_wait";

interface FailureFact extends Text {
  readonly class: ClassOfKind;
  /** The error that the caller received, where the upstream's text was not quoted. */
  readonly told: ErrorCode;
}

const kind = (cls: ClassOfKind, told: ErrorCode, zh: string, en: string): FailureFact => ({
  class: cls,
  told,
  zh,
  en,
});

export const FAILURES = {
  /** The upstream calls the request invalid, for a reason that has no kind of its own. */
  caller_mistake: kind(
    "caller",
    "upstream_error",
    "上游认为请求无效[（状态码 {status}）][：{detail}]",
    "The upstream calls the request invalid[ (status {status})][: {detail}]",
  ),
  context_too_long: kind(
    "caller",
    "context_length_exceeded",
    "输入超过了模型的上下文长度[（状态码 {status}）][：{detail}]",
    "The input is longer than the model's context[ (status {status})][: {detail}]",
  ),
  too_large: kind(
    "caller",
    "request_too_large",
    "请求体超过了上游的大小限制[（状态码 {status}）][：{detail}]",
    "The request is larger than the upstream accepts[ (status {status})][: {detail}]",
  ),
  /** More alone than the account may use in a minute: no wait makes it fit there, another account may take it. */
  over_account_rate: kind(
    "caller",
    "request_too_large",
    "单个请求超过了上游账户每分钟的令牌限额[（状态码 {status}）][：{detail}]",
    "The request alone is over the tokens a minute of the upstream account[ (status {status})][: {detail}]",
  ),
  content_filtered: kind(
    "caller",
    "content_filter",
    "上游的内容审核拒绝了请求[（状态码 {status}）][：{detail}]",
    "The upstream's content filter refused the request[ (status {status})][: {detail}]",
  ),
  limited: kind("ours", "rate_limited_channels", "可用渠道均已达到自身限额", "Every channel has reached its own limit"),
  paused: kind(
    "account",
    "channels_paused",
    "渠道的上游账户刚刚失败，暂停调用[，{retry_after_s} 秒后可重试]",
    "The upstream accounts of the channels failed a moment ago: no call is made[; free again in {retry_after_s} s]",
  ),
  waiting: kind(
    "by_wait",
    "channels_paused",
    "渠道的上游要求等待，暂停调用[，{retry_after_s} 秒后可重试]",
    "The upstreams of the channels asked to wait: no call is made[; free again in {retry_after_s} s]",
  ),
  unaffordable: kind(
    "caller",
    "upstream_error",
    "上游账户余额不足以支付此请求的输出上限[（状态码 {status}）]",
    "The upstream account cannot pay for as much output as the request allows[ (status {status})]",
  ),
  rate_limited: kind(
    "by_wait",
    "upstream_error",
    "上游限流[（状态码 {status}）][，{retry_after_s} 秒后可重试][：{detail}]",
    "The upstream limits the rate[ (status {status})][; free again in {retry_after_s} s][: {detail}]",
  ),
  quota_exhausted: kind(
    "account",
    "upstream_error",
    "渠道的上游账户余额不足[（状态码 {status}）]",
    "The channel's upstream account has no balance[ (status {status})]",
  ),
  bad_credentials: kind(
    "account",
    "upstream_error",
    "上游不接受渠道的密钥[（状态码 {status}）]",
    "The upstream does not accept the channel's key[ (status {status})]",
  ),
  forbidden: kind(
    "account",
    "upstream_error",
    "上游拒绝访问[（状态码 {status}）]",
    "The upstream forbids it[ (status {status})]",
  ),
  model_missing: kind(
    "account",
    "upstream_error",
    "上游没有该模型[（状态码 {status}）][：{detail}]",
    "The upstream does not have the model[ (status {status})][: {detail}]",
  ),
  overloaded: kind(
    "transient",
    "upstream_error",
    "上游过载[（状态码 {status}）][：{detail}]",
    "The upstream is overloaded[ (status {status})][: {detail}]",
  ),
  server_error: kind(
    "transient",
    "upstream_error",
    "上游出错[（状态码 {status}）][：{detail}]",
    "The upstream failed[ (status {status})][: {detail}]",
  ),
  timeout: kind("transient", "upstream_timeout", "上游超时[（{phase}）]", "The upstream timed out[ ({phase})]"),
  malformed: kind(
    "transient",
    "upstream_malformed",
    "上游返回了无法解析的内容[（状态码 {status}）]",
    "The upstream answered something that cannot be read[ (status {status})]",
  ),
  unreachable: kind("transient", "upstream_unreachable", "无法连接上游", "The upstream cannot be reached"),
  cut: kind("transient", "upstream_cut", "上游连接中断", "The upstream closed the connection early"),
} as const satisfies Record<string, FailureFact>;

export type FailureKind = keyof typeof FAILURES;

/** The class of a failure; `retry_after_s`: seconds that its upstream asked to wait, undefined where it named none. */
export function failureClass(name: FailureKind, retry_after_s: number | undefined): FailureClass {
  const { class: cls } = FAILURES[name];
  if (cls !== "by_wait") return cls;
  return retry_after_s === undefined ? "transient" : "named_wait";
}

/** Whether the fault is the request's own, whatever channel takes it. */
export const isCallers = (name: FailureKind): boolean => FAILURES[name].class === "caller";

/** How a kind is stored in the log's `code`; no error and no event begins so. */
export const failureCode = (name: FailureKind): `failure.${FailureKind}` => `failure.${name}`;
