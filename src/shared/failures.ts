/**
 * What can go wrong with an upstream: one kind for each cause that the relay treats, or a caller is told, differently.
 * The rules of each kind are in protocol/upstream-failure.ts; here is how it reads in the log. An operator reads the
 * cause; the call's owner reads what the caller was told (`told`), or the upstream's own text where that may be quoted.
 */
import type { ErrorCode } from "./errors";
import type { Text } from "./text";

interface FailureFact extends Text {
  /** The error that the caller received, where the upstream's text was not quoted. */
  readonly told: ErrorCode;
}

const kind = (told: ErrorCode, zh: string, en: string): FailureFact => ({ told, zh, en });

export const FAILURES = {
  caller_mistake: kind(
    "upstream_error",
    "上游认为请求无效[（状态码 {status}）][：{detail}]",
    "The upstream calls the request invalid[ (status {status})][: {detail}]",
  ),
  limited: kind("rate_limited_channels", "可用渠道均已达到自身限额", "Every channel has reached its own limit"),
  rate_limited: kind(
    "upstream_error",
    "上游限流[（状态码 {status}）][，{retry_after_s} 秒后可重试]",
    "The upstream limits the rate[ (status {status})][; free again in {retry_after_s} s]",
  ),
  quota_exhausted: kind(
    "upstream_error",
    "渠道的上游账户余额不足[（状态码 {status}）]",
    "The channel's upstream account has no balance[ (status {status})]",
  ),
  bad_credentials: kind(
    "upstream_error",
    "上游不接受渠道的密钥[（状态码 {status}）]",
    "The upstream does not accept the channel's key[ (status {status})]",
  ),
  forbidden: kind("upstream_error", "上游拒绝访问[（状态码 {status}）]", "The upstream forbids it[ (status {status})]"),
  model_missing: kind(
    "upstream_error",
    "上游没有该模型[（状态码 {status}）][：{detail}]",
    "The upstream does not have the model[ (status {status})][: {detail}]",
  ),
  overloaded: kind(
    "upstream_error",
    "上游过载[（状态码 {status}）][：{detail}]",
    "The upstream is overloaded[ (status {status})][: {detail}]",
  ),
  server_error: kind(
    "upstream_error",
    "上游出错[（状态码 {status}）][：{detail}]",
    "The upstream failed[ (status {status})][: {detail}]",
  ),
  timeout: kind("upstream_timeout", "上游超时[（{phase}）]", "The upstream timed out[ ({phase})]"),
  malformed: kind(
    "upstream_malformed",
    "上游返回了无法解析的内容[（状态码 {status}）]",
    "The upstream answered something that cannot be read[ (status {status})]",
  ),
  unreachable: kind("upstream_unreachable", "无法连接上游", "The upstream cannot be reached"),
  cut: kind("upstream_cut", "上游连接中断", "The upstream closed the connection early"),
} as const satisfies Record<string, FailureFact>;

export type FailureKind = keyof typeof FAILURES;

/** How a kind is stored in the log's `code`; no error and no event begins so. */
export const failureCode = (name: FailureKind): `failure.${FailureKind}` => `failure.${name}`;
